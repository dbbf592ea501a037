import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * A home with a week behind it: the bundled examples as the agents of a machine would have left them, one or two a day
 * until yesterday, a lesson that was kept, and a session of today in which the hook told it at the failure it is about.
 * Answers with a function that runs Knack there.
 */
export function furnishHome(root, home) {
  const cwd = join(home, "harbor-api");
  const env = { PATH: process.env.PATH, HOME: home, TZ: "UTC" };
  const run = (...words) =>
    execFileSync(process.execPath, [join(root, "dist/cli.js"), ...words], { cwd, env, encoding: "utf8" });
  const examples = join(root, "examples/sessions");
  const names = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort();
  for (const [at, name] of names.entries()) {
    const day = new Date(Date.now() - (1 + (at % 6)) * 86_400_000).toISOString().slice(0, 10);
    const isCodex = name.startsWith("codex");
    const file = join(home, isCodex ? ".codex/sessions" : ".claude/projects/harbor", basename(name));
    mkdirSync(dirname(file), { recursive: true });
    const text = readFileSync(join(examples, name), "utf8").replaceAll("/home/dev", home);
    writeFileSync(file, text.replace(/"\d{4}-\d\d-\d\d(T\d\d:\d\d)/g, `"${day}$1`));
  }
  execFileSync("git", ["init", "-q", cwd]);
  mkdirSync(join(home, "tidewatch"));
  run("learn", "--json");
  const { lessons } = JSON.parse(run("lessons", "--json"));
  const kept = lessons.find(({ sessions }) => sessions > 1) ?? lessons[0];
  run("lessons", "keep", kept.name, "--where", "me");
  const said = names.find((name) => name.endsWith("generated-again.jsonl"));
  if (said) meetAgain(root, { cwd, env, file: join(home, ".claude/projects/harbor", basename(said)) });
  // Takes in what the hook noted, and then what came of it.
  run("work");
  run("learn", "--json");
  return { run, kept, cwd, env };
}

/** A session of today that fails as an earlier one did: the hook sees it, and what helps comes next. */
function meetAgain(root, { cwd, env, file }) {
  const text = readFileSync(file, "utf8");
  const error = "DATABASE_URL is not set; copy .env.test to .env";
  const id = "7c1e9f04-5d2b-4e8a-9b63-0f2d4a6c8e11";
  const transcript = file.replace(/[^/]+$/, `${id}.jsonl`);
  const line = text.split("\n").find((one) => one.includes(error) && one.includes("tool_result")) ?? "";
  const failedAt = Date.parse(/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? "");
  const payload = {
    ...{ session_id: id, transcript_path: transcript, cwd, hook_event_name: "PostToolUseFailure" },
    ...{ tool_name: "Bash", tool_input: { command: "npm test" }, error: `Exit code 1\n${error}` },
  };
  const began = Date.now();
  spawnSync(process.execPath, [join(root, "dist/hook.cjs")], { env, input: JSON.stringify(payload) });
  // The hook tells it between the failure and what then helps, however long it takes.
  const ended = Date.now();
  const [own] = /"sessionId":"([^"]+)"/.exec(text)?.slice(1) ?? [];
  const again = text
    .replaceAll(own ?? id, id)
    .replace(/"(uuid|parentUuid|tool_use_id|id)":"([^"]+)"/g, '"$1":"$2-again"')
    .replace(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (_, at) =>
      JSON.stringify(
        new Date(Date.parse(at) - failedAt + (Date.parse(at) > failedAt ? ended : began)).toISOString(),
      ),
    )
    .replaceAll(
      "Rename pilotRequired to needsPilot everywhere.",
      "Show berths in metres, and keep the tests green.",
    );
  writeFileSync(transcript, again);
}
