import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { installClients } from "../../test/clients/install.mjs";
import { dressClaude, runClient, setStage } from "../../test/clients/play.ts";
import { answerFirstQuestions, inTerminal } from "../../test/clients/typed.ts";
import { root } from "../setup.mjs";

const first = "Do the tests pass?";
const second = "Run the tests before I push, please";
const last = "All 14 tests pass; you can push.";

/** A service whose tests need a database that somebody has to start. */
const files = {
  "package.json": JSON.stringify({
    name: "harbor-api",
    private: true,
    scripts: { test: "node test.mjs", "db:start": "node db.mjs" },
  }),
  "db.mjs": `import { writeFileSync } from "node:fs";
writeFileSync(".database", "");
console.log("database: ready on port 5433");
`,
  "test.mjs": `import { existsSync } from "node:fs";
if (!existsSync(".database")) {
  console.error("Error: connect ECONNREFUSED 127.0.0.1:5433");
  process.exit(1);
}
console.log("14 tests passed");
`,
};

const says = (text) => ({ text });
const bash = (command, description) => ({ tool: "Bash", input: { command, description } });

/** What the model does, by what the person opens with: it finds out what the tests need, and later is told. */
const script = {
  turns: [[says("Nothing is scripted for that.")]],
  branches: [
    {
      says: first,
      turns: [
        [says("I look around first."), bash("ls", "List the files")],
        [says("Now the tests."), bash("npm test", "Run the tests")],
        [says("They need something on port 5433."), bash("cat test.mjs", "Read the tests")],
        [says("That is the database."), bash("cat package.json", "List the scripts")],
        [says("There is a script for it."), bash("npm run db:start", "Start the database")],
        [says("Once more."), bash("npm test", "Run the tests")],
        [says("They do, when the database runs.")],
      ],
    },
    {
      says: second,
      turns: [
        [bash("npm test", "Run the tests")],
        [
          says("The database is not running; it has to be started first."),
          bash("npm run db:start && npm test", "Start the database, run the tests"),
        ],
        [says(last)],
      ],
    },
  ],
};

/**
 * The screen of a person whose Claude Code meets a failure that an earlier session overcame: from the prompt to the
 * last word. Claude Code is the published one, and only the model is scripted.
 */
export async function liveScreen(columns) {
  const { claude } = await installClients();
  const stage = await setStage({ script, projectName: "harbor-api", setup: furnish });
  try {
    const env = await dressClaude(stage, false);
    const around = { cwd: stage.project, env };
    installKnack(around);
    await runClient(claude, ["-p", first, "--allowedTools", "Bash"], { ...around, seconds: 60 });
    await settled(join(stage.home, ".knack"));
    // The next day, say.
    rmSync(join(stage.project, ".database"));
    await answerFirstQuestions(join(stage.home, ".claude"), stage.project, env.ANTHROPIC_API_KEY);
    // Without --verbose commands are folded away.
    const command = [claude, "--verbose", "--permission-mode", "default", "--allowedTools", "Bash"];
    let screen = "";
    await inTerminal(
      { socket: join(stage.root, "tmux"), ...around, command, size: [columns, 50], slowly: true },
      async (terminal) => {
        await terminal.sees("❯");
        await pause(1000);
        await terminal.says(second);
        await terminal.sees(last);
        screen = await terminal.painted();
        await terminal.says("/exit");
        await pause(1500);
      },
    );
    await settled(join(stage.home, ".knack"));
    return conversationIn(screen.replaceAll(stage.home, "~"));
  } finally {
    await stage.dispose();
  }
}

function furnish(project) {
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, ".git/HEAD"), "ref: refs/heads/main\n");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
}

function installKnack(around) {
  const words = [join(root, "dist/cli.js"), "install", "claude"];
  const { status, stderr } = spawnSync(process.execPath, words, { ...around, encoding: "utf8" });
  if (status !== 0) throw new Error(`knack install ended with ${status}: ${stderr}`);
}

/** Waits until no worker has anything left to do. */
async function settled(home) {
  const isBusy = () =>
    existsSync(join(home, "worker.json")) ||
    !existsSync(join(home, "log/worker.json")) ||
    readdirSync(join(home, "spool")).some((name) => name.endsWith(".json"));
  for (let tries = 0; isBusy(); tries++) {
    if (tries > 300) throw new Error("the worker does not come to an end");
    await pause(100);
  }
  // A worker that has taken down its sign still writes how it fared.
  await pause(500);
}

/** The lines from what the person typed to the agent's last word, without the greeting before and the prompt after. */
function conversationIn(screen) {
  const lines = screen.split("\n");
  const from = lines.findIndex((line) => line.includes(second));
  const to = lines.findIndex((line) => line.includes(last));
  return lines.slice(from, to + 1).join("\n");
}
