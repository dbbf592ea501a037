export {
  currentFolder,
  type Env,
  type Home,
  isBelowHome,
  isDisabled,
  isSilent,
  isWithin,
  projectConfig,
  resolveHome,
  userHome,
} from "./home.ts";
export { describeIgnored, readRepositoryWish } from "./repository.ts";
export {
  findBrokenSettings,
  type JudgeAgent,
  type JudgeChoice,
  judgeAgents,
  judgeForms,
  parseJudge,
  parseKey,
  readSettingsFile,
  recallSettings,
  resolveSettings,
  type Settings,
  settingKeys,
  whyNotLearn,
  writeSetting,
} from "./settings.ts";
