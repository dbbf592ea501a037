import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { fields, type IndexItem } from "../../src/search/entry.ts";
import { type LibraryIndex, openIndexFiles } from "../../src/search/library-index.ts";
import { tokenize } from "../../src/text/tokens.ts";
import { root } from "../helpers/knack.ts";
import { indexOf } from "../helpers/memory-index.ts";
import { runs } from "../helpers/runs.ts";
import { tempFolder } from "../helpers/temp.ts";
import { filed } from "./indexing.ts";

/** Everything that an index says, in words that do not depend on how it numbers its entries. */
function told(index: LibraryIndex, terms: Iterable<string>): unknown {
  const entry = (n: number) => {
    const { id, name, reading } = index.card(n);
    const lengths = [...index.lengths().subarray(n * fields.length, (n + 1) * fields.length)];
    return JSON.stringify([id, name, reading, index.scopeId(n), lengths]);
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

const inMemory = (all: readonly IndexItem[]): LibraryIndex =>
  indexOf(all.map(({ entry, card }) => ({ entry, scopeId: card.scopeId, load: card.load, uses: card.uses })));
const saysOf = (files: ReturnType<typeof openIndexFiles>, terms: Iterable<string>) =>
  files.read((index) => told(index, terms));
/** Puts a folder with something in it where a file was. */
function makeFolder(path: string): void {
  rmSync(path);
  mkdirSync(join(path, "within"), { recursive: true });
}

const termsOf = (all: readonly IndexItem[]) =>
  all.flatMap(({ entry }) => tokenize(`${entry.name} ${entry.description} ${entry.body} absent`));

describe("the index of the library", () => {
  const item = fc
    .tuple(
      fc.constantFrom(..."abcdefghijklmnop"),
      fc.array(fc.constantFrom("deploy", "release", "notes", "测试", "docker", "a"), { maxLength: 12 }),
      fc.constantFrom("user", "p"),
    )
    .map(([id, words, scopeId]) => filed(id, words.join(" "), scopeId));
  const library = fc.uniqueArray(item, { maxLength: 10, selector: ({ entry }) => entry.id });

  test("says the same as one in memory, whatever was added, replaced and taken out before", () => {
    fc.assert(
      fc.property(fc.array(library, { minLength: 1, maxLength: 6 }), (versions) => {
        for (const files of [openIndexFiles(join(tempFolder(), "snapshot")), openIndexFiles(null)])
          for (const all of versions) {
            files.update(all);
            expect(saysOf(files, termsOf(all))).toEqual(told(inMemory(all), termsOf(all)));
            const mine = all.filter(({ card }) => card.scopeId === "user").length;
            expect(files.read((index) => index.sizeFor(new Set(["user"])))).toBe(mine);
          }
      }),
      { numRuns: runs(60) },
    );
  });

  test("holds what is wanted, and writes nothing where nothing changed", () => {
    const files = openIndexFiles(tempFolder());
    const all = ["a", "b", "c", "d"].map((id) => filed(id));
    expect(files.update(all)).toEqual({ added: 4, removed: 0, rebuilt: true });
    expect(files.update(all)).toEqual({ added: 0, removed: 0, rebuilt: false });
    const some = [filed("a"), filed("b", "another text"), filed("c")];
    expect(files.update(some)).toEqual({ added: 1, removed: 1, rebuilt: false });
    expect(files.read((index) => [...index.cards()].map(({ id }) => id).sort())).toEqual(["a", "b", "c"]);
    expect(files.update(all)).toEqual({ added: 2, removed: 0, rebuilt: false });
  });

  test("writes the main file anew once more than 50 entries have changed, and what changed beside it before", () => {
    const folder = tempFolder();
    const files = openIndexFiles(folder);
    const all = Array.from({ length: 100 }, (_, n) => filed(`s${n}`));
    files.update(all);
    const main = readFileSync(join(folder, "library.index"));
    const changed = (count: number) =>
      all.map((one, n) => (n < count ? filed(one.entry.id, "another") : one));
    files.update(changed(50));
    expect(readFileSync(join(folder, "library.index"))).toEqual(main);
    expect(readdirSync(folder).sort()).toEqual(["library-changes.index", "library.index"]);
    files.update(changed(51));
    expect(readFileSync(join(folder, "library.index"))).not.toEqual(main);
    expect(readdirSync(folder)).toEqual(["library.index"]);
    expect(saysOf(files, termsOf(changed(51)))).toEqual(told(inMemory(changed(51)), termsOf(changed(51))));
  });

  test("ignores changes to another main file than the one that is there", () => {
    const folder = tempFolder();
    const files = openIndexFiles(folder);
    files.update([filed("a"), filed("b")]);
    files.update([filed("a", "another"), filed("b")]);
    const stale = readFileSync(join(folder, "library-changes.index"));
    files.markDamaged();
    files.update([filed("c")]);
    writeFileSync(join(folder, "library-changes.index"), stale);
    expect(files.read((index) => [...index.cards()].map(({ id }) => id))).toEqual(["c"]);
  });

  const harms: [string, (path: string) => void][] = [
    ["cut short", (path) => truncateSync(path, 100)],
    ["emptied", (path) => truncateSync(path, 0)],
    ["overwritten", (path) => writeFileSync(path, readFileSync(path).fill(0x20))],
    ["made a folder", (path) => makeFolder(path)],
  ];
  it.each(
    harms.flatMap(([how, harm]) =>
      ["library.index", "library-changes.index"].map((file) => [how, file, harm] as const),
    ),
  )("is made anew where it was %s: %s", (_, file, harm) => {
    const folder = tempFolder();
    const files = openIndexFiles(folder);
    files.update(["a", "b", "c"].map((id) => filed(id)));
    const all = ["a", "b", "d"].map((id) => filed(id));
    files.update(all);
    harm(join(folder, file));
    expect(files.check()).toMatchObject({ found: "damaged" });
    expect(saysOf(files, termsOf(all))).toBeNull();
    expect(files.update(all).rebuilt).toBe(true);
    expect(saysOf(files, termsOf(all))).toEqual(told(inMemory(all), termsOf(all)));
    expect(files.check()).toEqual({ found: "index", entries: 3 });
  });

  test("is made anew where somebody has met damage within it", () => {
    const files = openIndexFiles(tempFolder());
    files.update([filed("a")]);
    files.markDamaged();
    expect(files.update([filed("a")]).rebuilt).toBe(true);
    expect(files.update([filed("a")]).rebuilt).toBe(false);
  });

  test("is whole after its writer was killed at any point, also beside another", async () => {
    const temp = tempFolder();
    const program = join(temp, "program.mjs");
    await build({
      entryPoints: [join(root, "test/search/indexing.ts")],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    const folder = join(temp, "snapshot");
    const files = openIndexFiles(folder);
    for (let round = 0; round < 10; round++) {
      const writers = Array.from({ length: 1 + (round % 2) }, () =>
        spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] }),
      );
      await Promise.all(writers.map((writer) => once(writer.stdout, "data")));
      await new Promise((done) => setTimeout(done, 11 * round));
      for (const writer of writers) writer.kill("SIGKILL");
      await Promise.all(writers.map((writer) => once(writer, "close")));
      const found = files.read((index) => {
        const postings = index.postings(tokenize("revision")[0] ?? "");
        const ids = Array.from(
          { length: postings?.size ?? 0 },
          (_, n) => index.card(postings?.entries[n] as number).id,
        );
        return { size: index.size, ids };
      });
      expect(found?.size, `round ${round}`).toBe(40);
      expect(new Set(found?.ids).size).toBe(40);
    }
    const all = Array.from({ length: 40 }, (_, n) => filed(`s${n}`));
    files.update(all);
    expect(saysOf(files, termsOf(all))).toEqual(told(inMemory(all), termsOf(all)));
  });
});
