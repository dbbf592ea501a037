import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { gatherDossier } from "../../src/authoring/reviews/dossier.ts";
import type { ReviewLimits } from "../../src/authoring/reviews/nudge.ts";
import { decideNudges } from "../../src/authoring/reviews/schedule.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { openKnack } from "../../src/open.ts";
import type { EntryOf, LedgerEntry } from "../../src/records/ledger.ts";
import type { Session } from "../../src/records/session.ts";
import type { NudgeDecided, ReviewWindow, Signal } from "../../src/records/writing.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { createRedactor } from "../../src/trust/redactor.ts";
import { claudeLines } from "../helpers/claude.ts";
import { knackHere } from "../helpers/here.ts";
import { tempFolder } from "../helpers/temp.ts";

const began = Date.UTC(2026, 10, 1, 9);
const idOf = (n: number) => `5f0c1a52-0000-4000-8000-${String(n).padStart(12, "0")}`;
type Lines = ReturnType<typeof claudeLines>;

/** A machine with a project and a skill, and a Knack on it, so long after the sessions that are there began. */
async function at(sinceMs = 86_400_000) {
  const home = tempFolder();
  const project = join(home, "harbor");
  mkdirSync(join(project, ".git"), { recursive: true });
  const skill = (name: string, text: string) =>
    put(
      join(project, `.claude/skills/${name}/SKILL.md`),
      `---\nname: ${name}\ndescription: About ${name}.\n---\n\n${text}\n`,
    );
  skill("check", "Run `npx docks verify --strict`.");
  const env = { HOME: home, KNACK_HOME: join(home, ".knack") };
  let now = began + sinceMs;
  const clock = { now: () => ++now };
  const later = (ms: number) => {
    now += ms;
  };
  const knack = await openKnack({ env, clock });
  onTestFinished(() => knack.close());
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock });
  onTestFinished(() => store.close());
  return {
    ...{ home, project, knack, store, clock, later, skill },
    lines: (n: number, cwd = project) => claudeLines(idOf(n), cwd),
    /** Leaves a session, or more of it, and lets Knack learn from it. */
    lives: async (n: number, ...records: readonly object[]) => {
      const path = join(home, ".claude/projects/-harbor", `${idOf(n)}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
      await knack.learn([path]);
      return path;
    },
    signals: async () => (await store.ledger.since("signal.given", 0)).map(({ data }) => data),
    present: (n: number, kind: "foreground" | "background" = "foreground") =>
      knack.resolveCaller({
        session: idOf(n),
        callId: null,
        turn: null,
        kind,
        cwd: project,
        format: "claude-code",
        model: null,
      }),
  };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const padded = (lines: Lines, count = 8) =>
  Array.from({ length: count }, (_, n) => lines.says(`Looking at part ${n} first.`));
const runs = ({ runs: call, result }: Lines, id: string, command: string, failure?: string) => [
  call(id, command),
  failure === undefined
    ? result(id, "fine", { toolUseResult: { stdout: "fine", stderr: "" } })
    : result(id, `Exit code 1\n${failure}`, { error: true, toolUseResult: `Error: Exit code 1\n${failure}` }),
];
/** A failure, and what then worked. */
const recovers = (lines: Lines, command = "sh check.sh") => [
  ...runs(lines, "f1", command, "error: HARBOR_DB is not set"),
  ...runs(lines, "w1", `HARBOR_DB=local ${command}`),
  lines.says("It passes with HARBOR_DB=local."),
];
const loads = ({ calls, result }: Lines, name: string) => [
  calls("s1", "Skill", { skill: name }),
  result("s1", `Launching skill: ${name}`),
];
const create: Signal = {
  kind: "create",
  nameHint: "rl-harbor-check",
  trigger: "recovered_surprise",
  deferred: "conversation_still_evolving",
  refs: ["e2", "e3"],
  summary: "The check needs HARBOR_DB.",
};

const learned = (project: string, invocation: string, refs: readonly string[]): LedgerEntry => ({
  at: began + 60_000,
  project,
  session: idOf(1),
  actor: "agent",
  type: "writing.finished",
  key: `finished:${invocation}`,
  data: {
    ...{ writing: "l1", invocation, action: "create", skill: "rl-x", status: "created" },
    ...{ summary: null, refs, file: "", changes: [], fault: null },
  },
});
const noted = (store: Store, ...entries: LedgerEntry[]) =>
  store.transaction((tx) => recordEntries(tx, entries));

describe("a signal by a call", () => {
  test("is noted once, with the turn, and without secrets", async () => {
    const { knack, lives, lines, present, signals, store } = await at();
    await lives(1, lines(1).user("Make the check pass"), ...recovers(lines(1)));
    const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const claim = { ...create, summary: `The check needs HARBOR_DB and ${secret}.` };
    const first = await knack.giveSignal(await present(1), claim);
    expect(first).toMatchObject({ ok: true, value: { refusal: null, invocation: `${idOf(1)}#1` } });
    expect(await knack.giveSignal(await present(1), claim)).toEqual(first);
    const all = (await signals()).filter(({ from }) => from === "agent");
    expect(all).toHaveLength(1);
    expect(JSON.stringify(all)).not.toContain(secret);
    // Also where what is kept ends in the middle of one.
    const cutting = (most: number) => `${"so ".repeat((most - 24) / 3)}${secret} ${"on ".repeat(1_000)}`;
    const headOf = (most: number) => Math.floor((most - 40) * 0.6);
    const code = cutting(100);
    await knack.giveSignal(await present(1), {
      ...{ ...create, trigger: code, summary: cutting(headOf(1_000)) },
    } as Signal);
    const { problems } = await knack.takeReply(await present(1), {
      learning_signal: { summary: cutting(headOf(500) - 12) },
      used_skill_receipts: [{ skill_name: code }],
    });
    expect(JSON.stringify(problems)).not.toContain(secret.slice(0, 8));
    expect(await signals()).toHaveLength(3);
    expect(JSON.stringify(await store.ledger.all())).not.toContain(secret.slice(0, 8));
    expect((await knack.check()).drift).toEqual([]);
  });

  test("that does not count is kept with its reason, and says what to do", async () => {
    const { knack, lives, lines, present, signals, store, project } = await at();
    const lived = lines(1);
    await lives(1, lived.user("Make the check pass"), ...recovers(lived));
    const refusalOf = async (claim: Signal) => {
      const answer = await knack.giveSignal(await present(1), claim);
      return answer.ok ? null : [answer.fault.code, ...answer.fault.details, answer.fault.next !== ""];
    };
    expect(await refusalOf({ ...create, refs: ["e2", "e99"] })).toEqual([
      "evidence_unresolved",
      "refs-unresolved",
      true,
    ]);
    expect(await refusalOf({ ...create, nameHint: "harbor" })).toEqual(["signal_refused", "no-prefix", true]);
    const update: Signal = {
      ...{ kind: "update", skill: "check", issue: "stale_command", deferred: "needs_existing_skill_diff" },
      ...{ effect: "verified_alternative", refs: ["e2", "e3"], hint: "It needs HARBOR_DB." },
    };
    expect(await refusalOf(create)).toBe(null);
    expect(await refusalOf(update)).toEqual(["signal_refused", "both-signals", true]);
    // What was refused in a turn makes nothing of a later one wrong.
    await lives(1, lived.user("And again"), lived.says("Yes."));
    expect(await refusalOf(update)).toBe(null);
    await noted(store, learned(project, `${idOf(1)}#2`, []));
    expect(await refusalOf({ ...update, hint: "Otherwise." })).toEqual([
      "signal_refused",
      "already-learned",
      true,
    ]);
    const own = (await signals()).filter(({ from }) => from === "agent");
    expect(own.map(({ refusal }) => refusal).sort()).toEqual(
      ["already-learned", "both-signals", "no-prefix", "refs-unresolved", null, null].sort(),
    );
    // Both kinds in the first turn, and something learned in the second: none is left.
    expect((await knack.reviews()).signals.counted).toBe(
      (await signals()).filter(({ from }) => from === "transcript").length,
    );
  });

  test("is judged by its turn, whatever the clock of the transcript says", async () => {
    const { knack, lives, lines, present, store, project, clock } = await at();
    const ahead = new Date(clock.now() + 7_200_000).toISOString();
    const records = [lines(1).user("Make the check pass"), ...recovers(lines(1))];
    await lives(1, ...records.map((record) => ({ ...record, timestamp: ahead })));
    const update: Signal = {
      ...{ kind: "update", skill: "check", issue: "stale_command", deferred: "needs_existing_skill_diff" },
      ...{ effect: "verified_alternative", refs: ["e2", "e3"], hint: "It needs HARBOR_DB." },
    };
    const give = async (claim: Signal) => {
      const answer = await knack.giveSignal(await present(1), claim);
      return answer.ok ? null : answer.fault.details[0];
    };
    expect(await give(create)).toBe(null);
    expect(await give(update)).toBe("both-signals");
    await noted(store, learned(project, `${idOf(1)}#1`, []));
    expect((await knack.giveSignal(await present(1), create)).ok).toBe(false);
  });

  test("is kept within bounds, and so is what is said of it", async () => {
    const { knack, lives, lines, present, signals } = await at();
    await lives(1, lines(1).user("Make the check pass"), ...recovers(lines(1)));
    const refs = Array.from({ length: 50 }, (_, n) => `e${n + 9_000}`);
    const lost = await knack.giveSignal(await present(1), { ...create, refs, summary: "y".repeat(100_000) });
    expect(lost.ok).toBe(false);
    // A long summary is no reason to refuse what counts.
    const long = await knack.giveSignal(await present(1), { ...create, summary: "y".repeat(100_000) });
    expect(long.ok).toBe(true);
    expect(JSON.stringify([lost, long, await signals()]).length).toBeLessThan(10_000);
  });

  test("is not taken of what works in the background, nor of nobody", async () => {
    const { knack, lives, lines, present, signals } = await at();
    await lives(1, lines(1).user("Look"), ...padded(lines(1)));
    for (const who of [await present(1, "background"), await present(7)]) {
      const answer = await knack.giveSignal(who, create);
      expect(answer).toMatchObject({ ok: false, fault: { code: "learning_unavailable" } });
    }
    expect(await signals()).toEqual([]);
  });
});

