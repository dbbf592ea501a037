import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { programForAnybody, unprivileged } from "../helpers/anybody.ts";
import { knackHere } from "../helpers/here.ts";
import { filesBesideStore } from "../helpers/hook.ts";
import { failIn, fails, fire, type Left, leave, teaching, works } from "../helpers/hooked.ts";
import { edit, type Installed, type InstallOptions, installed } from "../helpers/installed.ts";
import { cli, knack, type Ran, root } from "../helpers/knack.ts";
import { failed, hour, minute, ran, replied } from "../helpers/lived.ts";
import { filesIn } from "../helpers/machine.ts";
import { removeFolder, sharedFolder, tempFolder } from "../helpers/temp.ts";

interface Told {
  readonly code: number | null;
  readonly ok: boolean;
  readonly checks: Record<string, { ok: boolean; says: string; repair: string | null }>;
  readonly wrong: string[];
  readonly fixed: string[];
  readonly would?: string[];
  readonly stderr: string;
}

async function doctor(home: string, ...words: string[]): Promise<Told> {
  return toldBy(await knackHere(["doctor", "--json", ...words], { home, cwd: home }));
}

/** The doctor in a process of its own, which holds no database open when every byte is looked at. */
async function doctorAlone(home: string, ...words: string[]): Promise<Told> {
  return toldBy(await knack(["doctor", "--json", ...words], { home, cwd: home }));
}

function toldBy({ code, stdout, stderr }: Ran): Told {
  const { checks, ...rest } = JSON.parse(stdout) as Omit<Told, "checks"> & {
    checks: ({ name: string } & Told["checks"][string])[];
  };
  const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return { ...rest, code, stderr, wrong, checks: Object.fromEntries(checks.map((one) => [one.name, one])) };
}

/** Sets a file back in time, as if it had been written then. */
function age(path: string, ms: number): void {
  const then = (Date.now() - ms) / 1_000;
  utimesSync(path, then, then);
}

