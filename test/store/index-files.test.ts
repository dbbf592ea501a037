import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { fields, type Index } from "../../src/core/search/entry.ts";
import { type Filed, indexOver } from "../../src/core/search/segment.ts";
import { tokensOf } from "../../src/core/search/tokens.ts";
import { compact, put, reindex } from "../../src/engine/reindex.ts";
import { indexFilesIn, indexInMemory } from "../../src/store/index-files.ts";
import { root } from "../helpers/knack.ts";
import { indexOf } from "../helpers/memory-index.ts";
import { runs } from "../helpers/runs.ts";
import { tempFolder } from "../helpers/temp.ts";
import { filed } from "./indexing.ts";

/** Everything that an index says, in words that do not depend on how it numbers its entries. */
function told(index: Index, terms: Iterable<string>): unknown {
  const entry = (n: number) => {
    const { id, name, reading } = index.card(n);
    const lengths = [...index.lengths().subarray(n * fields.length, (n + 1) * fields.length)];
    return JSON.stringify([id, name, reading, index.realm(n), lengths]);
  };
  const postings = [...new Set(terms)].sort().map((term) => {
    const found = index.postings(term);
    if (found === null) return [term, null];
    const places = Array.from({ length: found.size }, (_, n) => [
      entry(found.entries[n] as number),
      found.masks[n],
      [...found.counts.subarray(n * fields.length, (n + 1) * fields.length)].join(),
    ]);
    return [term, places.sort()];
  });
  return { size: index.size, totals: index.totals, postings };
}

const inMemory = (all: readonly Filed[]): Index =>
  indexOf(all.map(({ entry, card }) => ({ entry, realm: card.realm, load: card.load, uses: card.uses })));
const onDisk = (folder: string, terms: Iterable<string>) =>
  indexFilesIn(folder).look((parts) => told(indexOver(parts), terms));
/** Puts a folder with something in it where a file was. */
function makeFolder(path: string): void {
  rmSync(path);
  mkdirSync(join(path, "within"), { recursive: true });
}

const termsOf = (all: readonly Filed[]) =>
  all.flatMap(({ entry }) => tokensOf(`${entry.name} ${entry.description} ${entry.body} absent`));