describe("an agent's structured reply", () => {
  const wire = {
    kind: "create_candidate",
    package_name_hint: "rl-harbor-check",
    trigger: "recovered_surprise",
    reason_not_written: "needs_full_context_review",
    event_refs: ["e2", "e3"],
    summary: "The check needs HARBOR_DB.",
  };

  test("gives receipts once for a turn, signals, and what is wrong with it", async () => {
    const { knack, lives, lines, present, project } = await at();
    put(
      join(project, ".claude/skills/rl-docks/SKILL.md"),
      "---\nname: rl-docks\ndescription: About docks.\nmetadata:\n  origin: knack\n---\n\nLook at the docks.\n",
    );
    await lives(1, lines(1).user("Make the check pass"), ...recovers(lines(1)));
    const reply = {
      used_skill_receipts: [{ skill_name: "rl-docks" }, { skill_name: "nobody" }],
      learning_signal: wire,
    };
    const first = await knack.takeReply(await present(1), reply);
    expect(first.receipts).toEqual(["Used learned skill: rl-docks"]);
    expect(first.signals).toMatchObject([{ from: "reply", refusal: null }]);
    expect(first.problems).toEqual([expect.stringContaining("nobody")]);
    expect((await knack.takeReply(await present(1), reply)).receipts).toEqual([]);
    expect(await knack.takeReply(await present(1), {})).toEqual({ receipts: [], signals: [], problems: [] });
    expect((await knack.takeReply(await present(1), "Done.")).problems).toHaveLength(1);
  });

  test("with both signals spoils its turn, also where one has no form", async () => {
    const { knack, lives, lines, present } = await at();
    const lived = lines(1);
    await lives(1, lived.user("Look"), ...padded(lived));
    const both = { learning_signal: wire, skill_issue_signal: { skill_name: "check" } };
    const refusals = async (reply: object) =>
      (await knack.takeReply(await present(1), reply)).signals.map(({ refusal }) => refusal);
    expect(await refusals(both)).toEqual(["both-signals", "both-signals"]);
    // What is told to count has to.
    expect(await refusals({ learning_signal: wire })).toEqual(["both-signals"]);
    await lives(1, lived.user("And now"), lived.says("Yes."));
    expect(await refusals({ learning_signal: wire, skill_issue_signal: "" })).toEqual([null]);
    await lives(1, lived.user("And again"), lived.says("Yes."));
    expect(await refusals({ learning_signal: wire })).toEqual([null]);
    expect((await knack.reviews()).signals.counted).toBe(1);
  });

  test("that has no form is kept all the same, and in the background nothing of it is", async () => {
    const { knack, lives, lines, present, signals } = await at();
    await lives(1, lines(1).user("Look"), ...padded(lines(1)));
    const formless = { learning_signal: { summary: "Something." } };
    const { signals: given } = await knack.takeReply(await present(1), formless);
    expect(given).toMatchObject([{ refusal: "no-form", signal: null, words: '{"summary":"Something."}' }]);
    const background = await knack.takeReply(await present(1, "background"), { learning_signal: wire });
    expect([background.signals.length, background.problems.length]).toEqual([0, 1]);
    expect(await signals()).toHaveLength(1);
  });

  test("is taken from a file by knack review take", async () => {
    const { home, lives, lines, signals, knack } = await at();
    await lives(1, lines(1).user("Make the check pass"), ...recovers(lines(1)));
    const file = join(home, "reply.json");
    writeFileSync(file, JSON.stringify({ learning_signal: wire }));
    const take = (...words: string[]) =>
      knackHere(["review", "take", file, "--session", idOf(1).slice(0, 36), "--json", ...words], { home });
    const ran = [await take("--dry-run"), await take()];
    writeFileSync(file, JSON.stringify({ learning_signal: { ...wire, trigger: "fun" } }));
    ran.push(await take());
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 1]);
    writeFileSync(file, "no JSON");
    expect(await take()).toMatchObject({ code: 2, stderr: expect.stringContaining("not valid JSON") });
    expect(await knackHere(["review", "take", file], { home })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--session"),
    });
    const [dry, first, second] = ran.map(({ stdout }) => JSON.parse(stdout));
    expect(dry).toMatchObject({ signals: [{ refusal: null }], problems: [], noted: false });
    expect(first).toMatchObject({ signals: [{ refusal: null }], problems: [], noted: true });
    expect(second).toMatchObject({ signals: [{ refusal: "no-form" }] });
    expect((await signals()).filter(({ from }) => from === "reply")).toHaveLength(2);
    expect((await knack.check()).drift).toEqual([]);
  });
});

