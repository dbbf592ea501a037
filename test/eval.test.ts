import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findCandidates } from "../src/learning/leads/detect.ts";
import { selectOwnEvents } from "../src/learning/learn.ts";
import { openKnack } from "../src/open.ts";
import { knackHere } from "./helpers/here.ts";
import { answering, keepingAll, recordIn } from "./helpers/judging.ts";
import { jsonLines, knack } from "./helpers/knack.ts";
import { sharedFolder, tempFolder } from "./helpers/temp.ts";

const folder = process.env.KNACK_EVAL_DIR ? join(process.env.KNACK_EVAL_DIR, "sessions") : "";
const dated = ["claude-code", "codex"];

interface Score {
  readonly recall: number;
  readonly judged_precision: number;
  readonly floor_precision: number;
  readonly findings_per_session: number;
  readonly lesson_words: number;
}

/** How findings do against labels: of the right kind, at the right place. */
function scored(findings: readonly object[], labels: string): Score {
  const result = join(tempFolder(), "result.json");
  writeFileSync(result, JSON.stringify({ findings }));
  const words = ["--gold", labels, "--root", folder, "--json", result];
  const text = execFileSync(process.execPath, [join(folder, "evaluate.mjs"), ...words], { encoding: "utf8" });
  return JSON.parse(text).right_kind;
}

/** What the rules let through for a model to judge. */
async function widelyFound(home: string, paths: readonly string[]): Promise<object[]> {
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
  onTestFinished(() => knack.close());
  const { sessions } = await knack.sessions(paths);
  const found: object[] = [];
  for (const session of sessions.filter(({ counts }) => counts.events >= 10)) {
    const events = selectOwnEvents(session, await knack.events(session));
    for (const { kind, keys, lesson } of findCandidates(events))
      found.push({ kind, session: session.path, events: keys, lesson });
  }
  return found;
}

/** What `knack learn --json` prints, as far as it is looked at here. */
interface Learned {
  readonly findings: readonly { readonly kind: string; readonly lesson: string }[];
  readonly judged: {
    readonly kept: number;
    readonly dropped: readonly object[];
    readonly fellBack: readonly object[];
  };
}

