import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveHome } from "../src/settings/home.ts";
import { writeNote } from "../src/spool/spool.ts";
import { claudeLines } from "../test/helpers/claude.ts";
import { prose, seeded } from "../test/helpers/history.ts";
import { aLibrary } from "./library.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";
import { writeRepeats } from "./repeats.ts";

const session = "5f0c1a52-0000-4000-8000-000000000001";
const cli = join(root, "dist/cli.js");
const rounds = 5;
const bar = 1;

/** What the worker takes after one more turn, in processor time: in long sessions, and beside large libraries. */
export async function turns(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const events of [1_000, 10_000, 100_000])
    figures.push(await afterTurn(`a turn in a session of ${events} events`, { events, skills: 20 }));
  for (const skills of [200, 2_000, 20_000])
    figures.push(await afterTurn(`a turn beside a library of ${skills} skills`, { events: 500, skills }));
  const published = { events: 500, skills: 20_000, publishes: true };
  figures.push(await afterTurn("a turn beside 20000 skills, where Knack has published something", published));
  return figures;
}

interface Past {
  readonly events: number;
  readonly skills: number;
  /** Knack itself has written something, which it watches from then on. */
  readonly publishes?: boolean;
}

async function afterTurn(what: string, past: Past): Promise<Figure> {
  return inTempFolder(async (made) => {
    const folder = realpathSync(made);
    const env = { PATH: process.env.PATH, HOME: folder, KNACK_HOME: join(folder, ".knack") };
    const project = join(folder, "app");
    mkdirSync(join(project, ".git"), { recursive: true });
    const transcript = join(folder, ".claude/projects/-app", `${session}.jsonl`);
    mkdirSync(dirname(transcript), { recursive: true });
    writeSkills(join(folder, ".claude/skills"), past.skills);
    const next = createTurns(project);
    for (let events = 0; events < past.events; ) {
      const records = Array.from({ length: 100 }, next).flat();
      appendFileSync(transcript, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
      events += eventsPerTurn * 100;
    }
    const work = () => {
      writeNote(resolveHome(env).spool, {
        ...{ type: "place", session, transcript, cwd: project, event: "Stop", at: Date.now() },
      });
      return run(env);
    };
    const first = await work();
    if (past.publishes) publish(project, env);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      appendFileSync(
        transcript,
        next()
          .map((record) => `${JSON.stringify(record)}\n`)
          .join(""),
      );
      times.push(await work());
    }
    const seconds = times.map((one) => one.toFixed(2)).join(", ");
    console.log(`  ${what}: the first time ${first.toFixed(1)} s, then ${seconds} s`);
    return atMost(what, median(times), bar, " s of processor time");
  });
}

/** Has Knack write a rule, by a lesson of earlier sessions that a person keeps. */
function publish(cwd: string, env: NodeJS.ProcessEnv): void {
  writeRepeats(join(dirname(cwd), ".claude/projects/-home-dev-app"), 12);
  const knack = (...args: string[]) =>
    spawnSync(process.execPath, [cli, ...args], { cwd, env, encoding: "utf8" });
  knack("learn", "--json");
  const { lessons } = JSON.parse(knack("lessons", "--status", "active", "--json").stdout);
  const { status, stderr } = knack("lessons", "keep", lessons[0].id, "--where", "everywhere");
  if (status !== 0) throw new Error(`Nothing was published: ${stderr}`);
}

const eventsPerTurn = 8;

/** Turns as they are in life: a wish, a failure every now and then, its cure, edits, and words in between. */
function createTurns(cwd: string): () => object[] {
  const { user, says, runs, calls, result } = claudeLines(session, cwd);
  const random = seeded(7);
  let turn = 0;
  return () => {
    const n = turn++;
    const part = `part-${n % 40}`;
    const [a, b, c, d] = ["a", "b", "c", "d"].map((letter) => `toolu_${n}${letter}`) as [
      string,
      string,
      string,
      string,
    ];
    const file = join(cwd, `src/${part}.ts`);
    const edit = {
      file_path: file,
      old_string: `const a = ${n};`,
      new_string: `const b = ${n};\n${prose(random, 200)}`,
    };
    const failed = n % 4 === 0;
    const output = failed ? failures[n % failures.length] : prose(random, 600);
    const command = `npm test -- ${part}`;
    return [
      user(
        n % 9 === 5
          ? `no, use the ${part} of the store instead`
          : `Please see to ${part}: ${prose(random, 90)}`,
      ),
      says(prose(random, 200)),
      calls(a, "Read", { file_path: file }),
      result(a, prose(random, 900)),
      runs(b, command),
      result(b, failed ? `Exit code 1\n${output}` : output, failed ? { error: true } : {}),
      calls(c, "Edit", edit),
      result(c, `The file ${file} has been updated.`),
      runs(d, failed ? (n % 8 === 0 ? `npm install && ${command}` : command) : `git commit -am "${part}"`),
      result(d, prose(random, 300)),
      says(prose(random, 150)),
      user(n % 2 === 0 ? "thanks" : `and now ${prose(random, 40)}`),
    ];
  };
}

const failures = [
  "Error: Cannot find module 'left-pad'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)",
  "src/index.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  "AssertionError: expected 3 to equal 4\n    at test/part.test.ts:14:3",
];

function writeSkills(folder: string, count: number): void {
  for (const { entry } of aLibrary().skills.slice(0, count)) {
    const name = entry.id
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 60)
      .replace(/^-+|-+$/g, "");
    mkdirSync(join(folder, name), { recursive: true });
    const description = JSON.stringify(entry.description.slice(0, 1_000).replace(/[<>]/g, ""));
    const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n${entry.body}\n`;
    writeFileSync(join(folder, name, "SKILL.md"), text);
  }
}

/** Seconds of processor time that a worker takes. */
function run(env: NodeJS.ProcessEnv): Promise<number> {
  const tellCpu = join(dirname(fileURLToPath(import.meta.url)), "tell-cpu.mjs");
  return new Promise((done) => {
    const child = spawn(process.execPath, ["--import", tellCpu, cli, "work"], {
      env,
      stdio: ["ignore", "ignore", "inherit", "pipe"],
    });
    let told = "";
    child.stdio[3]?.on("data", (text) => {
      told += text;
    });
    child.on("close", () => done(Number(told)));
  });
}
