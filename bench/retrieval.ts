import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { judge } from "../src/search/decide.ts";
import type { LibraryIndex } from "../src/search/library-index.ts";
import { rank } from "../src/search/rank.ts";
import { everyday } from "./everyday.ts";
import {
  type Asked,
  InputError,
  indexed,
  type Library,
  readIds,
  readLibraries,
  readQueries,
  readSkills,
} from "./retrieval-data.ts";
import {
  fitGate,
  fitWeights,
  type GateWeights,
  type RankedEntry,
  ranked,
  type Sample,
  type SignWeights,
} from "./retrieval-fit.ts";

const usage = `npm run bench:retrieval -- --skills FILE(.gz) --queries FILE [--ids FILE] --out FILE [--leave-out]
npm run bench:retrieval                 the three libraries of KNACK_EVAL_DIR/retrieval-bench, as a table
npm run bench:retrieval -- --fit        fits the numbers of the policy anew and prints them
npm run bench:retrieval -- --use        what it brings when skills remember the prompts they were of use in`;

/** Numbers to rank and to judge by; null for those that Knack has. */
interface Fit {
  readonly weights: SignWeights | null;
  readonly gate: GateWeights | null;
}

const shipped: Fit = { weights: null, gate: null };

/** What was found, in the order and with the chances that these numbers give. */
function judged(found: readonly RankedEntry[], size: number, { weights, gate }: Fit = shipped) {
  return judge(weights ? ranked(found, weights) : found, size, gate ?? undefined);
}

function main(): void {
  const options = optionsGiven();
  if (options.skills || options.queries || options.out) {
    const { skills, queries, out, ids } = options;
    if (!skills || !queries || !out)
      throw new InputError("--skills, --queries and --out are needed together.");
    const fitOf = options["leave-out"] ? fitsWithoutEach() : () => shipped;
    progress(`reading ${skills}`);
    const entries = readSkills(skills, ids ? readIds(ids) : null);
    writeResults(search(entries.length, index(entries), readQueries(queries)), fitOf, out);
    return;
  }
  if (options.fit) printFit();
  else if (options.use) printUse();
  else printTables();
}