describe("Knack in Claude Code, to the doctor,", () => {
  interface Home extends Installed {
    readonly home: string;
  }

  function at(options: InstallOptions = {}): Home {
    const home = tempFolder();
    return { home, ...installed(home, options) };
  }

  test("is whole", async () => {
    const { home } = at();
    const { code, ok, checks } = await doctor(home);
    expect([code, ok]).toEqual([0, true]);
    expect(checks.plugin?.says).toContain(".knack/agents/claude, in ~/.claude/settings.json");
    expect(checks.program?.says).toContain("was started by its hook");
    expect(checks.installs?.says).toBe("one, for every project");
    expect(checks.fired?.says).toContain("no session has begun since the install");
    expect(readdirSync(join(home, ".knack"))).toEqual(["agents"]);
  });

  test.each<[string, object | null, { ok: boolean; says: RegExp }]>([
    [
      "that answers",
      { command: process.execPath, args: [cli, "mcp"] },
      { ok: true, says: /^answers with 11 tools$/ },
    ],
    [
      "that ends at once",
      { command: process.execPath, args: ["-e", 'console.error("no such program"); process.exit(3)'] },
      { ok: false, says: /^it does not answer: no such program$/ },
    ],
    ["that is gone", { command: "/nowhere/node", args: [] }, { ok: false, says: /ENOENT/ }],
    ["that an earlier version did not have", null, { ok: true, says: /has no tools for agents/ }],
  ])("has a server %s", async (_, server, { ok, says }) => {
    const { home, folder } = at();
    if (server !== null)
      writeFileSync(join(folder, "knack/.mcp.json"), JSON.stringify({ mcpServers: { knack: server } }));
    const { checks } = await doctor(home);
    expect(checks.server).toMatchObject({ ok, says: expect.stringMatching(says) });
    expect(readdirSync(join(home, ".knack"))).toEqual(["agents"]);
  });

  test("that is not there is no failure, and says how to have it", async () => {
    const home = tempFolder();
    mkdirSync(join(home, ".claude"));
    writeFileSync(join(home, ".claude/settings.json"), '{"model": "opus"}');
    const { code, checks } = await doctor(home);
    expect(code).toBe(0);
    for (const name of ["plugin", "program", "installs", "hooks", "server", "fired", "injected"])
      expect(checks[name]).toMatchObject({
        ok: true,
        says: "not installed in Claude Code",
        repair: "knack init",
      });
    const { stdout } = await knackHere(["doctor"], { home });
    expect(stdout.split("not installed in Claude Code")).toHaveLength(2);
  });

  test("that a person has switched off is no failure", async () => {
    const { home, settings } = at();
    edit(settings, (all) => ({ ...all, enabledPlugins: { "knack@knack": false } }));
    const { code, checks } = await doctor(home);
    expect(code).toBe(0);
    expect(checks.plugin).toMatchObject({ ok: true, says: "switched off in ~/.claude/settings.json" });
  });

  test("may be of two projects, each for itself", async () => {
    const home = tempFolder();
    const roots = ["one", "two"].map((name) => join(home, name));
    for (const project of roots) installed(home, { project });
    const noted = { settings: roots.map((root) => ({ root })) };
    writeFileSync(join(home, ".knack/agents/claude/installed.json"), JSON.stringify(noted));
    const { code, checks } = await doctor(home);
    expect([code, checks.installs?.says]).toEqual([0, "one, for 2 projects"]);
  });

  test("for every project and for one is told, and no failure: Claude Code loads it once", async () => {
    const { home } = at();
    installed(home, { project: join(home, "work") });
    const { code, checks } = await doctor(home);
    expect(code).toBe(0);
    expect(checks.installs).toMatchObject({
      says: "for every project, and again for ~/work; it runs once",
      repair: "knack uninstall claude --project, in ~/work",
    });
  });

  test("for one project answers for sessions in that project alone", async () => {
    const home = tempFolder();
    const work = join(home, "work");
    const { folder } = installed(home, { project: work });
    for (const name of ["installed.json", "paths.json"]) age(join(folder, name), 3 * hour);
    const unseen = { at: Date.now() - 2 * hour, steps: teaching };
    age(leave(home, { ...unseen, name: "elsewhere", cwd: join(home, "other") }).transcript, hour);
    expect((await doctor(home)).wrong).toEqual([]);
    age(leave(home, { ...unseen, name: "here", cwd: join(work, "src") }).transcript, hour);
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["fired"]);
    expect(checks.fired?.repair).toContain("trust the folder");
  });

  const install = "knack install claude";
  test.each<[string, string, (home: Home) => void, RegExp, string]>([
    [
      "moved away",
      "plugin",
      ({ folder }) => renameSync(folder, `${folder}-old`),
      /names ~\/\.knack\/agents\/claude, which does not exist/,
      install,
    ],
    [
      "without a hook",
      "plugin",
      ({ hooks }) => edit(hooks, ({ hooks: all }) => ({ hooks: { ...(all as object), Stop: undefined } })),
      /lacks a hook for Stop$/,
      install,
    ],
    [
      "without a command and its listing",
      "plugin",
      ({ folder }) => {
        rmSync(join(folder, "knack/commands/undo.md"));
        rmSync(join(folder, ".claude-plugin/marketplace.json"));
      },
      /lacks \.claude-plugin\/marketplace\.json, \/knack:undo$/,
      install,
    ],
    [
      "that no settings name",
      "plugin",
      ({ settings }) => writeFileSync(settings, "{}"),
      /half installed: it is in .*, but no settings enable it/,
      "knack install claude, or knack uninstall claude",
    ],
    [
      "without its place",
      "plugin",
      ({ settings }) => edit(settings, ({ enabledPlugins }) => ({ enabledPlugins })),
      /half installed: .* does not say where the plugin is/,
      install,
    ],
    [
      "of another home",
      "plugin",
      ({ settings, folder, home }) => {
        cpSync(folder, join(home, "other/agents/claude"), { recursive: true });
        edit(settings, (all) => ({
          ...all,
          extraKnownMarketplaces: {
            knack: { source: { source: "directory", path: join(home, "other/agents/claude") } },
          },
        }));
      },
      /names the plugin of another home, ~\/other\/agents\/claude/,
      install,
    ],
    [
      "in settings that cannot be read",
      "plugin",
      ({ settings }) => appendFileSync(settings, "}"),
      /cannot read .*settings\.json/,
      "fix the file, which Claude Code cannot read either",
    ],
    [
      "from two marketplaces",
      "installs",
      ({ settings }) =>
        edit(settings, (all) => ({
          ...all,
          enabledPlugins: { "knack@knack": true, "knack@other": true, "knack@off": false },
        })),
      /more than one: also as knack@other in ~\/\.claude\/settings\.json$/,
      'remove "knack@other" from enabledPlugins in ~/.claude/settings.json',
    ],
    [
      "with hooks beside it",
      "installs",
      ({ settings }) =>
        edit(settings, (all) => ({
          ...all,
          hooks: { Stop: [{ hooks: [{ type: "command", command: "node /opt/knack/dist/hook.cjs" }] }] },
        })),
      /more than one: also as hooks in/,
      "remove the hooks that name hook.cjs from ~/.claude/settings.json",
    ],
    [
      "with a copy among the skills",
      "installs",
      ({ home, folder }) =>
        cpSync(join(folder, "knack"), join(home, ".claude/skills/knack"), { recursive: true }),
      /more than one: also as a copy in ~\/\.claude\/skills\/knack/,
      "remove ~/.claude/skills/knack",
    ],
    [
      "where hooks are switched off",
      "hooks",
      ({ settings }) => edit(settings, (all) => ({ ...all, disableAllHooks: true })),
      /switched off in ~\/\.claude\/settings\.json \(disableAllHooks\)/,
      'remove "disableAllHooks" from ~/.claude/settings.json',
    ],
  ])("is wrong %s", async (_, name, breaks, says, repair) => {
    const home = at();
    breaks(home);
    const { code, checks, wrong } = await doctor(home.home);
    expect(wrong).toContain(name);
    expect(code).toBe(1);
    expect(checks[name]).toEqual({ name, ok: false, says: expect.stringMatching(says), repair });
  });

  /** A program of the person's own, in the place of node or of the hook. */
  function program(home: string, name: string, text: string): string {
    const path = join(home, name);
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  }

  test.each<[string, (home: string) => InstallOptions, RegExp]>([
    [
      "a node that is gone",
      (home) => {
        const node = join(home, "node");
        symlinkSync(process.execPath, node);
        rmSync(node);
        return { node };
      },
      /~\/node, the node it runs with, does not exist/,
    ],
    [
      "an old node",
      (home) => ({ node: program(home, "node", "#!/bin/sh\necho v16.3.0\n") }),
      /~\/node is Node 16\.3; Knack needs 20\.19 or newer/,
    ],
    [
      "a node that does not start",
      (home) => ({ node: program(home, "node", "#!/bin/sh\necho error: no such library >&2\nexit 127\n") }),
      /~\/node is not a node that runs: error: no such library/,
    ],
    [
      "a Knack that was moved",
      (home) => {
        const hook = join(home, "knack/hook.cjs");
        mkdirSync(join(home, "knack"));
        copyFileSync(join(root, "dist/hook.cjs"), hook);
        renameSync(join(home, "knack"), join(home, "moved"));
        return { hook, version: "0.0.7" };
      },
      /Knack 0\.0\.7 is gone: ~\/knack\/hook\.cjs does not exist/,
    ],
    [
      "a hook that is broken",
      (home) => ({ hook: program(home, "hook.cjs", "const = ;\n") }),
      /its hook does not run: SyntaxError/,
    ],
    [
      "a hook that does nothing",
      (home) => ({ hook: program(home, "hook.cjs", "") }),
      /its hook runs, but queues nothing/,
    ],
    ["another version", () => ({ version: "0.0.7" }), /it runs Knack 0\.0\.7 \(.*\), but this is \d/],
  ])("is wrong with %s", async (_, options, says) => {
    const home = tempFolder();
    installed(home, options(home));
    const { code, checks, wrong } = await doctor(home);
    expect({ code, wrong }).toEqual({ code: 1, wrong: ["program"] });
    expect(checks.program).toMatchObject({ says: expect.stringMatching(says), repair: install });
  });

  test("leaves nothing behind when its hook was started", async () => {
    const { home } = at();
    const temporary = tempFolder();
    await knackHere(["doctor"], { home, env: { TMPDIR: temporary } });
    expect(readdirSync(temporary)).toEqual([]);
  });
});

