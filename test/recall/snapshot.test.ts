import { describe, expect, onTestFinished, test } from "vitest";
import { readSymptom } from "../../src/failures/symptom.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { Question } from "../../src/lessons/similarity.ts";
import { type LessonMatch, listCalls, readFailure, readQuestion, recall } from "../../src/recall/recall.ts";
import { recallFromSnapshot } from "../../src/recall/snapshot.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { seeded } from "../helpers/history.ts";
import { day } from "../helpers/lived.ts";
import { sampled } from "../helpers/sampled.ts";
import { aSnapshot } from "../helpers/snapshot.ts";

const start = Date.UTC(2026, 0, 1);
const now = start + 20 * day;
const projects = ["/home/dev/harbor", "/home/dev/tide", "/home/ann/berth"];
const programs = ["python", "pnpm", "cargo", "make", "rtk"];
const names = ["yaml", "httpx", "lint", "deploy"];
const errors = [
  (program: string) => `/bin/bash: line 1: ${program}: command not found`,
  (_: string, name: string) => `ModuleNotFoundError: No module named '${name}'`,
  (_: string, name: string) => `error: unknown option '--${name}'`,
  () => "Error: connect ECONNREFUSED 127.0.0.1:5432",
  (_: string, name: string) => `npm ERR! Missing script: "${name}"`,
];
const words = "harbor tide berth pilot vessel cargo route schedule arrival manifest".split(" ");

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Somebody's sessions: failures that were overcome, in few enough ways that some meet again, and what people said. */
function aHistory(random: Random, sessions: number): LedgerEntry[] {
  return Array.from({ length: sessions }, (_, n): LedgerEntry[] => {
    const project = pick(random, projects);
    const session = `/sessions/${n}`;
    const at = start + Math.floor(random() * 10) * day;
    const findings = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, m) =>
      aRandomFinding(random, at + m),
    );
    const found: LedgerEntry = {
      at,
      project,
      session,
      actor: "knack",
      type: "session.found",
      key: `session:${session}`,
      data: { project: { id: project, name: "p", root: project }, path: session },
    };
    const uses = Array.from({ length: 2 }, () => {
      const program = pick(random, programs);
      return {
        head: program,
        parts: [pick(random, names)],
        at: at + 100,
        ok: random() < 0.5 ? 1 : 0,
        failed: 1,
      };
    });
    const learned: LedgerEntry = {
      at: at + 500,
      project,
      session,
      actor: "knack",
      type: "session.learned",
      key: `learned:${session}@1`,
      data: {
        pass: 1,
        mark: "m",
        run: session,
        uses,
        leads: [],
        troubles: [],
        waiting: 0,
        size: 0,
        judged: null,
      },
    };
    const all = findings.map((finding, m) => made(session, { ...finding, refs: [`e${m}`] }, 1, project));
    const decided = all.slice(0, random() < 0.1 ? 1 : 0).map(
      ({ data }): LedgerEntry => ({
        at: at + 900,
        project: null,
        session: null,
        actor: "person",
        type: "lesson.decided",
        key: `decided:${data.id}`,
        data: { lessonId: data.id, decision: pick(random, ["accepted", "rejected"]), everywhere: false },
      }),
    );
    return [found, ...all, learned, ...decided];
  }).flat();
}

function aRandomFinding(random: Random, at: number): Finding {
  const [program, name] = [pick(random, programs), pick(random, names)];
  const command = `${program} ${name}`;
  if (random() < 0.3) {
    const some = Array.from({ length: 4 }, () => pick(random, words)).join(" ");
    const scope = random() < 0.5 ? "user" : "project";
    return aFinding({
      kind: "user-correction",
      trigger: some,
      action: `always ${pick(random, words)}`,
      scope,
      at,
    });
  }
  const remedy = pick(random, ["program", "flag", "step", "wrapper", "argument"] as const);
  const fix = pick(random, [`./${program}`, `uv run ${program}`, `${program}3`]);
  return aFinding({
    lesson: `\`${command}\` fails; \`${fix} ${name}\` works.`,
    trigger: `${command} fails`,
    action: `use ${fix}`,
    symptom: readSymptom(command, pick(random, errors)(program, name), 1),
    remedy,
    call: [...fix.split(" "), name],
    excerpt: {
      failed: command,
      error: "e",
      worked: random() < 0.8 ? `${fix} ${name}` : null,
      said: null,
      replied: null,
    },
    confidence: 0.5 + random() / 2,
    at,
  });
}

