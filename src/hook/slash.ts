import { textOf } from "../core/json.ts";
import type { Call, Reply } from "./call.ts";
import { startProcess } from "./start-process.ts";

/** What Knack answers to a command that a person types within the agent; null for what is none of Knack's. */
export function atSlash({ payload, program, cwd, env }: Call): Reply | null {
  const typed = /^\/knack:([a-z]+)(?:\s+([\s\S]*))?$/.exec(
    (textOf(payload.prompt) ?? "").slice(0, 2_000).trim(),
  );
  if (!typed) return null;
  const [, name = "", words = ""] = typed;
  // No shell: a person's words stay what they are.
  const ran = startProcess().spawnSync(
    process.execPath,
    [program, "slash", name, ...(words === "" ? [] : [words.trim()])],
    {
      cwd: cwd ?? undefined,
      encoding: "utf8",
      timeout: 8_000,
      windowsHide: true,
      env,
    },
  );
  const said = [ran.stdout, ran.stderr].filter(Boolean).join("\n").trim();
  const answer =
    said || `nothing (${ran.error?.message ?? `exit ${ran.status}`}); knack doctor in a terminal says more`;
  return { context: `Knack's answer to /knack:${name}:\n${answer}` };
}