interface Lived {
  readonly home: string;
  readonly last: Left;
  readonly paths: Installed;
}

const shared = sharedFolder();
let told: Lived;
let untold: Lived;
beforeAll(async () => {
  told = await live(join(shared, "told"));
  untold = await live(join(shared, "untold"), { tells: false });
  for (const { home } of [told, untold]) renameSync(home, `${home}-kept`);
});

/** A home that was lived in once, laid out anew at the same place, which what is in it names. */
function livedIn(lived = told): Lived {
  onTestFinished(() => removeFolder(lived.home));
  cpSync(`${lived.home}-kept`, lived.home, { recursive: true, preserveTimestamps: true });
  return lived;
}

/** Lets Knack be in a home for three hours: a session taught something, and the next was told. */
async function live(home: string, { tells = true } = {}): Promise<Lived> {
  const paths = installed(home);
  for (const name of ["installed.json", "paths.json"]) age(join(paths.folder, name), 3 * hour);
  const first = leave(home, { name: "first", at: Date.now() - 2 * hour, steps: teaching });
  age(first.transcript, 100 * minute);
  fire(home, first, "SessionStart");
  const steps = [...Array.from({ length: 10 }, (_, n) => replied(`Part ${n}.`)), fails, works];
  const last = leave(home, { name: "last", at: Date.now() - 40 * minute, steps });
  // Who begins before anything is learned is told nothing.
  if (!tells) fire(home, last, "SessionStart");
  await knack(["work"], { home });
  if (tells)
    for (const told of [fire(home, last, "SessionStart"), failIn(home, last)]) {
      const { hookSpecificOutput } = JSON.parse(told);
      keepBooks(last, { type: "hook_additional_context", content: [hookSpecificOutput.additionalContext] });
    }
  age(last.transcript, 20 * minute);
  await knack(["work"], { home });
  return { home, last, paths };
}

