// An agent of your own with Knack: its tool calls are recorded, and what one session found out helps the next.
//   node examples/wrap-an-agent.mjs
// It works in a temporary folder and leaves nothing behind. With KNACK_HOME set, what it learns stays there.
import { exec } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openKnack } from "knack-cli";

async function main() {
  const folder = await mkdtemp(join(tmpdir(), "knack-example-"));
  const project = join(folder, "harbor-api");
  // An agent of yours calls openKnack() and no more; this one must not read the sessions of whoever tries it.
  const knack = await openKnack({ env: { HOME: folder, KNACK_HOME: process.env.KNACK_HOME } });
  try {
    await furnish(project);
    for (const session of ["First session", "Second session"]) {
      console.log(`${session}:`);
      const calls = await work(knack, project);
      const { lessons } = await knack.learn();
      console.log(`  done after ${calls} calls; lessons known now: ${lessons.length}`);
      await rm(join(project, "database")); // somebody stops it
    }
  } finally {
    await knack.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The agent: it wants the tests to pass. What a model would think of is a list of things to try. */
async function work(knack, cwd) {
  const recorder = knack.recorder({ cwd });
  await recorder.recordPrompt("Make the tests pass.");
  const tools = toolsOf(recorder, cwd);
  let calls = 0;
  const use = (tool, input) => {
    calls++;
    return tools[tool](input);
  };
  await use("list", { path: "." });
  await use("read", { path: "README.md" });
  let ideas = null;
  for (let command = "node test.mjs"; command !== undefined; command = ideas.shift()) {
    try {
      await use("shell", { command });
      console.log(`  ${command}  works`);
      await recorder.recordReply(`The tests pass: ${command}`);
      return calls;
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      console.log(`  ${command}  fails: ${error.output.split("\n")[0]}`);
      // The moment at which it helps: ask what worked before, and try that first. A model is given the lesson.
      const { output, exitCode } = error;
      const [known] = await knack.recall({ command, output, exitCode }, cwd);
      console.log(known ? `  Knack knows: ${known.lesson}` : "  Knack knows nothing about that");
      ideas ??= known?.worked ? [known.worked] : await ideasFrom(use);
    }
  }
  throw new Error("the agent has no idea left");
}

/** What to try when nothing is known: each script of the project, and then the tests again. */
async function ideasFrom(use) {
  const scripts = await use("list", { path: "scripts" });
  for (const name of scripts) await use("read", { path: `scripts/${name}` });
  return scripts.map((name) => `node scripts/${name} && node test.mjs`);
}

/** The agent's tools. Each call is recorded with its end or its error; the tool answers and throws as before. */
function toolsOf(recorder, cwd) {
  return {
    list: recorder.wrap("list", async ({ path }) => (await readdir(join(cwd, path))).sort()),
    read: recorder.wrap("read", ({ path }) => readFile(join(cwd, path), "utf8")),
    // A call with a `command` is taken for a shell's.
    shell: recorder.wrap("shell", async ({ command }) => {
      try {
        return (await promisify(exec)(command, { cwd })).stdout;
      } catch (error) {
        throw new CommandFailed(error.code, `${error.stderr}${error.stdout}`);
      }
    }),
  };
}

/** Says the exit code first, so that Knack knows it. */
class CommandFailed extends Error {
  constructor(exitCode, output) {
    super(`Exit code ${exitCode}\n${output}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

/** A project whose tests need a database that one of its scripts starts. */
async function furnish(folder) {
  await mkdir(join(folder, "scripts"), { recursive: true });
  const files = {
    "README.md": "The tests are in test.mjs.\n",
    "test.mjs": `import { existsSync } from "node:fs";
if (existsSync("database")) console.log("14 tests passed");
else {
  console.error("Error: connect ECONNREFUSED 127.0.0.1:5433");
  process.exit(1);
}
`,
    "scripts/build.mjs": 'console.log("built");\n',
    "scripts/lint.mjs": 'console.log("no problems");\n',
    "scripts/start-db.mjs": 'import { writeFileSync } from "node:fs";\nwriteFileSync("database", "");\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

await main();
