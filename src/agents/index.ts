export { createAgentFolders } from "./agent-folders.ts";
export { agents, claudeHome, createSessionFilter, findSessionFolders } from "./agents.ts";
export { findCallingSession, readLatestModel } from "./calling-session.ts";
export {
  findClaude,
  type InstallDeps,
  type InstallPlan,
  install,
  planInstall,
  planUninstall,
  uninstall,
} from "./claude-install.ts";
export { type Program, pluginSkills, serversFile } from "./claude-plugin.ts";
export type { InstallAction } from "./claude-settings.ts";
export { createRootFinder } from "./item-roots.ts";