/** A line as Claude Code writes them beside the conversation. */
function keepBooks({ transcript }: Left, attachment: object): void {
  appendFileSync(transcript, `${JSON.stringify({ type: "attachment", attachment })}\n`);
}

describe("the chain, to the doctor,", () => {
  test("holds, and looking at it changes nothing", async () => {
    const { home } = livedIn();
    const before = filesIn(home);
    const { code, wrong, checks } = await doctorAlone(home);
    expect({ code, wrong }).toEqual({ code: 0, wrong: [] });
    expect(checks.captured?.says).toBe("2 of 2 transcripts read");
    expect(checks.learned?.says).toBe("all 2 sessions that were read are searched for lessons");
    expect(checks.injected?.says).toBe("2 of the last 2 texts shown were found in their transcripts");
    expect(checks.snapshot?.says).toMatch(/^made (?:just now|\d minutes? ago), up to date$/);
    expect(filesIn(home)).toEqual(before);
    const order =
      "home settings database ledger history plugin program installs hooks server fired captured learned injected spool dead-letters worker hook.log upkeep changes published snapshot library judge reviews";
    expect(
      Object.keys(checks)
        .filter((name) => !["Claude Code", "Codex", "agents"].includes(name))
        .join(" "),
    ).toBe(order);
  });

  /** Everything that a hook or a worker leaves, as of long ago. */
  function silence({ home }: Lived, ms: number): void {
    for (const [folder, recursive] of [
      [join(home, ".knack/seen"), true],
      [join(home, ".knack/spool"), true],
    ] as const)
      for (const name of readdirSync(folder, { recursive, encoding: "utf8" })) age(join(folder, name), ms);
    edit(join(home, ".knack/log/worker.json"), (state) => ({ ...state, doneAt: Date.now() - ms }));
  }

  test("is broken where a session began and no hook fired", async () => {
    const lived = livedIn(untold);
    silence(lived, 25 * minute);
    const unseen = leave(lived.home, { name: "unseen", at: Date.now() - 14 * minute, steps: teaching });
    age(unseen.transcript, 11 * minute);
    const { code, wrong, checks } = await doctor(lived.home);
    expect({ code, wrong }).toEqual({ code: 1, wrong: ["fired", "captured"] });
    expect(checks.fired?.says).toMatch(/^last 25 minutes ago, but a transcript was written 11 minutes ago: /);
    expect(checks.captured?.says).toContain("1 since the install are not, the newest written 11 minutes ago");
  });

  test("is broken where no hook ever fired since the install", async () => {
    const home = tempFolder();
    const { folder } = installed(home);
    for (const name of ["installed.json", "paths.json"]) age(join(folder, name), 3 * hour);
    const unseen = leave(home, { name: "unseen", at: Date.now() - 2 * hour, steps: teaching });
    age(unseen.transcript, hour);
    const { code, wrong, checks } = await doctor(home);
    expect({ code, wrong }).toEqual({ code: 1, wrong: ["fired"] });
    expect(checks.fired?.says).toMatch(
      /^never yet, but a transcript was written 1 hour ago: .*unseen\.jsonl$/,
    );
    expect(checks.fired?.repair).toContain("knack install claude");
  });

  test.each<[string, number, number]>([
    ["a session from before the install", 4 * hour, 5 * minute],
    ["a long turn that goes on", 2 * hour, 0],
  ])("holds beside %s", async (_, began, written) => {
    const lived = livedIn(untold);
    silence(lived, 15 * minute);
    const beside = leave(lived.home, { name: "beside", at: Date.now() - began, steps: teaching });
    age(beside.transcript, written);
    const { wrong } = await doctor(lived.home);
    expect(wrong).toEqual([]);
  });

  test("is broken where a transcript grew and was not read; --fix reads it", async () => {
    const { home, last } = livedIn();
    keepBooks(last, { type: "date", date: "2026-11-15" });
    age(last.transcript, 15 * minute);
    expect((await doctor(home)).wrong).toEqual([]);
    const more = leave(tempFolder(), { name: "last", at: Date.now() - 16 * minute, steps: [works] });
    appendFileSync(last.transcript, readFileSync(more.transcript));
    age(last.transcript, 15 * minute);
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["captured"]);
    expect(checks.captured?.repair).toBe("knack learn");
    const mended = await doctor(home, "--fix");
    expect(mended).toMatchObject({ code: 0, wrong: [] });
    expect(mended.fixed).toEqual([
      expect.stringMatching(/^learn from the sessions since the install that were missed: 1 session/),
    ]);
  });

  test("is broken where what was read is not looked through; --fix looks", async () => {
    const { home } = livedIn();
    const read = leave(home, { name: "read", at: Date.now() - 30 * minute, steps: teaching });
    age(read.transcript, 25 * minute);
    await knackHere(["sessions"], { home });
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["learned"]);
    expect(checks.learned).toMatchObject({
      says: "1 of 3 sessions that were read are not searched for lessons yet",
      repair: "knack learn",
    });
    expect(await doctor(home, "--fix")).toMatchObject({ code: 0, wrong: [] });
  });

  test("is broken where a change was begun and not ended; --fix ends it", async () => {
    const { home } = livedIn();
    const path = join(home, ".knack/drafts/rl-begun");
    const change = {
      id: "c-begun",
      why: "create" as const,
      kind: "skill" as const,
      name: "rl-begun",
      path,
      root: join(home, ".knack"),
      reach: "draft" as const,
      origin: { kind: "lesson" as const, id: "i-none" },
      before: null,
      after: "0".repeat(64),
    };
    const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
    const common = { at: Date.now(), project: null, session: null, actor: "knack" as const };
    await store.transaction((tx) =>
      recordEntries(tx, [{ ...common, type: "change.intended", key: `change:${change.id}`, data: change }]),
    );
    await store.close();
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["changes"]);
    expect(checks.changes).toMatchObject({
      says: "1 change to files not finished, first rl-begun",
      repair: "knack doctor --fix",
    });
    expect(await doctor(home, "--fix")).toMatchObject({ code: 0, wrong: [] });
  });

  test("is broken where a kept rule is gone", async () => {
    const { home } = livedIn();
    await knackHere(["learn", "--yes", "--where", "everywhere"], { home });
    const { skills } = JSON.parse((await knackHere(["skills", "--json"], { home })).stdout);
    const [{ name, path }] = skills as [{ name: string; path: string }];
    expect((await doctor(home)).wrong).toEqual([]);
    rmSync(path);
    const { wrong, checks } = await doctor(home);
    expect(wrong).toContain("published");
    expect(checks.published?.says).toContain(`${name} is `);
    expect(checks.published?.repair).toBe(`knack skills reject ${name}`);
    await knackHere(["skills", "reject", name], { home });
    expect((await doctor(home)).wrong).toEqual([]);
  });

  test("is broken where the words of no telling are found", async () => {
    const { home, last } = livedIn();
    const lines = readFileSync(last.transcript, "utf8").split("\n");
    writeFileSync(
      last.transcript,
      lines.filter((line) => !line.includes("hook_additional_context")).join("\n"),
    );
    age(last.transcript, minute);
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["injected"]);
    expect(checks.injected?.says).toBe("0 of the last 2 texts shown were found in their transcripts");
    rmSync(last.transcript);
    expect((await doctor(home)).checks.injected?.says).toBe(
      "shown 2 times; their transcripts are gone, or do not say",
    );
  });
});