describe.skipIf(!existsSync(folder))("the evaluation sessions", () => {
  // One home for all: a session is read once.
  const home = sharedFolder();
  const inside = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const all = inside.filter((entry) => entry.isDirectory());
  const paths = all.map(({ name }) => join(folder, name));

  test("are read, every file of every format, and give events", async () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath !== folder)
      .map((entry) => join(entry.parentPath, entry.name));
    const { code, stdout } = await knack(["sessions", ...paths, "--json"], { home });
    expect(code).toBe(0);
    const { sessions, diagnostics } = JSON.parse(stdout) as {
      sessions: { path: string; format: string; counts: { events: number }; startedAt: string | null }[];
      diagnostics: unknown[];
    };
    expect(diagnostics).toEqual([]);
    expect(new Set(sessions.map(({ path }) => path))).toEqual(new Set(files));
    for (const { path, format, counts, startedAt } of sessions) {
      expect(path.startsWith(join(folder, format)), `${path} is of ${format}`).toBe(true);
      expect(counts.events, path).toBeGreaterThan(0);
      if (dated.includes(format)) expect(startedAt, path).not.toBeNull();
    }
  });

  test("give events with refs and keys in order, in every format", async () => {
    const { stdout } = await knack(["sessions", ...paths, "--events"], { home });
    const last = new Map<string, { readonly number: number; readonly place: number }>();
    const seen = new Set<string>();
    for (const line of jsonLines<Record<string, string>>(stdout)) {
      const { session = "", ref, key = "", kind, outcome } = line;
      const format = all.find(({ name }) => session.includes(join(folder, name)))?.name ?? session;
      seen.add(format);
      const before = last.get(session) ?? { number: 0, place: 0 };
      const number = before.number + 1;
      expect(ref).toBe(`e${number}`);
      // A line of a file, counted from 1; or a message or step of a document, counted from 0, with its part.
      expect(key, session).toMatch(format === "opencode" ? /^\d+\.\d+$/ : /^\d+$/);
      const [message = 0, part = 0] = key.split(".").map(Number);
      if (session.endsWith(".jsonl")) expect(message, session).toBeGreaterThan(0);
      const place = message * 1e6 + part;
      // What a person said while the agent was busy comes when the agent got it, and has the line where it was said.
      if (kind !== "prompt") expect(place, `${session} ${ref}`).toBeGreaterThanOrEqual(before.place);
      last.set(session, { number, place });
      expect(outcome === null, `${session} ${ref}`).toBe(kind !== "call");
    }
    expect(seen).toEqual(new Set(all.map(({ name }) => name)));
    expect(last.size).toBeGreaterThan(100);
  });

  test("teach what their labels say", async () => {
    const { code, stdout } = await knack(["learn", folder, "--json", "--dry-run"], { home });
    expect(code).toBe(0);
    const score = scored(JSON.parse(stdout).findings, join(folder, "gold.tune.jsonl"));
    expect(score.judged_precision).toBeGreaterThanOrEqual(0.8);
    expect(score.recall).toBeGreaterThanOrEqual(0.6);
    expect(score.floor_precision).toBeGreaterThanOrEqual(0.6);
    expect(score.findings_per_session).toBeLessThanOrEqual(1.6);
    expect(score.lesson_words).toBeGreaterThanOrEqual(0.7);
  });

  test("are found by rules that look widely, and judged never below what the rules say", async () => {
    const labels = join(folder, "gold.tune.jsonl");
    // The sources that the labels are of, and no others.
    const sources = jsonLines<{ session: string }>(readFileSync(labels, "utf8")).map((label) =>
      dirname(label.session),
    );
    const labelled = [...new Set(sources)].map((source) => join(folder, source));
    expect(scored(await widelyFound(home, labelled), labels).recall).toBeGreaterThanOrEqual(0.8);

    const learned = async (...words: string[]) => {
      const { code, stdout } = await knackHere(["learn", ...labelled, "--json", "--dry-run", ...words], {
        home,
      });
      expect(code).toBe(0);
      return JSON.parse(stdout) as Learned;
    };
    const asked = join(home, "asked");
    const rules = await learned();
    expect((await learned("--model-dump", asked)).findings).toEqual(rules.findings);
    const requests = readdirSync(asked).map(
      (name) => [name, readFileSync(join(asked, name), "utf8")] as const,
    );
    /** What is learned when whoever is asked answers so. */
    const judgedBy = (answer: (request: string) => unknown) => {
      for (const [name, request] of requests)
        writeFileSync(
          join(asked, name.replace("request.md", "answer.json")),
          JSON.stringify(answer(request)),
        );
      return learned("--model-answers", asked);
    };
    const bar = scored(rules.findings, labels);

    // Who keeps everything has all that the rules have, and more.
    const keeping = await judgedBy(keepingAll);
    expect(keeping.judged).toMatchObject({ dropped: [], fellBack: [] });
    expect(scored(keeping.findings, labels).recall).toBeGreaterThanOrEqual(bar.recall);
    expect(scored(keeping.findings, labels).recall).toBeGreaterThanOrEqual(0.8);

    // Who answers nonsense changes nothing.
    const garbage = await judgedBy(() => ({ verdict: "all of them are fine" }));
    expect(garbage.judged).toMatchObject({ kept: 0, dropped: [] });
    expect(garbage.findings).toEqual(rules.findings);

    // Who keeps some and drops others: here what the rules are sure of, and the rest.
    const sure = new Set(rules.findings.map(({ kind, lesson }) => `${kind} ${lesson}`));
    const choosing = await judgedBy((request) =>
      answering(
        recordIn(request).candidates.map(({ id, kind, lesson }) =>
          sure.has(`${kind} ${lesson}`)
            ? { id, keep: true }
            : { id, keep: false, because: "the rules are not sure" },
        ),
      ),
    );
    expect(choosing.judged.dropped.length).toBeGreaterThan(0);
    const chosen = scored(choosing.findings, labels);
    expect(chosen.recall).toBeGreaterThanOrEqual(bar.recall);
    expect(chosen.judged_precision).toBeGreaterThanOrEqual(bar.judged_precision);

    // Who drops everything is believed: what was judged stands.
    const dropping = await judgedBy((request) =>
      answering(recordIn(request).candidates.map(({ id }) => ({ id, keep: false, because: "not worth it" }))),
    );
    expect(dropping.judged).toMatchObject({ kept: 0, fellBack: [] });
    expect(dropping.findings).toEqual([]);
  });

  test("would have been helped more than misled", async () => {
    const { code, stdout } = await knack(["backtest", folder, "--json"], { home: tempFolder() });
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as {
      answered: number;
      wrongPer100: number;
      hits: { occasion: string; session: string; learnedFrom: { session: string } }[];
      wrongs: { occasion: string }[];
    };
    expect(found.wrongPer100).toBeLessThanOrEqual(5);
    const at = (all: readonly { occasion: string }[]) =>
      all.filter(({ occasion }) => occasion === "failure").length;
    expect(at(found.wrongs)).toBeLessThanOrEqual(at(found.hits) / 2);
    expect(found.answered).toBeGreaterThan(20);
    for (const { session, learnedFrom } of found.hits) expect(learnedFrom.session).not.toBe(session);
  });
});