describe("the index of the library on disk", () => {
  const name = fc.constantFrom(..."abcdefghijklmnop");
  const text = fc.array(fc.constantFrom("deploy", "release", "notes", "测试", "docker", "a"), {
    maxLength: 12,
  });
  const step = fc.oneof(
    fc.record({ do: fc.constant("put" as const), some: fc.array(fc.tuple(name, text), { maxLength: 4 }) }),
    fc.record({ do: fc.constant("remove" as const), some: fc.array(name, { maxLength: 3 }) }),
    fc.record({ do: fc.constant("compact" as const) }),
  );

  test("says the same as one in memory, whatever was added, replaced and taken out before", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const folder = join(tempFolder(), "snapshot");
        const files = indexFilesIn(folder);
        const truth = new Map<string, Filed>();
        for (const one of steps) {
          if (one.do === "compact") compact(files);
          else if (one.do === "remove") {
            put(files, [], one.some);
            for (const id of one.some) truth.delete(id);
          } else {
            const some = new Map(one.some.map(([id, words]) => [id, filed(id, words.join(" "))]));
            put(files, [...some.values()]);
            for (const [id, entry] of some) truth.set(id, entry);
          }
        }
        const all = [...truth.values()];
        const expected = told(inMemory(all), termsOf(all));
        expect(onDisk(folder, termsOf(all)) ?? told(inMemory([]), [])).toEqual(expected);
        reindex(files, all);
        expect(onDisk(folder, termsOf(all))).toEqual(expected);
        const unwritten = indexInMemory();
        reindex(unwritten, all);
        expect(unwritten.look((parts) => told(indexOver(parts), termsOf(all)))).toEqual(expected);
      }),
      { numRuns: runs(60) },
    );
  });

  test("holds what is wanted, and what nobody could look at stays", () => {
    const folder = tempFolder();
    const files = indexFilesIn(folder);
    const all = ["a", "b", "c", "d"].map((id) => filed(id));
    expect(reindex(files, all)).toEqual({ added: 4, removed: 0, rebuilt: true });
    expect(reindex(files, all)).toEqual({ added: 0, removed: 0, rebuilt: false });
    const some = [filed("a"), filed("b", "another text")];
    expect(reindex(files, some, (id) => id === "c")).toEqual({ added: 1, removed: 1, rebuilt: false });
    const ids = files.look((parts) => {
      const index = indexOver(parts);
      const found = index.postings(tokensOf("asks")[0] ?? "");
      return Array.from({ length: found?.size ?? 0 }, (_, n) => index.card(found?.entries[n] as number).id);
    });
    expect(ids?.sort()).toEqual(["a", "b", "c"]);
  });

  test("keeps the number of segments small however it grows", () => {
    const files = indexFilesIn(tempFolder());
    for (let n = 0; n < 200; n++) {
      put(files, [filed(`s${n}`)]);
      compact(files);
    }
    expect(files.look((parts) => parts.length)).toBeLessThan(6);
    expect(files.look((parts) => indexOver(parts).size)).toBe(200);
  });

  it.each<[string, (path: string) => void]>([
    ["cut short", (path) => truncateSync(path, 100)],
    ["emptied", (path) => truncateSync(path, 0)],
    ["overwritten", (path) => writeFileSync(path, readFileSync(path).fill(0x20))],
    ["made a folder", (path) => makeFolder(path)],
  ])("is made anew where a segment was %s", (_, harm) => {
    const folder = tempFolder();
    const files = indexFilesIn(folder);
    const all = ["a", "b", "c"].map((id) => filed(id));
    reindex(files, all);
    const [segment = ""] = readdirSync(folder).filter((file) => file.startsWith("library-"));
    harm(join(folder, segment));
    expect(() => onDisk(folder, termsOf(all))).toThrow();
    expect(reindex(files, all).rebuilt).toBe(true);
    expect(onDisk(folder, termsOf(all))).toEqual(told(inMemory(all), termsOf(all)));
  });

  it.each([
    "library.json is no JSON",
    "",
    "null",
    "{}",
    '{"version":1}',
    '{"version":0,"parts":[]}',
    '{"version":1,"parts":[{"file":5}]}',
    null,
  ])("is made anew from: %s", (list) => {
    const folder = tempFolder();
    const files = indexFilesIn(folder);
    reindex(files, [filed("a")]);
    if (list === null) makeFolder(join(folder, "library.json"));
    else writeFileSync(join(folder, "library.json"), list);
    files.sweep(Date.now());
    expect(reindex(files, [filed("a")]).rebuilt).toBe(true);
    expect(files.look((parts) => indexOver(parts).size)).toBe(1);
  });

  test("is made anew where somebody has met damage within it", () => {
    const files = indexFilesIn(tempFolder());
    reindex(files, [filed("a")]);
    files.condemn();
    expect(reindex(files, [filed("a")]).rebuilt).toBe(true);
    expect(files.isCondemned()).toBe(false);
    expect(reindex(files, [filed("a")]).rebuilt).toBe(false);
  });

  test("leaves no segment behind that does not count, after a while", () => {
    const folder = tempFolder();
    const files = indexFilesIn(folder);
    for (let n = 0; n < 5; n++) reindex(files, [filed("a", `revision ${n}`)]);
    const segments = () => readdirSync(folder).filter((file) => file.startsWith("library-"));
    expect(segments()).toHaveLength(5);
    files.sweep(Date.now());
    expect(segments()).toHaveLength(5);
    for (const file of segments()) utimesSync(join(folder, file), 0, 0);
    files.sweep(Date.now());
    expect(segments()).toHaveLength(1);
    expect(files.look((parts) => indexOver(parts).size)).toBe(1);
  });

  test("is whole after its writer was killed at any point, also beside another", async () => {
    const temp = tempFolder();
    const program = join(temp, "program.mjs");
    await build({
      entryPoints: [join(root, "test/store/indexing.ts")],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    const folder = join(temp, "snapshot");
    const files = indexFilesIn(folder);
    for (let round = 0; round < 10; round++) {
      const writers = Array.from({ length: 1 + (round % 2) }, () =>
        spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] }),
      );
      await Promise.all(writers.map((writer) => once(writer.stdout, "data")));
      await new Promise((done) => setTimeout(done, 11 * round));
      for (const writer of writers) writer.kill("SIGKILL");
      await Promise.all(writers.map((writer) => once(writer, "close")));
      const found = files.look((parts) => {
        const index = indexOver(parts);
        const postings = index.postings(tokensOf("revision")[0] ?? "");
        const ids = Array.from(
          { length: postings?.size ?? 0 },
          (_, n) => index.card(postings?.entries[n] as number).id,
        );
        return { size: index.size, ids };
      });
      expect(found?.ids.length, `round ${round}`).toBe(found?.size);
      expect(new Set(found?.ids).size).toBe(found?.size);
    }
    const all = Array.from({ length: 40 }, (_, n) => filed(`s${n}`));
    reindex(files, all);
    expect(onDisk(folder, termsOf(all))).toEqual(told(inMemory(all), termsOf(all)));
  });
});