describe("a signal of the transcript", () => {
  test("is none of what a subagent did", async () => {
    const { lives, lines, signals } = await at();
    const lived = lines(1);
    const aside = (one: object) => ({ ...one, isSidechain: true });
    await lives(1, lived.user("Make the check pass"), ...padded(lived), ...recovers(lived).map(aside));
    expect(await signals()).toEqual([]);
  });

  test("tells of a failure that was recovered from, once", async () => {
    const { knack, lives, lines, signals } = await at();
    const own = lines(1);
    const path = await lives(1, own.user("Make the check pass"), ...padded(own), ...recovers(own));
    const first = await signals();
    expect(first).toMatchObject([
      {
        from: "transcript",
        invocation: `${idOf(1)}#1`,
        refusal: null,
        signal: { kind: "create", trigger: "recovered_surprise", deferred: "needs_full_context_review" },
      },
    ]);
    const [{ signal } = { signal: null }] = first;
    expect(signal?.kind === "create" ? signal.nameHint : "").toMatch(/^rl-/);
    await knack.learn([path]);
    await knack.deriveSignals((await knack.sessions([path])).sessions);
    await lives(1, own.user("Thanks"), own.says("You are welcome."));
    expect(await signals()).toEqual(first);
    expect((await knack.check()).drift).toEqual([]);
    // What is kept afterwards is nothing to review any more, nor is what was taken back.
    expect((await knack.reviews()).signals.counted).toBe(1);
    const [lesson] = await knack.lessons();
    if (!lesson) throw new Error("nothing was learned");
    expect(await knack.keep(lesson, { reach: "me", actor: "person" })).toMatchObject({ kept: true });
    expect(await knack.reviews()).toMatchObject({ signals: { counted: 0 } });
    await knack.undo(null);
    expect(await knack.reviews()).toMatchObject({ signals: { counted: 0 } });
  });

  test("tells of a skill that told what failed", async () => {
    const { lives, lines, signals } = await at();
    const one = lines(1);
    await lives(
      1,
      one.user("Make the check pass"),
      ...loads(one, "check"),
      ...padded(one),
      ...recovers(one, "npx docks verify --strict"),
    );
    expect(await signals()).toMatchObject([
      {
        signal: { kind: "update", skill: "check", issue: "stale_command", effect: "retry_after_tool_error" },
      },
    ]);
  });

  test("is none where something was learned, said, kept or refused, nor of Knack's own work", async () => {
    const { home, knack, lives, lines, signals, store, project } = await at();
    const told = (n: number, cwd = project) => {
      const own = lines(n, cwd);
      return [own.user("Make the check pass"), ...padded(own), ...recovers(own, `sh check-${n}.sh`)];
    };
    await noted(store, learned(project, `${idOf(1)}#1`, []));
    await lives(1, ...told(1));
    await lives(2, ...told(2, join(home, ".knack/models/claude")));
    const off = join(home, "off");
    put(join(off, ".knack/config.json"), '{"learn": false}');
    mkdirSync(join(off, ".git"), { recursive: true });
    await lives(3, ...told(3, off));
    expect(await signals()).toEqual([]);
    await lives(4, ...told(4));
    expect(await signals()).toHaveLength(1);
    // A lesson that is written down needs nobody to write it.
    const instincts = await knack.lessons();
    expect(instincts).not.toEqual([]);
    for (const one of instincts)
      expect((await knack.keep(one, { reach: "me", actor: "person" })).kept).toBe(true);
    await lives(5, ...told(1).map((record) => ({ ...record, sessionId: idOf(5) })));
    expect(await signals()).toHaveLength(1);
  });

  test("is none of how Knack itself is used", async () => {
    const { knack, lives, lines, signals } = await at();
    const own = lines(1);
    const knacks = (n: number, tool: string, input: object, failure?: string) => [
      own.calls(`k${n}${tool}`, `mcp__plugin_knack_knack__${tool}`, input),
      own.result(`k${n}${tool}`, failure ?? "{}", { error: failure !== undefined }),
    ];
    const file = (n: number) => join("/w/.knack/staging", `l${n}/rl-${n}/SKILL.md`);
    const learns = (n: number) => [
      own.user(`Do part ${n}`),
      ...runs(own, `m${n}`, "make"),
      ...knacks(n, "event_expand", {}),
      ...knacks(n, "skill_learning_start", { skill_name: `rl-${n}` }),
      own.calls(`w${n}`, "Write", { file_path: file(n), content: "x" }),
      own.result(`w${n}`, "written"),
      ...knacks(
        n,
        "skill_learning_finish",
        { skill_name: `rl-${n}` },
        n % 2 ? "description too long" : undefined,
      ),
      own.says("Learned."),
    ];
    await lives(1, ...[1, 2, 3, 4, 5, 6].flatMap(learns));
    expect(await signals()).toEqual([]);
    const said = (await knack.lessons()).map(({ lesson }) => lesson).join("\n");
    expect(said).not.toMatch(/knack|skill_learning|staging/);
  });
});

