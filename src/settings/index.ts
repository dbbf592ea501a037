export {
  currentFolder,
  type Home,
  isBelowHome,
  isDisabled,
  isSilent,
  isWithin,
  projectConfig,
  resolveHome,
  userHome,
} from "./home.ts";
export { type ModelChoice, modelChoice } from "./model-choice.ts";
export {
  findBrokenSettings,
  type ModelSettings,
  modelSettings,
  readSettingsFile,
  recallSettings,
  resolveSettings,
  reviewSettings,
  type SettingKey,
  settingKeys,
  unknownKey,
  whyNotLearn,
  writeSetting,
} from "./settings.ts";
