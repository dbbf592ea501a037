export { agents, claudeHome, createAgentFolders, createSessionFilter, findSessionFolders } from "./agents.ts";
export { findCallingSession, readLatestModel } from "./calling-session.ts";
export { type InstallPlan, openInstaller } from "./claude-install.ts";
export { type Program, pluginSkills, serversFile } from "./claude-plugin.ts";
export { createRootFinder } from "./item-roots.ts";
