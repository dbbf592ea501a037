export {
  type AgentId,
  agents,
  claudeHome,
  createAgentFolders,
  createSessionFilter,
  findAgent,
  findOpenCodeDatabase,
  findSessionFolders,
} from "./agents.ts";
export { findCallingSession, readLatestModel } from "./calling-session.ts";
export { abilities, describeLimits } from "./capabilities.ts";
export { serversFile } from "./install/claude.ts";
export { type InstallPlan, openInstaller } from "./install/installer.ts";
export { type Program, pluginSkills } from "./install/setup.ts";
export { setups } from "./install/setups.ts";
export { createRootFinder } from "./item-roots.ts";