describe("what a subagent says and learns by itself", () => {
  /** A session with a subagent that overcame something; both call Knack. */
  const withSubagent = async () => {
    const own = await at(60_000);
    const parent = own.lines(1);
    const path = await own.lives(1, parent.user("Make the check pass"), ...padded(parent));
    const below = join(path.replace(/\.jsonl$/, ""), "subagents/agent-a1.jsonl");
    const sub = own.lines(1);
    const records = [...recovers(sub), sub.calls("toolu_sub", "mcp__knack__skill_signal", {})];
    const aside = records.map((one) => JSON.stringify({ ...one, isSidechain: true, agentId: "a1" }));
    put(below, `${aside.join("\n")}\n`);
    const subagent = () =>
      own.knack.resolveCaller({
        ...{ session: idOf(1), callId: "toolu_sub", turn: null, kind: "foreground", cwd: own.project },
        ...{ format: "claude-code", model: null },
      });
    return { ...own, path, below, subagent };
  };
  const failedAndFixed = ["e1", "e2"];

  test("is a signal about its own events, and those are what a review is shown", async () => {
    const { knack, project, path, below, subagent, present } = await withSubagent();
    const signal = { ...create, refs: failedAndFixed };
    expect(await knack.giveSignal(await subagent(), signal)).toMatchObject({
      value: { refusal: null, invocation: `${idOf(1)}/a1#0`, file: below },
    });
    // The other one's words are another matter: of its own events, and of its own turn.
    const parents = { ...create, nameHint: "rl-harbor-docks", refs: ["e8", "e9"] };
    expect(await knack.giveSignal(await present(1), parents)).toMatchObject({
      value: { refusal: null, invocation: `${idOf(1)}#1`, file: path },
    });
    const { decision, dossier } = await knack.previewReview(project);
    expect(decision.window.stretches).toMatchObject([
      { session: below, run: `${idOf(1)}/a1` },
      { session: path, run: idOf(1) },
    ]);
    expect(decision.counters.signals).toBe(2);
    expect(dossier?.signals.map(({ refs }) => refs)).toEqual([
      ["s1.e1", "s1.e2"],
      ["s2.e8", "s2.e9"],
    ]);
    const told = dossier?.included
      .filter(({ reason }) => reason === "signal-ref")
      .map(({ detail }) => detail);
    expect(told?.join("\n")).toContain("HARBOR_DB is not set");
  });

  test("is told from what another transcript of the same run has under the same numbers", async () => {
    const { knack, project, home, lines, subagent, present: parent } = await withSubagent();
    const fork = lines(1);
    const records = [
      ...recovers(fork, "sh other.sh"),
      fork.calls("toolu_fork", "mcp__knack__skill_signal", {}),
    ];
    const path = join(home, ".claude/projects/-harbor/fork.jsonl");
    put(path, records.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const { caller } = await subagent();
    const present = await knack.resolveCaller({
      ...{ session: idOf(1), callId: "toolu_fork", turn: null, kind: "foreground", cwd: project },
      ...{ format: caller.format, model: null },
    });
    const given = await knack.giveSignal(present, { ...create, refs: failedAndFixed });
    expect(given).toMatchObject({ value: { file: path } });
    const parents = { ...create, nameHint: "rl-harbor-docks", refs: failedAndFixed };
    expect(await knack.giveSignal(await parent(1), parents)).toMatchObject({ ok: true });
    const { decision, dossier } = await knack.previewReview(project);
    const sessions = dossier?.signals.map(({ refs: [ref = ""] }) => {
      const at = Number(/^s(\d+)\.e1$/.exec(ref)?.[1]) - 1;
      return decision.window.stretches[at]?.session;
    });
    expect(sessions).toEqual([path, join(home, `.claude/projects/-harbor/${idOf(1)}.jsonl`)]);
  });

  test("is none of its parent's learnings, and its skill says whose events it rests on", async () => {
    const { knack, subagent, present, project } = await withSubagent();
    const told = { action: "create", skill: "rl-harbor-check", message: "Writing it down." } as const;
    const reason = "recovered_surprise" as const;
    const begun = await knack.startWriting(await subagent(), { ...told, reason, refs: failedAndFixed });
    if (!begun.ok) throw new Error(JSON.stringify(begun.fault));
    const finish = { ...told, status: "created", summary: null, message: null, refs: [] } as const;
    expect(await knack.finishWriting(await present(1), finish)).toMatchObject({
      fault: { code: "learning_not_started" },
    });
    put(
      join(begun.value.staging, "SKILL.md"),
      "---\nname: rl-harbor-check\ndescription: Use when HARBOR_DB is not set.\n---\n\nSet `HARBOR_DB=local`.\n",
    );
    expect(await knack.finishWriting(await subagent(), finish)).toMatchObject({ ok: true });
    const skill = readFileSync(join(project, ".claude/skills/rl-harbor-check/SKILL.md"), "utf8");
    expect(skill).not.toContain(idOf(1));
    expect(await knack.shelf()).toMatchObject([{ author: { session: `${idOf(1)}/a1` }, evidence: 2 }]);
  });
});

describe("the window of a review", () => {
  const limits: ReviewLimits = {
    ...{ mode: "suggest", calls: 3, apartMs: 0, perDay: 9, usd: 1, usdPerCall: 1, usdPerDay: 1, unset: null },
  };
  const nudge = async (deps: Parameters<typeof decideNudges>[0], project: string, asked = false) =>
    (await decideNudges(deps, { limits, asked, running: false }, project)).get(project) as NudgeDecided;
  const windowOf = async (deps: Parameters<typeof decideNudges>[0], project: string): Promise<ReviewWindow> =>
    (await nudge(deps, project, true)).window;
  const reviewed = (
    project: string,
    window: ReviewWindow,
    n: number,
    outcome: "nothing" | "failed",
  ): EntryOf<"review.ended"> => ({
    at: began + n,
    project,
    session: null,
    actor: "knack",
    type: "review.ended",
    key: `ended:${n}`,
    data: { review: `r${n}`, outcome, because: "", proposals: [], window, calls: 1 },
  });

  test("is what came since the last successful one, by the events of each session", async () => {
    const { lives, lines, store, clock, project } = await at();
    const windowNow = () => windowOf({ store, clock }, project);
    const [one, two] = [lines(1), lines(2)];
    const path = await lives(1, one.user("Look"), ...padded(one));
    const first = await windowNow();
    expect(first.stretches).toEqual([{ session: path, run: idOf(1), from: 1, to: 9 }]);
    await noted(store, reviewed(project, first, 1, "failed"));
    expect(await windowNow()).toEqual(first);
    await noted(store, reviewed(project, first, 2, "nothing"));
    expect((await windowNow()).stretches).toEqual([]);
    await lives(1, one.user("More"), ...runs(one, "t1", "make"));
    // Another one that began before the review and was read after it.
    const other = await lives(2, two.user("Look"), ...padded(two, 3));
    const { stretches, since, until } = await windowNow();
    expect(stretches).toEqual([
      { session: other, run: idOf(2), from: 1, to: 4 },
      { session: path, run: idOf(1), from: 10, to: 11 },
    ]);
    expect(since).toBeLessThan(first.until);
    expect(until).toBeGreaterThan(first.until);
  });

  test("has a session of which nothing but a signal is new, and what that points to", async () => {
    const { lives, lines, store, clock, project, knack, present } = await at();
    const deps = { store, clock };
    const own = lines(1);
    await lives(1, own.user("Look"), ...runs(own, "t1", "make"), ...padded(own));
    const window = await windowOf(deps, project);
    await noted(store, reviewed(project, window, 1, "nothing"));
    expect((await windowOf(deps, project)).stretches).toEqual([]);
    expect((await knack.giveSignal(await present(1), create)).ok).toBe(true);
    const decided = await nudge(deps, project);
    expect(decided).toMatchObject({
      ...{ run: true, because: "signal", counters: { signals: 1, calls: 0 } },
      window: { stretches: [{ run: idOf(1), from: 11, to: 10 }] },
    });
    const redactor = createRedactor();
    const ofWindow = { project, window: decided.window, skills: [], leads: [] };
    const signals = [{ ...create, refs: ["s1.e2", "s1.e3"] } as Signal];
    const { included } = await gatherDossier({ store, redactor }, { ...ofWindow, signals });
    expect(included.map(({ id }) => id)).toEqual(["s1.e2", "s1.e3"]);
    await noted(store, { ...reviewed(project, decided.window, 2, "nothing"), at: clock.now() });
    expect((await windowOf(deps, project)).stretches).toEqual([]);
  });

  test("begins anew in a file that was written anew, and leaves no room to what cannot be looked at", async () => {
    const { lives, lines, store, clock, project } = await at();
    const deps = { store, clock };
    const own = lines(1);
    const path = await lives(1, own.user("Look"), ...padded(own));
    await noted(store, reviewed(project, await windowOf(deps, project), 1, "nothing"));
    writeFileSync(path, "");
    await lives(1, own.user("Something else"), ...padded(own, 3));
    expect((await windowOf(deps, project)).stretches).toMatchObject([{ from: 1, to: 4 }]);
    const others = 30 + 2;
    for (let n = 2; n < others; n++) await lives(n, lines(n).user("Look"));
    const passesOver = async ({ path: one }: Session) => (one === path ? null : "not this one");
    expect((await windowOf({ ...deps, passesOver }, project)).stretches).toHaveLength(1);
    expect((await windowOf(deps, project)).stretches).toHaveLength(30);
  });

  test("is noted with the reason not to look at it, once, and nothing is noted for who only asks", async () => {
    const { home, lives, lines, store, clock, project, knack } = await at();
    const settings = {
      ...{ review: "suggest", judge: "openai/some-mini", "judge.url": "http://127.0.0.1:1/v1" },
      ...{ "review.calls": 3, "review.minutes": 0 },
    };
    put(join(home, ".knack/config.json"), JSON.stringify(settings));
    const own = lines(1);
    await lives(1, own.user("Look"), ...runs(own, "t1", "make"), ...padded(own));
    const because = async () =>
      (await store.ledger.since("nudge.decided", 0)).map(({ data }) => data.because);
    const review = async (asked = false) =>
      (await knack.review({ projects: [project], asked }))[0]?.decision as NudgeDecided;
    expect((await knack.previewReview(project)).decision.because).toBe("nothing-new");
    expect(await because()).toEqual([]);
    expect(await review()).toMatchObject({
      run: false,
      counters: { calls: 1, turns: 1 },
      window: { stretches: [{ to: 10 }] },
    });
    await lives(1, own.user("More"), ...runs(own, "t2", "make"));
    await review();
    expect(await because()).toEqual(["nothing-new"]);
    const now = clock.now();
    await store.leases.take("review", { holder: `${process.pid} another`, now, until: now + 60_000 });
    await review(true);
    await store.leases.release("review", `${process.pid} another`);
    await lives(1, own.user("More"), ...runs(own, "t3", "make"));
    expect(await review()).toMatchObject({
      run: true,
      because: "threshold",
      counters: { calls: 3, turns: 3 },
    });
    expect(await because()).toEqual(["nothing-new", "running", "threshold"]);
    expect((await knack.check()).drift).toEqual([]);
  });

  test("is told by knack status, with why there is no review", async () => {
    const { home, lives, lines, knack, project } = await at();
    const own = lines(1);
    await lives(1, own.user("Make the check pass"), ...padded(own), ...recovers(own));
    const state = await knack.reviews();
    expect(state).toMatchObject({ mode: "off", signals: { counted: 1, refused: 0 }, waiting: 0, last: null });
    expect(state.projects).toMatchObject([{ project, decision: { run: false, because: "off" } }]);
    await knackHere(["config", "set", "review", "suggest"], { home });
    const { stdout } = await knackHere(["status", "--json"], { home });
    expect(JSON.parse(stdout).reviews).toMatchObject({
      mode: "suggest",
      today: { reviews: 0, usd: 0 },
      projects: [
        {
          name: "harbor",
          run: false,
          because: "no-model",
          sessions: 1,
          events: 12,
          counters: { signals: 1 },
        },
      ],
      signals: { counted: 1, refused: 0 },
    });
    const told = (await knackHere(["status"], { home })).stdout;
    expect(told).toMatch(
      /reviews +suggest, but .*; 1 signal waiting\n +in harbor none is due: no model can be asked.*12 events of 1 session/,
    );
  });
});

test("knack schema prints the form of a reply, and says which forms there are", async () => {
  const home = tempFolder();
  const list = await knackHere(["schema", "--json"], { home });
  expect(JSON.parse(list.stdout).schemas).toMatchObject([{ name: "reply" }]);
  const { stdout, code } = await knackHere(["schema", "reply"], { home });
  expect([code, Object.keys(JSON.parse(stdout).properties)]).toEqual([
    0,
    ["used_skill_receipts", "learning_signal", "skill_issue_signal"],
  ]);
  expect((await knackHere(["schema", "nothing"], { home })).code).toBe(2);
});
