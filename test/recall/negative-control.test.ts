import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { findToldCalls, findUsage, type ShownItem } from "../../src/recall/usage.ts";
import { claudeCode } from "../../src/transcripts/readers/claude-code.ts";
import { codex } from "../../src/transcripts/readers/codex.ts";
import { seeded } from "../helpers/history.ts";
import { readAll } from "../helpers/lines.ts";

const evaluation = process.env.KNACK_EVAL_DIR ?? "";
const library = join(evaluation, "retrieval-bench/skills.jsonl.gz");
const isThere = evaluation !== "" && existsSync(library) && existsSync(join(evaluation, "sessions"));

/** Skills put before each session; all of them at its first moment, where each has the best chance to be followed. */
const skillsEach = process.env.KNACK_TEST_ALL === "1" ? 200 : 50;
/** Every so many of the library's skills is taken. */
const step = 8;

describe.skipIf(!isThere)(
  "the negative control: real sessions, and skills that have nothing to do with them",
  () => {
    test("hardly one in a thousand is credited, and none is judged to have done harm", () => {
      const skills = gunzipSync(readFileSync(library))
        .toString()
        .split("\n")
        .filter((line, n) => line !== "" && n % step === 0)
        .map((line) => JSON.parse(line) as { name: string; body: string })
        .filter(({ body }) => findToldCalls(body).length > 0);
      const random = seeded(5);
      let [pairs, credited, harmful] = [0, 0, 0];
      for (const reader of [claudeCode, codex])
        for (const path of transcripts(join(evaluation, "sessions", reader.format))) {
          const events = readAll(reader, recordsOf(path));
          const at = events.find((event) => event.at !== null)?.at ?? null;
          if (at === null || !events.some(({ command }) => command !== null)) continue;
          const tellings = Array.from({ length: skillsEach }, (_, n): ShownItem => {
            const { name, body } = skills[Math.floor(random() * skills.length)] as (typeof skills)[number];
            return { kind: "skill", id: `k${n}`, name, occasion: "prompt", text: body, call: null, at };
          });
          const found = findUsage(events, { project: null, items: [], tellings, isFamiliar: () => false });
          pairs += skillsEach;
          credited += found.length;
          harmful += found.filter(({ rating }) => rating?.verdict === "harmful").length;
        }
      expect(pairs).toBeGreaterThan(5_000);
      expect(credited / pairs).toBeLessThan(0.001);
      expect(harmful / pairs).toBeLessThan(0.0001);
    });
  },
);

function transcripts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

function recordsOf(path: string): unknown[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return line === "" ? [] : [JSON.parse(line)];
      } catch {
        // The last line of a live file may be cut.
        return [];
      }
    });
}
