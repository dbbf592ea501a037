import { spawnSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isInsideFolder, listFilesBelow, readPlainFile, readPlainText } from "../../src/base/index.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A repository, and a folder beside it that is none of its business. */
function places() {
  const folder = tempFolder();
  const [root, outside] = [join(folder, "repository"), join(folder, "outside")];
  for (const one of [root, outside]) mkdirSync(one);
  writeFileSync(join(outside, "secret"), "secret");
  writeFileSync(join(root, "own"), "own words");
  return { root, outside, file: join(root, "file") };
}

type Places = ReturnType<typeof places>;

function listen(path: string): void {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
}

describe("A file of a repository", () => {
  test.each<[string, (at: Places) => void, string]>([
    ["an endless device", ({ file }) => symlinkSync("/dev/zero", file), "LEADS_OUT"],
    ["a pipe", ({ file }) => void spawnSync("mkfifo", [file]), "NOT_PLAIN"],
    ["a socket", ({ file }) => listen(file), "NOT_PLAIN"],
    ["a folder", ({ file }) => mkdirSync(file), "NOT_PLAIN"],
    ["a link out", ({ file, outside }) => symlinkSync(join(outside, "secret"), file), "LEADS_OUT"],
    ["a relative link out", ({ file }) => symlinkSync("../outside/secret", file), "LEADS_OUT"],
    [
      "a link to a link out",
      ({ file, root, outside }) => {
        symlinkSync(join(outside, "secret"), join(root, "between"));
        symlinkSync("between", file);
      },
      "LEADS_OUT",
    ],
    ["a link in a circle", ({ file }) => symlinkSync("file", file), "ELOOP"],
    ["a link to nothing", ({ file }) => symlinkSync("nothing", file), "ENOENT"],
    [
      "longer than the limit",
      ({ file }) => {
        writeFileSync(file, "");
        truncateSync(file, 8 * 2 ** 30);
      },
      "TOO_LARGE",
    ],
  ])("that is %s is not read", (_, make, code) => {
    const at = places();
    make(at);
    expect(() => readPlainFile(at.file, { within: at.root, maxBytes: 100 })).toThrow(
      expect.objectContaining({ code }),
    );
    expect(readPlainText(at.file, { within: at.root, maxBytes: 100 })).toBeNull();
  });

  test("in a folder that is a link out is not read", () => {
    const { root, outside } = places();
    symlinkSync(outside, join(root, "docs"));
    expect(() => readPlainFile(join(root, "docs/secret"), { within: root })).toThrow("a link leads out of");
  });

  test("with a name that is too long is not read", () => {
    const { root } = places();
    expect(readPlainText(join(root, "x".repeat(5_000)), { within: root })).toBeNull();
  });

  test.each<[string, (at: Places) => void, string]>([
    ["plain", ({ file }) => writeFileSync(file, "own words"), "own words"],
    ["empty", ({ file }) => writeFileSync(file, ""), ""],
    ["a link within it", ({ file }) => symlinkSync("own", file), "own words"],
    ["a hard link", ({ file, root }) => linkSync(join(root, "own"), file), "own words"],
    ["as long as the limit", ({ file }) => writeFileSync(file, "x".repeat(100)), "x".repeat(100)],
  ])("that is %s is read", (_, make, text) => {
    const at = places();
    make(at);
    expect(readPlainFile(at.file, { within: at.root, maxBytes: 100 }).toString()).toBe(text);
  });

  test("is cut where only its beginning is wanted", () => {
    const { root, file } = places();
    writeFileSync(file, "x".repeat(1_000));
    expect(readPlainText(file, { within: root, maxBytes: 10, cut: true })).toBe("xxxxxxxxxx");
  });

  test("is read where the repository itself is a link", () => {
    const { root, outside } = places();
    symlinkSync(root, join(outside, "checkout"));
    expect(readPlainText(join(outside, "checkout/own"), { within: join(outside, "checkout") })).toBe(
      "own words",
    );
  });
});

describe("A person's own file", () => {
  test("may be a link to anywhere, though not to a device", () => {
    const { outside, file } = places();
    symlinkSync(join(outside, "secret"), file);
    expect(readPlainText(file)).toBe("secret");
    expect(() => readPlainFile("/dev/zero")).toThrow("it is not a plain file");
  });
});

test("A path that does not exist yet is inside where its folder is, and a link to nothing is not", () => {
  const { root, outside } = places();
  symlinkSync(join(outside, "nothing"), join(root, "link"));
  symlinkSync(outside, join(root, "docs"));
  symlinkSync("circle", join(root, "circle"));
  const names = ["new", "a/b/new", "link", "docs", "docs/new", "circle", "circle/new", "../outside"];
  expect(names.filter((name) => isInsideFolder(join(root, name), root))).toEqual(["new", "a/b/new"]);
});

test("Files below a folder are listed though one folder cannot be read and links go in circles", () => {
  const { root } = places();
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "a/b/c"), "");
  symlinkSync("..", join(root, "a/up"));
  spawnSync("mkfifo", [join(root, "a/pipe")]);
  const problems: string[] = [];
  expect(listFilesBelow(root, (path) => problems.push(path))).toEqual(["a/b/c", "own"]);
  expect(listFilesBelow(join(root, "own"), (path) => problems.push(path))).toEqual([]);
  expect(problems).toEqual([join(root, "own")]);
});

/**
 * Files that open something without `readPlainFile`. All of it is Knack's own and in its home, which is one person's;
 * or a path that a person typed at this moment (`review take <file>`, a diff against `export -o`, an edited text); or a
 * file of a loop's state folder that was just seen to be a plain one.
 */
const readingAnyway = [
  "cli/commands/exchange.ts",
  "cli/commands/review.ts",
  "cli/loop/loop.ts",
  "cli/screen/keep.ts",
  "cli/team/team.ts",
  "hook/hook.ts",
  "hook/session.ts",
  "hook/start.ts",
  "library/catalog/stock.ts",
  "library/files/packages.ts",
  "loop/state/digest.ts",
  "recall/snapshot.ts",
  "search/library-index.ts",
  "spool/offers.ts",
  "spool/spool.ts",
  "spool/verdicts.ts",
  "web/app.ts",
  "web/export.ts",
  "worker/inbox.ts",
];

test("No file of the source but these reads without looking at what it opens", () => {
  const src = join(import.meta.dirname, "../../src");
  const reading = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (name) =>
      name.endsWith(".ts") &&
      !name.startsWith("base/") &&
      /\b(?:readFileSync|createReadStream|openSync)\(|await readFile\(/.test(
        readFileSync(join(src, name), "utf8"),
      ),
  );
  expect(reading.sort()).toEqual(readingAnyway);
});