describe("the snapshot, to the doctor,", () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ["damaged in one byte", flip, /damaged: the table is damaged/],
    [
      "cut short",
      (path) => writeFileSync(path, readFileSync(path).subarray(0, 100)),
      /damaged: the table is (?:cut short|damaged)/,
    ],
    [
      "no table at all",
      (path) => writeFileSync(path, "{}"),
      /damaged: (?:this is no table|the table is cut short)/,
    ],
    ["gone", (path) => rmSync(path), /there is none, so agents are shown nothing/],
  ])("is wrong when it is %s; --fix makes it anew", async (_, breaks, says) => {
    const { home, last } = livedIn();
    const path = join(home, ".knack/snapshot/knack.table");
    breaks(path);
    const { code, wrong, checks } = await doctor(home);
    expect({ code, wrong }).toEqual({ code: 1, wrong: ["snapshot"] });
    expect(checks.snapshot).toMatchObject({
      says: expect.stringMatching(says),
      repair: "knack doctor --fix",
    });
    const mended = await doctor(home, "--fix");
    expect(mended).toMatchObject({ code: 0, wrong: [], fixed: ["rebuild the snapshot"] });
    expect(failIn(home, { ...last, session: "another" })).toContain("HARBOR_DB=local sh check.sh");
  });

  /** A letter of a text in the middle becomes another, so that all of it can still be parsed. */
  function flip(path: string): void {
    const bytes = readFileSync(path);
    const at = bytes.indexOf("HARBOR_DB=local");
    bytes[at] = "K".charCodeAt(0);
    writeFileSync(path, bytes);
  }

  test("is stale when a setting was changed by hand", async () => {
    const { home } = livedIn();
    writeFileSync(join(home, ".knack/config.json"), '{"show": false}');
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["snapshot"]);
    expect(checks.snapshot?.says).toMatch(/^made .*, out of date: the settings have changed since$/);
    expect(await doctor(home, "--fix")).toMatchObject({ code: 0, fixed: ["rebuild the snapshot"] });
  });

  test("is stale when something was learned since", async () => {
    const { home } = livedIn();
    const path = join(home, ".knack/snapshot/knack.table");
    const old = readFileSync(path);
    const steps = [failed("tide up", "error: tide: --harbor must be given"), ran("tide up --harbor=ems")];
    leave(home, { name: "newer", at: Date.now() - 5 * minute, steps });
    await knackHere(["learn"], { home });
    expect((await doctor(home)).wrong).toEqual([]);
    writeFileSync(path, old);
    expect((await doctor(home)).checks.snapshot?.says).toMatch(
      /out of date: something was learned or decided since/,
    );
    expect(await doctor(home, "--fix")).toMatchObject({ code: 0, wrong: [] });
  });

  test("that made a hook fail is found in its log, which --fix puts away", async () => {
    const { home, last } = livedIn();
    writeFileSync(join(home, ".knack/snapshot/knack.table"), "no table at all, but long enough to be read");
    expect(failIn(home, last)).toBe("");
    const { wrong, checks } = await doctor(home);
    expect(wrong).toEqual(["hook.log", "snapshot"]);
    expect(checks["hook.log"]?.says).toMatch(/^1 error, the last just now: Error: this is no table/);
    const { code, fixed } = await doctor(home, "--fix");
    expect([code, fixed]).toEqual([
      0,
      ["rebuild the snapshot", "move the hook's log to ~/.knack/log/hook.log.old"],
    ]);
  });
});

