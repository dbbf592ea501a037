import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "./helpers/here.ts";
import { keepingAll, keepingNothing } from "./helpers/judging.ts";
import { jsonLines, knack } from "./helpers/knack.ts";
import { sharedFolder, tempFolder } from "./helpers/temp.ts";

const folder = process.env.KNACK_EVAL_DIR ? join(process.env.KNACK_EVAL_DIR, "sessions") : "";
const dated = ["claude-code", "codex"];

interface Score {
  readonly recall: number;
  readonly judged_precision: number;
  readonly findings_per_session: number;
}

/** How findings, or leads, do against labels: of any kind, at the right place. */
function scored(what: { readonly findings?: unknown; readonly leads?: unknown }, labels: string): Score {
  const result = join(tempFolder(), "result.json");
  writeFileSync(result, JSON.stringify(what));
  const use = ["--use", what.leads === undefined ? "findings" : "leads"];
  const words = ["--gold", labels, "--root", folder, "--json", ...use, result];
  const text = execFileSync(process.execPath, [join(folder, "evaluate.mjs"), ...words], { encoding: "utf8" });
  return JSON.parse(text).any_kind;
}

/** What `knack learn --json` prints, as far as it is looked at here. */
interface Learned {
  readonly findings: readonly {
    readonly kind: string;
    readonly lesson: string;
    readonly confidence: number;
  }[];
  readonly leads: readonly object[];
  readonly judged: { readonly sessions: number; readonly lessons: number; readonly aside: readonly object[] };
  readonly unjudged: { readonly sessions: number; readonly because: string | null };
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

  test("have leads where their labels are, and rules alone say little that is wrong", async () => {
    const { code, stdout } = await knack(["learn", folder, "--json", "--dry-run"], { home });
    expect(code).toBe(0);
    const { findings, leads } = JSON.parse(stdout) as Learned;
    const labels = join(folder, "gold.tune.jsonl");
    const found = scored({ leads }, labels);
    expect(found.recall).toBeGreaterThanOrEqual(0.92);
    expect(found.findings_per_session).toBeLessThanOrEqual(6);
    const shown = findings.filter(({ confidence }) => confidence >= 0.6);
    expect(scored({ findings: shown }, labels).judged_precision).toBeGreaterThanOrEqual(0.8);
  });

  test("are judged as whoever is asked says", async () => {
    const labels = join(folder, "gold.tune.jsonl");
    // Two sources with labels, small ones, but not so small that rules find nothing: answers are taken alike in all.
    const sources = jsonLines<{ session: string }>(readFileSync(labels, "utf8")).map((label) =>
      join(folder, dirname(label.session)),
    );
    const size = (source: string) =>
      readdirSync(source).reduce((total, name) => total + statSync(join(source, name)).size, 0);
    const labelled = [...new Set(sources)].sort((a, b) => size(a) - size(b)).slice(6, 8);
    // A dry run copies what is known, so it is better little.
    const own = tempFolder();
    const learned = async (...words: string[]) => {
      const { code, stdout } = await knackHere(["learn", ...labelled, "--json", "--dry-run", ...words], {
        home: own,
      });
      expect(code).toBe(0);
      return JSON.parse(stdout) as Learned;
    };
    const rules = await learned();
    expect(rules.findings.length).toBeGreaterThan(1);
    /** What is learned when whoever is asked answers so: a long session is asked about part by part. */
    const judgedBy = async (answer: (request: string) => unknown) => {
      const asked = tempFolder();
      for (let round = 0; round < 8; round++) {
        const result = await learned("--model-dump", asked, "--model-answers", asked);
        const names = readdirSync(asked).filter((name) => name.endsWith("request.md"));
        const answers = names.map((name) => join(asked, name.replace("request.md", "answer.json")));
        if (answers.every(existsSync)) return result;
        for (const [n, path] of answers.entries())
          writeFileSync(path, JSON.stringify(answer(readFileSync(join(asked, names[n] ?? ""), "utf8"))));
      }
      throw new Error("there is always something more to ask");
    };

    // Who keeps everything has more than the rules have.
    const keeping = await judgedBy(keepingAll);
    expect(keeping.unjudged).toEqual({ sessions: 0, because: null });
    expect(scored({ findings: keeping.findings }, labels).recall).toBeGreaterThan(
      scored({ findings: rules.findings }, labels).recall,
    );

    // Who answers nonsense changes nothing.
    const garbage = await judgedBy(() => ({ verdict: "all of them are fine" }));
    expect(garbage.judged).toMatchObject({ sessions: 0, lessons: 0, aside: [] });
    expect(garbage.unjudged.because).toMatch(/^unusable: /);
    expect(garbage.findings).toEqual(rules.findings);

    // Who keeps nothing is believed: of what was judged nothing stands.
    const dropping = await judgedBy(keepingNothing);
    expect(dropping.judged.lessons).toBe(0);
    expect(dropping.judged.aside.length).toBe(dropping.leads.length);
    expect(dropping.findings.length).toBeLessThan(rules.findings.length / 2);
  });

  test("would have been helped more than misled", async () => {
    const { code, stdout } = await knack(["backtest", folder, "--json"], { home: tempFolder() });
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as {
      answered: number;
      wrongPer100: number;
      hits: { occasion: string; at: string; learnedFrom: { at: string } }[];
      wrongs: { occasion: string }[];
    };
    expect(found.wrongPer100).toBeLessThanOrEqual(5);
    const at = (all: readonly { occasion: string }[]) =>
      all.filter(({ occasion }) => occasion === "failure").length;
    expect(at(found.wrongs)).toBeLessThanOrEqual(at(found.hits) / 2);
    expect(found.answered).toBeGreaterThan(20);
    for (const hit of found.hits) expect(hit.learnedFrom.at < hit.at).toBe(true);
  });
});
