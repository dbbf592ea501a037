import type { InstallDeps } from "./agents/claude-install.ts";
import type { Program } from "./agents/claude-plugin.ts";
import { homeOf, userHome } from "./config.ts";
import { createLibrary } from "./library/index.ts";

/** What installing into agents needs, on the machine that this environment describes. */
export function installDeps(
  env: Readonly<Record<string, string | undefined>>,
  program: Program,
): InstallDeps {
  return { library: createLibrary(), home: userHome(env), env, knackHome: homeOf(env).folder, program };
}
