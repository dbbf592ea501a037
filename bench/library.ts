import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { IndexItem } from "../src/search/entry.ts";
import { find } from "../src/search/find.ts";
import { openIndexFiles } from "../src/search/library-index.ts";
import { seeded } from "../test/helpers/history.ts";
import { atMost, type Figure, inTempFolder, median } from "./measure.ts";
import { filed } from "./retrieval-data.ts";

const size = 20_000;

/** What it costs to build, open, search and change the index of a library of 20,000 skills on disk. */
export async function library(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const { skills, prompts, from } = aLibrary();
    const files = openIndexFiles(join(folder, "snapshot"));
    const built = time(() => files.update(skills));
    const opened = median(
      Array.from({ length: 21 }, () => time(() => files.read(({ size: entries }) => entries))),
    );
    const options = { project: "p", context: [] };
    // As in a process that has it open: the first ones warm up.
    const times = files.read((index) => {
      for (const prompt of prompts.slice(0, 100)) find(index, prompt, options);
      return prompts.map((prompt) => time(() => find(index, prompt, options))).sort((a, b) => a - b);
    });
    const at = (share: number) => times?.[Math.floor(share * (times.length - 1))] ?? Number.NaN;
    const added = median(
      skills.slice(0, 15).map((one, n) => {
        const changed = skills.with(n, { ...one, mark: `again ${n}` });
        return time(() => files.update(changed));
      }),
    );
    console.log(
      `  ${skills.length} skills (${from}), ${prompts.length} prompts: median ${at(0.5).toFixed(1)} ms`,
    );
    return [
      atMost(`building the index of ${size} skills`, built / 1_000, 20, " s"),
      atMost("opening the index", opened, 50, " ms"),
      atMost("a search in the index, p95", at(0.95), 10, " ms"),
      atMost("adding one skill to the index", added, 50, " ms"),
    ];
  });
}

/** Real skills and prompts, or made-up ones. */
export function aLibrary(): Library {
  return readBenchmark() ?? madeUp();
}

interface Library {
  readonly skills: readonly IndexItem[];
  readonly prompts: readonly string[];
  readonly from: string;
}

/** Real skills and prompts, where the evaluation folder has them. */
function readBenchmark(): Library | null {
  const folder = join(process.env.KNACK_EVAL_DIR ?? "", "retrieval-bench");
  if (!process.env.KNACK_EVAL_DIR || !existsSync(folder)) return null;
  const lines = (text: string) =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const skills = lines(gunzipSync(readFileSync(join(folder, "skills.jsonl.gz"))).toString("utf8"));
  const queries = lines(readFileSync(join(folder, "queries.dev.jsonl"), "utf8"));
  return {
    skills: skills
      .slice(0, size)
      .map(({ id, name, description, body }) => skillOf(id, name, description, body)),
    prompts: queries.map(({ query }) => query),
    from: "of KNACK_EVAL_DIR",
  };
}

/** Words as texts have them: a few everywhere, most hardly anywhere. */
function madeUp(): Library {
  const next = seeded(5);
  const word = () => `w${Math.floor(60_000 ** next()).toString(36)}`;
  const words = (count: number) => Array.from({ length: count }, word).join(" ");
  return {
    skills: Array.from({ length: size }, (_, n) => skillOf(`s${n}`, `skill-${n}`, words(40), words(450))),
    prompts: Array.from({ length: 500 }, (_, n) => words(n % 20 === 0 ? 800 : 20)),
    from: "made up",
  };
}

function skillOf(id: string, name: string, description: string, body: string): IndexItem {
  return filed({ id, name, description, when: "", tags: [], body, prompts: [] });
}

/** CPU time: other programs on the machine must not count. */
function time(work: () => unknown): number {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}