function someQuestions(random: Random, count: number): Question[] {
  return Array.from({ length: count }, (): Question => {
    const [program, name] = [pick(random, programs), pick(random, names)];
    const some = Array.from({ length: 5 }, () => pick(random, words)).join(" ");
    const command = `${program} ${name}`;
    const which = random();
    if (which < 0.4) return failure(command, pick(random, errors)(program, name), 1);
    if (which < 0.6)
      return { type: "call", calls: listCalls({ command, tool: null, input: null, files: [] }) };
    return readQuestion(random() < 0.5 ? `please look at the ${some}` : `run \`${command}\` for the ${some}`);
  });
}

function failure(command: string, text: string, exitCode: number): Question {
  return readFailure({ command, text, exitCode, tool: null, input: null, files: [] });
}

/** What is told of an answer, and in which order. */
const gist = (matches: readonly LessonMatch[]) =>
  matches.map(({ lesson: instinct, best, from, ...rest }) => ({
    ...rest,
    instinct: instinct.id,
    best: best.id,
    says: best.finding.lesson,
    from: from.map(({ id }) => id),
  }));

describe("a snapshot", () => {
  const seed = Number(process.env.KNACK_SEED ?? 1);
  test.each(sampled([seed, seed + 1, seed + 2], 2))(
    "answers as the store does (KNACK_SEED %i)",
    async (own) => {
      const random = seeded(own);
      const store = await openSqlite({ path: ":memory:", clock: { now: () => now } });
      onTestFinished(() => store.close());
      const history = aHistory(random, 60 + Math.floor(random() * 60));
      await store.transaction((tx) => recordEntries(tx, history));
      const snapshot = await aSnapshot(store, { now: () => now });
      let told = 0;
      for (const question of someQuestions(random, 100))
        for (const asker of ["nobody", "agent", "person"] as const) {
          const project = pick(random, [...projects, "/somewhere/else"]);
          const home = pick(random, ["/home/dev", "/home/ann", null]);
          const one = gist(await recall(store, question, { project, home, asker, now }));
          const other = gist(await recallFromSnapshot(snapshot, question, { project, home, asker, now }));
          expect(other).toEqual(one);
          told += one.length;
        }
      // Two that both say nothing would agree too.
      expect(told).toBeGreaterThan(50);
    },
  );

  test("answers as the store does about what is met everywhere", async () => {
    const store = await openSqlite({ path: ":memory:", clock: { now: () => now } });
    onTestFinished(() => store.close());
    const symptom = readSymptom("python a", "/bin/bash: line 1: python: command not found", 127);
    const entries = Array.from({ length: 90 }, (_, n): LedgerEntry[] => {
      const project = projects[n % 2] as string;
      const finding = aFinding({
        symptom,
        remedy: "program",
        trigger: `python w${n} x${n} y${n}`,
        action: `use python3 z${n} v${n}`,
        call: ["python3"],
        at: start + n,
      });
      return [
        {
          at: start,
          project,
          session: `s${n}`,
          actor: "knack",
          type: "session.found",
          key: `session:s${n}`,
          data: { project: { id: project, name: "p", root: project }, path: `s${n}` },
        },
        made(`s${n}`, finding, 1, project),
      ];
    });
    await store.transaction((tx) => recordEntries(tx, entries.flat()));
    const snapshot = await aSnapshot(store, { now: () => now });
    const question = failure("python a", "/bin/bash: line 1: python: command not found", 127);
    for (const project of [...projects, "/none"]) {
      const asked = { project, home: "/home/dev", asker: "person", now } as const;
      const one = gist(await recall(store, question, asked));
      if (project === projects[0]) expect(one.length).toBeGreaterThan(0);
      expect(gist(await recallFromSnapshot(snapshot, question, asked))).toEqual(one);
    }
  });
});