describe("the spool and the worker, to the doctor,", () => {
  /** A note as the hook leaves one at the end of a turn, without the worker that it calls. */
  function note({ home, last }: Lived, event: string, old: number, into = ""): string {
    const folder = join(home, ".knack/spool", into);
    const path = join(folder, `place-${last.session}.json`);
    mkdirSync(folder, { recursive: true });
    const place = { type: "place", ...last, cwd: "/home/dev/harbor", event, at: Date.now() - old };
    writeFileSync(path, JSON.stringify(place));
    age(path, old);
    return path;
  }

  test("are wrong when notes wait for nobody; --fix handles them", async () => {
    const lived = livedIn();
    note(lived, "SessionStart", 5 * hour);
    expect((await doctor(lived.home)).checks.spool).toMatchObject({
      ok: true,
      says: "1 note queued, the oldest from 5 hours ago",
    });
    const path = note(lived, "Stop", 20 * minute);
    const { wrong, checks } = await doctorAlone(lived.home);
    expect(wrong).toEqual(["spool"]);
    expect(checks.spool).toMatchObject({
      says: "1 note queued, the oldest from 20 minutes ago; no worker has processed 1 of them",
      repair: "knack doctor --fix",
    });
    const before = filesBesideStore(lived.home);
    const would = await doctorAlone(lived.home, "--fix", "--dry-run");
    expect(would).toMatchObject({ code: 1, fixed: [], would: ["run a worker on the queue"] });
    expect(filesBesideStore(lived.home)).toEqual(before);
    expect(await doctorAlone(lived.home, "--fix")).toMatchObject({
      code: 0,
      fixed: ["run a worker on the queue: 1 note"],
    });
    expect(existsSync(path)).toBe(false);
  });

  test("are wrong when notes pile up", async () => {
    const lived = livedIn();
    for (let n = 0; n < 1_000; n++)
      writeFileSync(
        join(lived.home, ".knack/spool", `place-s${n}.json`),
        JSON.stringify({
          type: "place",
          session: `s${n}`,
          transcript: "/nowhere.jsonl",
          cwd: null,
          event: "SessionStart",
          at: Date.now(),
        }),
      );
    expect((await doctor(lived.home)).checks.spool?.says).toMatch(
      /^1,000 notes queued, the oldest from .*; the queue grows$/,
    );
  });

  test("are wrong when notes were given up; --fix tries once more", async () => {
    const lived = livedIn();
    note(lived, "Stop", hour, "aside");
    const { wrong, checks } = await doctor(lived.home);
    expect(wrong).toEqual(["dead-letters"]);
    expect(checks["dead-letters"]?.says).toBe("1 note given up after 3 tries, or not readable");
    expect(await doctor(lived.home, "--fix")).toMatchObject({
      code: 0,
      wrong: [],
      fixed: ["queue 1 dead letter again", "run a worker on the queue: 1 note"],
    });
  });

  test("stay wrong when a note cannot be read", async () => {
    const { home } = livedIn();
    writeFileSync(join(home, ".knack/spool/place-half.json"), '{"type": "pla');
    await knackHere(["work"], { home });
    expect((await doctor(home, "--fix")).wrong).toEqual(["dead-letters"]);
    expect((await doctor(home)).checks["dead-letters"]?.repair).toContain(
      "may be deleted from ~/.knack/spool/aside",
    );
  });

  test("are wrong when the worker fails; --fix lets it try again", async () => {
    const lived = livedIn();
    note(lived, "Stop", 0);
    const config = join(lived.home, ".knack/config.json");
    writeFileSync(config, "{");
    expect((await knackHere(["work"], { home: lived.home })).code).toBe(2);
    rmSync(config);
    const { wrong, checks } = await doctor(lived.home);
    expect(wrong).toEqual(["worker"]);
    expect(checks.worker?.says).toMatch(/^failed 1 time, last just now \(The settings in .* cannot be read/);
    expect(await doctor(lived.home, "--fix")).toMatchObject({ code: 0, wrong: [] });
  });

  test.each([150, 300])("come right after a worker that was killed after %i ms", async (killAfter) => {
    const lived = livedIn();
    note(lived, "Stop", 20 * minute);
    await knack(["work"], { home: lived.home, killAfter });
    expect(await doctor(lived.home, "--fix")).toMatchObject({ code: 0, wrong: [] });
    expect(readdirSync(join(lived.home, ".knack/spool/taken"))).toEqual([]);
  });
});

describe("Knack's own place, to the doctor,", () => {
  test("may be read-only, and all else is still told", async () => {
    const { home } = livedIn();
    // Whoever looks must be able to see the installed program.
    await knack(["install", "claude"], { home, cli: join(programForAnybody(), "dist/cli.js") });
    const knackHome = join(home, ".knack");
    const all = readdirSync(home, { recursive: true, encoding: "utf8" }).map((name) => join(home, name));
    for (const path of [shared, home, ...all])
      chmodSync(path, path.endsWith(".jsonl") || !path.startsWith(knackHome) ? 0o755 : 0o555);
    const { code, stdout } = await knack(["doctor", "--fix", "--json"], {
      home,
      cwd: "/",
      ...unprivileged(),
    });
    const { checks, fixed } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(fixed).toEqual([]);
    expect(checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
      expect.objectContaining({ name: "home", repair: "set KNACK_HOME to a folder that you can write to" }),
    ]);
    expect(checks.map(({ says }: { says: string }) => says)).toContain("2 of 2 transcripts read");
  });

  test("that is damaged is told with all the rest", async () => {
    const { home } = livedIn();
    writeFileSync(join(home, ".knack/knack.db"), "not a database\n".repeat(500));
    const { code, wrong, checks, stderr } = await doctor(home, "--fix");
    expect([code, wrong[0]]).toEqual([3, "database"]);
    expect(checks.database?.repair).toContain("move knack.db and the files beside it");
    expect(checks.program?.ok).toBe(true);
    expect(stderr).toContain("knack.db is damaged");
  });

  test("whose rows drift is mended by --fix", async () => {
    const { home } = livedIn();
    const { default: Database } = await import("libsql");
    const raw = new Database(join(home, ".knack/knack.db"));
    raw.exec("update project set sessions = 99");
    raw.close();
    expect((await doctor(home)).wrong).toEqual(["ledger"]);
    expect(await doctor(home, "--fix", "--dry-run")).toMatchObject({
      code: 1,
      would: ["recompute what follows from the ledger"],
    });
    expect(await doctor(home, "--fix")).toMatchObject({
      code: 0,
      fixed: ["recompute what follows from the ledger: 1 row"],
    });
  });

  test("whose ledger lost an entry names it, and goes on by a person's word", async () => {
    const { home } = livedIn();
    const { default: Database } = await import("libsql");
    const raw = new Database(join(home, ".knack/knack.db"));
    raw.exec("drop trigger ledger_keeps; delete from ledger where n = 2");
    raw.close();
    const told = await doctor(home);
    expect([told.code, told.wrong]).toEqual([3, expect.arrayContaining(["history"])]);
    expect(told.checks.history?.says).toMatch(/^1 entry removed or replaced, between .* and .* UTC/);
    const rebuilt = await doctor(home, "--rebuild");
    expect(rebuilt.checks.ledger?.says).toMatch(
      /recomputed, from \d+ entries of .* not all that were written/,
    );
    expect((await doctor(home)).checks.history?.says).toBe(
      "every entry is as it was written; 1 fault that you accepted",
    );
  });

  test("whose ledger's head was removed says so, and goes on by a person's word", async () => {
    const { home } = livedIn();
    rmSync(join(home, ".knack/knack.db-head"));
    const told = await doctor(home);
    expect([told.code, told.wrong]).toEqual([3, expect.arrayContaining(["history"])]);
    expect(told.checks.history?.says).toMatch(
      /^knack\.db-head, which names the newest entry, was removed: whether entries after .* UTC are missing cannot be told$/,
    );
    await doctor(home, "--rebuild");
    expect((await doctor(home)).checks.history?.says).toMatch(/1 fault that you accepted$/);
  });

  test("is told in lines, with what to do below what is wrong", async () => {
    const { home, paths } = livedIn();
    rmSync(join(home, ".knack/snapshot/knack.table"));
    edit(paths.settings, (all) => ({ ...all, enabledPlugins: { "knack@knack": false } }));
    const { stdout } = await knackHere(["doctor"], { home, cwd: home });
    expect(stdout).toMatch(/^ok {5}home {10}/);
    expect(stdout).toMatch(/\n-- {5}plugin {8}switched off in .*\n {21}to have it: knack install claude\n/);
  });
});