function optionsGiven() {
  try {
    return parseArgs({
      options: {
        skills: { type: "string" },
        queries: { type: "string" },
        ids: { type: "string" },
        out: { type: "string" },
        "leave-out": { type: "boolean" },
        fit: { type: "boolean" },
        use: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new InputError(error instanceof Error ? error.message : String(error));
  }
}

function progress(line: string): void {
  console.error(line);
}

function index(entries: Parameters<typeof indexed>[0]): LibraryIndex {
  const started = performance.now();
  const made = indexed(entries);
  progress(`indexed ${entries.length} skills in ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  return made;
}

/** A query, what was found, and how long that took. */
interface Found {
  readonly asked: Asked;
  readonly found: readonly RankedEntry[];
  readonly size: number;
  readonly took: number;
}

function search(size: number, index: LibraryIndex, queries: readonly Asked[]): Found[] {
  // The first ones warm up.
  for (const { query } of queries.slice(0, 100)) rank(index, query);
  return queries.map((asked) => {
    const started = performance.now();
    const found = rank(index, asked.query).entries;
    judged(found, size).decide();
    return { asked, found, size, took: performance.now() - started };
  });
}

function writeResults(all: readonly Found[], fitOf: (family: string) => Fit, out: string): void {
  const lines = all.map(({ asked, found, size, took }) => {
    const order = judged(found, size, fitOf(asked.family));
    const { load } = order.decide();
    return JSON.stringify({
      query_id: asked.id,
      ranked: scored(order),
      autoload: load ? [load.card.id] : [],
      latency_ms: Math.round(took * 1_000) / 1_000,
    });
  });
  writeFileSync(out, `${lines.join("\n")}\n`);
  progress(`${lines.length} queries answered: ${out}`);
}

/** Scores are probabilities, since they are compared across queries; a lower rank never has a higher one. */
function scored(order: ReturnType<typeof judged>): { id: string; score: number }[] {
  let least = 1;
  return order.entries.map(({ card, chance }) => {
    least = Math.min(least, chance);
    return { id: card.id, score: least };
  });
}

function benchmarkFolder(): string {
  const folder = process.env.KNACK_EVAL_DIR ? resolve(process.env.KNACK_EVAL_DIR, "retrieval-bench") : "";
  if (!existsSync(join(folder, "evaluate.mjs")))
    throw new InputError("KNACK_EVAL_DIR names no folder with retrieval-bench/evaluate.mjs.");
  return folder;
}

/** Every library of the benchmark, searched with the numbers of the policy. */
function searchAll(folder: string): {
  found: Map<string, Found[]>;
  samples: Sample[];
  /** What is said of prompts for which no skill is needed. */
  talk: string[];
} {
  const { libraries, families } = readLibraries(join(folder, "libraries.json"));
  const queries = readQueries(join(folder, "queries.dev.jsonl"));
  const skills = readSkills(join(folder, "skills.jsonl.gz"));
  const found = new Map<string, Found[]>();
  const samples: Sample[] = [];
  const talk: string[] = [];
  for (const [name, library] of libraries) {
    const entries = library.ids ? skills.filter(({ id }) => library.ids?.has(id)) : skills;
    const made = index(entries);
    const answers = search(entries.length, made, queries);
    talk.push(`${name}, everyday prompts: ${talkOf(made)}`);
    found.set(name, answers);
    samples.push(...answers.flatMap((answer) => samplesOf(answer, library, families)));
  }
  return { found, samples, talk };
}

function talkOf(index: LibraryIndex): string {
  const decisions = everyday.map((prompt) => judged(rank(index, prompt).entries, index.size).decide());
  const loads = decisions.filter(({ load }) => load !== null).length;
  const offers = decisions.filter(({ load, offers }) => load === null && offers.length > 0).length;
  return `something is loaded for ${loads} and offered for ${offers} of ${decisions.length}`;
}

/** What a query teaches: the benchmark's own rules of what is judged. */
function samplesOf({ asked, found, size }: Found, library: Library, families: Map<string, string>): Sample[] {
  const isThere = (id: string) => library.ids?.has(id) ?? true;
  const gold = new Set(asked.gold.filter(isThere));
  const unwanted = new Set(asked.unwanted.filter(isThere));
  const sample = { family: asked.family, size, found, gold, unwanted };
  if (gold.size > 0) {
    const answered: Sample = { ...sample, kind: "answered" };
    if (!library.hides) return [answered];
    const others = found.filter(({ card }) => families.get(card.id) !== asked.family && !gold.has(card.id));
    return [answered, { ...sample, found: others, gold: new Set(), kind: "unanswered" }];
  }
  if (asked.gold.length > 0)
    return library.unanswered.has(asked.id) ? [{ ...sample, kind: "unanswered" }] : [];
  return unwanted.size > 0 ? [{ ...sample, kind: "unwanted" }] : [];
}

function fitTo(samples: readonly Sample[]) {
  const weights = fitWeights(samples);
  return { weights, gate: fitGate(samples, weights) };
}

/** For each family the numbers fitted to all the others; for a family that is not among them, to all. */
function leaveEachOut(samples: readonly Sample[]): (family: string) => Fit {
  const fits = new Map<string, Fit>();
  return (family) => {
    const known = fits.get(family);
    if (known) return known;
    progress(`fitting without ${family}`);
    const fit = fitTo(samples.filter((sample) => sample.family !== family));
    fits.set(family, fit);
    return fit;
  };
}

function fitsWithoutEach(): (family: string) => Fit {
  return leaveEachOut(searchAll(benchmarkFolder()).samples);
}

function printFit(): void {
  const { samples } = searchAll(benchmarkFolder());
  const { weights, gate } = fitTo(samples);
  const round = (numbers: SignWeights | GateWeights) =>
    Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value.toFixed(2))]));
  console.log("weights:", round(weights), "\ngate:", round(gate));
}

/** The baselines that the benchmark's libraries were measured with: R@1 and R@5 for 200, 2,000 and 20,000 skills. */
const baselines = [
  ["TF-IDF without bodies", ".39 / .17 / .03", ".64 / .42 / .13"],
  ["FTS5, name and description", ".55 / .37 / .26", ".78 / .54 / .41"],
  ["FTS5 with bodies, tuned", ".67 / .59 / .45", ".87 / .77 / .61"],
  ["BM25F with bodies, by hand", ".71 / .60 / .46", ".91 / .81 / .64"],
];

function printTables(): void {
  const folder = benchmarkFolder();
  const { found, samples, talk } = searchAll(folder);
  const temporary = mkdtempSync(join(tmpdir(), "knack-retrieval-"));
  try {
    const fits = { "as shipped": () => shipped, "each family left out": leaveEachOut(samples) };
    for (const [how, fitOf] of Object.entries(fits)) {
      const files = [...found].map(([name, answers]): [string, string] => {
        const out = join(temporary, `${name}.jsonl`);
        writeResults(answers, fitOf, out);
        return [name, out];
      });
      console.log(`\n${how}\n\n${tableOf(folder, files)}\n\n${offersOf(found, samples, fitOf)}`);
    }
    console.log(`\n${talk.join("\n")}`);
    console.log(`\nbaselines (200 / 2,000 / 20,000)\n\n| system | R@1 | R@5 |\n| --- | --- | --- |`);
    for (const row of baselines) console.log(`| ${row.join(" | ")} |`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Every other query of a skill becomes a prompt that it was of use in; the queries between are asked. */
function printUse(): void {
  const folder = benchmarkFolder();
  const { libraries } = readLibraries(join(folder, "libraries.json"));
  const queries = readQueries(join(folder, "queries.dev.jsonl"));
  const skills = readSkills(join(folder, "skills.jsonl.gz"));
  console.log("| library | prompts remembered | queries | R@1 | R@5 | load precision | load recall |");
  console.log("| --- | --- | --- | --- | --- | --- | --- |");
  for (const [name, { ids }] of libraries) {
    const entries = ids ? skills.filter(({ id }) => ids.has(id)) : skills;
    const { prompts, asked } = alternate(queries, new Set(entries.map(({ id }) => id)));
    for (const isUsed of [false, true]) {
      const library = isUsed
        ? entries.map((entry) => ({ ...entry, prompts: prompts.get(entry.id) ?? [] }))
        : entries;
      const figures = figuresOf(search(library.length, index(library), asked));
      console.log(`| ${[name, isUsed ? "yes" : "no", asked.length, ...figures.map(share)].join(" | ")} |`);
    }
  }
}

/** Prompts that skills remember, and queries for skills that remember two or more. */
function alternate(
  queries: readonly Asked[],
  isThere: ReadonlySet<string>,
): { prompts: Map<string, string[]>; asked: Asked[] } {
  const met = new Map<string, number>();
  const prompts = new Map<string, string[]>();
  const rest: Asked[] = [];
  for (const query of queries) {
    const gold = query.gold.filter((id) => isThere.has(id));
    const [first] = gold;
    if (first === undefined) continue;
    const times = met.get(first) ?? 0;
    met.set(first, times + 1);
    if (times % 2 === 1) rest.push({ ...query, gold });
    else for (const id of gold) prompts.set(id, [...(prompts.get(id) ?? []), query.query]);
  }
  const remembers = (id: string) => (prompts.get(id)?.length ?? 0) >= 2;
  return { prompts, asked: rest.filter(({ gold }) => gold.some(remembers)) };
}

/** R@1, R@5, precision and recall of what is loaded. */
function figuresOf(all: readonly Found[]): number[] {
  let [first, five, loaded, right] = [0, 0, 0, 0];
  for (const { asked, found, size } of all) {
    const isGold = ({ card }: RankedEntry) => asked.gold.includes(card.id);
    if (found[0] && isGold(found[0])) first++;
    five += found.slice(0, 5).filter(isGold).length / Math.min(5, asked.gold.length);
    const { load } = judged(found, size).decide();
    if (load) loaded++;
    if (load && isGold(load)) right++;
  }
  return [first / all.length, five / all.length, loaded === 0 ? 0 : right / loaded, right / all.length];
}

interface Ranking {
  readonly n: number;
  readonly r1: number;
  readonly r5: number;
}

interface Evaluated {
  readonly ranking: Ranking;
  readonly autoload: { readonly r_at_p90: number };
  readonly explicit: {
    readonly precision: number;
    readonly recall: number;
    readonly nomatch_load_rate: number | null;
    readonly should_not_load_rate: number | null;
  };
  readonly latency_ms: { readonly p50: number; readonly p95: number };
  readonly by?: Record<string, Ranking>;
}

function evaluate(folder: string, library: string, results: string, ...more: string[]): Evaluated {
  const asked = ["--results", results, "--library", library, "--json", ...more];
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "evaluate.mjs"), ...asked], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`evaluate.mjs: ${stderr}`);
  return JSON.parse(stdout) as Evaluated;
}

function tableOf(folder: string, files: readonly [string, string][]): string {
  const rows = files.flatMap(([name, file]) =>
    [[], ["--no-weak"]].map((more) => {
      const { ranking, autoload, explicit, latency_ms } = evaluate(folder, name, file, ...more);
      return [
        more.length > 0 ? `${name}, without weak labels` : name,
        ranking.n,
        share(ranking.r1),
        share(ranking.r5),
        share(explicit.precision),
        share(explicit.recall),
        share(explicit.nomatch_load_rate),
        share(explicit.should_not_load_rate),
        share(autoload.r_at_p90),
        `${latency_ms.p50.toFixed(1)} / ${latency_ms.p95.toFixed(1)}`,
      ];
    }),
  );
  const languages = files.map(([name, file]) => {
    const { by } = evaluate(folder, name, file, "--by", "lang");
    const told = Object.entries(by ?? {}).map(
      ([language, { n, r1, r5 }]) => `${language} (${n}) ${share(r1)} ${share(r5)}`,
    );
    return `${name}: ${told.join(", ")}`;
  });
  const head = [
    "library",
    "queries",
    "R@1",
    "R@5",
    "load precision",
    "load recall",
    "loads on no-match",
    "loads on should-not",
    "recall at .90",
    "ms p50 / p95",
  ];
  return [head, head.map(() => "---"), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .concat("", "R@1 and R@5 by language:", ...languages)
    .join("\n");
}

function share(value: number | null): string {
  return value === null ? "–" : value.toFixed(3);
}

/** How often something is said at all, and how often what is right is among it. */
function offersOf(
  found: ReadonlyMap<string, readonly Found[]>,
  samples: readonly Sample[],
  fitOf: (family: string) => Fit,
): string {
  const sizes = new Map([...found].map(([name, answers]) => [answers[0]?.size ?? 0, name]));
  const counts = new Map<string, { all: number; said: number; right: number }>();
  for (const { family, size, found: list, gold, kind } of samples) {
    if (kind === "unwanted") continue;
    const { load, offers } = judged(list, size, fitOf(family)).decide();
    const said = load ? [load, ...offers] : offers;
    const key = `${sizes.get(size)}, ${kind}`;
    const count = counts.get(key) ?? { all: 0, said: 0, right: 0 };
    count.all++;
    if (said.length > 0) count.said++;
    if (said.some(({ card }) => gold.has(card.id))) count.right++;
    counts.set(key, count);
  }
  return [...counts]
    .map(([key, { all, said, right }]) => {
      const spoken = `something is offered or loaded for ${share(said / all)} of ${all}`;
      return `${key}: ${spoken}${right > 0 ? `, with a right one ${share(right / said)}` : ""}`;
    })
    .join("\n");
}

try {
  main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
