import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { createLibrary, type SkillFolder, type SkillPackage } from "../../src/library/files/packages.ts";
import { seeded } from "../helpers/history.ts";
import { asNobody } from "../helpers/nobody.ts";
import { runs } from "../helpers/runs.ts";
import { tempFolder } from "../helpers/temp.ts";
import { buildProgram, outcome, start } from "./process.ts";
import { type Orders, packageOf } from "./program.ts";

const library = createLibrary();

function newPlace(): SkillFolder {
  const root = tempFolder();
  return { folder: join(root, ".claude", "skills"), root };
}

function handWrite(place: SkillFolder, name: string, text: string, below = ""): string {
  const folder = join(place.folder, below, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), text);
  return folder;
}

const skillText = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: Use when ${name}.\n${more}---\n\nDo it.\n`;

async function skillsIn(place: SkillFolder): Promise<readonly SkillPackage[]> {
  const listing = await library.list(place);
  if (listing.found !== "skills") throw new Error(listing.found);
  return listing.skills;
}

async function written(place: SkillFolder, name: string, revision: string): Promise<string> {
  const now = await library.read(join(place.folder, name));
  const result = await library.write(place, name, packageOf(name, revision), {
    expecting: now?.hash ?? null,
  });
  if (!result.written || result.hash === null) throw new Error("not written");
  return result.hash;
}

const names = (place: SkillFolder) => readdirSync(place.folder).sort();

describe("a listing", () => {
  test("has every package with its owner, and the broken ones beside them", async () => {
    const place = newPlace();
    handWrite(place, "mine", skillText("mine"));
    handWrite(place, "rl-learned", skillText("rl-learned", "metadata:\n  origin: knack\n"));
    handWrite(place, "got", skillText("got", "metadata:\n  origin: import\n"));
    handWrite(place, "plan", skillText("plan"), ".system");
    handWrite(place, "extra-keys", skillText("extra-keys", "argument-hint: x\n"));
    handWrite(place, "broken", "---\nname: broken\ndescription: a: b\n---\n");
    handWrite(place, "bare", "no front matter");
    mkdirSync(join(place.folder, "no-skill"));
    writeFileSync(join(place.folder, "README.md"), "");
    const listing = await library.list(place);
    if (listing.found !== "skills") throw new Error(listing.found);
    expect(listing.skills.map(({ name, owner }) => [name, owner])).toEqual([
      ["extra-keys", "hand-written"],
      ["got", "imported"],
      ["mine", "hand-written"],
      ["plan", "core"],
      ["rl-learned", "learned"],
    ]);
    expect(listing.skills[0]?.problems.map(({ code }) => code)).toEqual(["key-unknown"]);
    expect(listing.skills[2]).toMatchObject({
      description: "Use when mine.",
      path: join(place.folder, "mine"),
      text: skillText("mine"),
    });
    expect(listing.broken.map(({ name, unreadable }) => [name, unreadable])).toEqual([
      ["bare", false],
      ["broken", false],
    ]);
  });

  test("tells a folder that is missing from one that cannot be read", async () => {
    const place = newPlace();
    expect(await library.list(place)).toEqual({ found: "missing" });
    mkdirSync(join(place.root, ".claude"));
    writeFileSync(place.folder, "a file");
    expect(await library.list(place)).toMatchObject({ found: "unreadable" });
  });

  test("tells of a package that is a link in a circle, instead of leaving it out", async () => {
    const place = newPlace();
    mkdirSync(place.folder, { recursive: true });
    symlinkSync("mine", join(place.folder, "mine"));
    expect(await library.list(place)).toMatchObject({
      skills: [],
      broken: [{ name: "mine", unreadable: false }],
    });
  });

  test("reads packages that are links, as installers make them", async () => {
    const place = newPlace();
    const elsewhere: SkillFolder = { folder: join(place.root, ".agents", "skills"), root: place.root };
    handWrite(elsewhere, "mine", skillText("mine"));
    mkdirSync(place.folder, { recursive: true });
    symlinkSync(join(elsewhere.folder, "mine"), join(place.folder, "mine"));
    symlinkSync(join(place.root, "nowhere"), join(place.folder, "gone"));
    expect((await skillsIn(place)).map(({ name, hash }) => [name, hash])).toEqual(
      (await skillsIn(elsewhere)).map(({ name, hash }) => [name, hash]),
    );
  });

  test("has a hash that any change of paths, bytes or the right to run changes", async () => {
    const place = newPlace();
    const folder = handWrite(place, "mine", skillText("mine"));
    const hash = async () => (await skillsIn(place))[0]?.hash;
    const seen = [await hash()];
    writeFileSync(join(folder, "a"), "b");
    seen.push(await hash());
    renameSync(join(folder, "a"), join(folder, "ab"));
    seen.push(await hash());
    writeFileSync(join(folder, "ab"), "");
    seen.push(await hash());
    chmodSync(join(folder, "ab"), 0o755);
    seen.push(await hash());
    expect(new Set(seen).size).toBe(5);
    chmodSync(join(folder, "ab"), 0o700);
    expect(await hash()).toBe(seen[4]);
  });
});

test("a folder is weighed to its last file, empty folders too", async () => {
  const folder = tempFolder();
  for (let n = 0; n < 60; n++) {
    mkdirSync(join(folder, `d${n % 3}`, `e${n}`), { recursive: true });
    if (n < 50) writeFileSync(join(folder, `d${n % 3}`, `e${n}`, "f"), "xx");
  }
  expect(await library.measureFolder(folder, { files: 1_000, bytes: 1_000 })).toEqual({
    files: 113,
    bytes: 100,
  });
  expect((await library.measureFolder(folder, { files: 10, bytes: 1_000 })).files).toBe(11);
  expect(await library.measureFolder(join(folder, "none"), { files: 1, bytes: 1 })).toEqual({
    files: 0,
    bytes: 0,
  });
});

test("a folder that is no skill is not read, whatever is in it", async () => {
  const place = newPlace();
  handWrite(place, "mine", skillText("mine"));
  const folder = join(place.folder, "data");
  mkdirSync(folder);
  // A file that takes no room and is more than can be read at once.
  closeSync(openSync(join(folder, "huge"), "w"));
  truncateSync(join(folder, "huge"), 3_000_000_000);
  expect(await library.list(place)).toMatchObject({ skills: [{ name: "mine" }], broken: [] });
});

describe("a package", () => {
  test("is written, replaced and removed, with its files and modes", async () => {
    const place = newPlace();
    const first = await written(place, "rl-x", "one");
    const folder = join(place.folder, "rl-x");
    expect(await library.read(folder)).toMatchObject({ hash: first });
    expect((await library.read(folder))?.files.map(({ path, mode }) => [path, mode])).toEqual(
      packageOf("rl-x", "one")
        .map(({ path, mode }) => [path, mode])
        .sort(),
    );
    const second = await written(place, "rl-x", "two");
    expect(second).not.toBe(first);
    expect(readFileSync(join(folder, "references/more.md"), "utf8")).toBe("two");
    expect(names(place)).toEqual(["rl-x"]);
    expect(await library.remove(place, "rl-x", { expecting: second })).toEqual({ written: true, hash: null });
    expect(names(place)).toEqual([]);
    expect(await library.read(folder)).toBeNull();
  });

  test("is left alone when it is not what the caller knew", async () => {
    const place = newPlace();
    const hash = await written(place, "rl-x", "one");
    const files = packageOf("rl-x", "two");
    expect(await library.write(place, "rl-x", files, { expecting: null })).toEqual({
      written: false,
      because: "changed",
      found: hash,
    });
    expect(
      await library.write(
        place,
        "rl-y",
        files.map((file) => file),
        { expecting: hash },
      ),
    ).toEqual({ written: false, because: "changed", found: null });
    writeFileSync(join(place.folder, "rl-x", "note"), "by hand");
    expect(await library.write(place, "rl-x", files, { expecting: hash })).toMatchObject({
      because: "changed",
    });
    expect(await library.remove(place, "rl-x", { expecting: hash })).toMatchObject({ because: "changed" });
    expect(readFileSync(join(place.folder, "rl-x", "note"), "utf8")).toBe("by hand");
    expect(names(place)).toEqual(["rl-x"]);
  });

  it.each(["..", "../x", "a/b", "", ".knack-aside-x", "A", "a".repeat(65)])(
    "cannot be called %j",
    async (name) => {
      const place = newPlace();
      await expect(
        library.write(place, name, packageOf("x", "one"), { expecting: null }),
      ).rejects.toMatchObject({ code: "BAD_PACKAGE" });
      await expect(library.remove(place, name, { expecting: "" })).rejects.toMatchObject({
        code: "BAD_PACKAGE",
      });
      expect(existsSync(place.folder)).toBe(false);
    },
  );

  it.each(["../x", "/etc/x", "a/../../x", "a\\b", "skill.md"])(
    "cannot hold a file called %j",
    async (path) => {
      const place = newPlace();
      const files = [...packageOf("x", "one"), { path, bytes: Buffer.from(""), mode: 0o644 }];
      await expect(library.write(place, "x", files, { expecting: null })).rejects.toMatchObject({
        code: "BAD_PACKAGE",
      });
      await expect(library.write(place, "x", files.slice(1), { expecting: null })).rejects.toMatchObject({
        code: "BAD_PACKAGE",
      });
      expect(existsSync(place.folder)).toBe(false);
    },
  );

  test("is not written through links", async () => {
    const [place, outside] = [newPlace(), tempFolder()];
    mkdirSync(join(place.root, ".claude"));
    symlinkSync(outside, place.folder);
    const write = () => library.write(place, "rl-x", packageOf("rl-x", "one"), { expecting: null });
    expect(await write()).toEqual({ written: false, because: "outside", found: null });
    expect(await library.repair(place)).toEqual([]);
    expect(readdirSync(outside)).toEqual([]);

    const other = newPlace();
    mkdirSync(other.folder, { recursive: true });
    symlinkSync(outside, join(other.folder, "rl-x"));
    expect(await library.write(other, "rl-x", packageOf("rl-x", "one"), { expecting: null })).toMatchObject({
      because: "link",
    });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("that holds a link is neither replaced nor removed, because a copy would lose it", async () => {
    const place = newPlace();
    await written(place, "rl-x", "one");
    symlinkSync("/etc", join(place.folder, "rl-x", "etc"));
    const [found] = await skillsIn(place);
    const expecting = found?.hash ?? "";
    expect(await library.remove(place, "rl-x", { expecting })).toMatchObject({ because: "link" });
    expect(lstatSync(join(place.folder, "rl-x", "etc")).isSymbolicLink()).toBe(true);
  });

  test("is written into a place that is a link within its root, as with dotfiles", async () => {
    const place = newPlace();
    mkdirSync(join(place.root, "dotfiles/skills"), { recursive: true });
    mkdirSync(join(place.root, ".claude"));
    symlinkSync(join(place.root, "dotfiles/skills"), place.folder);
    await written(place, "rl-x", "one");
    expect(readdirSync(join(place.root, "dotfiles/skills"))).toEqual(["rl-x"]);
  });
});

describe("a process killed while it", () => {
  const gone = 999_999_999;
  const stage = async (place: SkillFolder, revision: string) => {
    const folder = join(place.folder, `.knack-work-${gone}-abc`);
    await library.write({ folder, root: place.root }, "new", packageOf("new", revision), { expecting: null });
  };

  test("wrote a new package leaves nothing", async () => {
    const place = newPlace();
    await stage(place, "one");
    expect(await skillsIn(place)).toEqual([]);
    expect(await library.repair(place)).toEqual([]);
    expect(names(place)).toEqual([]);
  });

  test("had moved the old package aside brings it back", async () => {
    const place = newPlace();
    const hash = await written(place, "rl-x", "one");
    await stage(place, "two");
    renameSync(join(place.folder, "rl-x"), join(place.folder, ".knack-aside-rl-x"));
    expect((await skillsIn(place)).map(({ name, hash }) => [name, hash])).toEqual([["rl-x", hash]]);
    expect(await library.repair(place)).toEqual(["rl-x"]);
    expect(names(place)).toEqual(["rl-x"]);
    expect((await skillsIn(place))[0]?.hash).toBe(hash);
  });

  test("had moved the new package in keeps that one", async () => {
    const place = newPlace();
    await written(place, "rl-x", "one");
    renameSync(join(place.folder, "rl-x"), join(place.folder, ".knack-aside-rl-x"));
    const hash = await (async () => {
      const other = newPlace();
      const hash = await written(other, "rl-x", "two");
      renameSync(join(other.folder, "rl-x"), join(place.folder, "rl-x"));
      return hash;
    })();
    expect((await skillsIn(place)).map(({ hash }) => hash)).toEqual([hash]);
    expect(await library.repair(place)).toEqual([]);
    expect(names(place)).toEqual(["rl-x"]);
    expect((await skillsIn(place))[0]?.hash).toBe(hash);
  });

  test("was removing the old package leaves the new one and nothing else", async () => {
    const place = newPlace();
    await written(place, "rl-x", "two");
    mkdirSync(join(place.folder, `.knack-work-${gone}-abc/old/references`), { recursive: true });
    expect(await library.repair(place)).toEqual([]);
    expect(names(place)).toEqual(["rl-x"]);
  });

  test("does not stop the next write, which settles it first", async () => {
    const place = newPlace();
    const hash = await written(place, "rl-x", "one");
    renameSync(join(place.folder, "rl-x"), join(place.folder, ".knack-aside-rl-x"));
    const files = packageOf("rl-x", "two");
    expect(await library.write(place, "rl-x", files, { expecting: null })).toMatchObject({
      because: "changed",
      found: hash,
    });
    renameSync(join(place.folder, "rl-x"), join(place.folder, ".knack-aside-rl-x"));
    expect(await library.write(place, "rl-x", files, { expecting: hash })).toMatchObject({ written: true });
    expect(names(place)).toEqual(["rl-x"]);
  });

  test("left what refuses to be removed does not stop the next write either", async () => {
    const place = newPlace();
    const stuck = join(place.folder, ".knack-work-999999999-stuck/old/assets");
    mkdirSync(stuck, { recursive: true });
    writeFileSync(join(stuck, "theirs"), "");
    chmodSync(stuck, 0o500);
    await asNobody(place.root, async () => {
      await library.repair(place);
      await written(place, "rl-a", "one");
    }).finally(() => chmodSync(stuck, 0o700));
    expect(readFileSync(join(place.folder, "rl-a/SKILL.md"), "utf8")).toContain("one");
  });

  test("does not touch the work of a process that lives", async () => {
    const place = newPlace();
    mkdirSync(join(place.folder, `.knack-work-${process.pid}-abc`), { recursive: true });
    await library.repair(place);
    expect(names(place)).toEqual([`.knack-work-${process.pid}-abc`]);
  });

  test("replaced a package on and on leaves a whole one, each time", async () => {
    const [place, program] = [newPlace(), await buildProgram(tempFolder())];
    const random = seeded(3);
    await written(place, "rl-x", "first");
    for (let round = 0; round < runs(32); round++) {
      const orders: Orders = { do: "replace-on-and-on", place, name: "rl-x" };
      const child = start(program, orders);
      await new Promise((begun) => child.stdout?.once("data", begun));
      await new Promise((enough) => setTimeout(enough, random() * 30));
      const ended = outcome(child);
      child.kill("SIGKILL");
      await ended;
      const [before] = await skillsIn(place);
      expect(before?.name).toBe("rl-x");
      await library.repair(place);
      expect(names(place)).toEqual(["rl-x"]);
      const files = (await library.read(join(place.folder, "rl-x")))?.files ?? [];
      const revision = Buffer.from(
        files.find(({ path }) => path === "references/more.md")?.bytes ?? [],
      ).toString();
      expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual(
        packageOf("rl-x", revision)
          .map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])
          .sort(),
      );
    }
  });
});

describe("several processes", () => {
  const race = async (program: string, place: SkillFolder, expecting: string | null) => {
    const at = Date.now() + 400;
    const answers = await Promise.all(
      [1, 2, 3, 4].map((writer) => {
        const orders: Orders = {
          do: "write",
          place,
          name: "rl-x",
          revision: `writer ${writer} ${at}`,
          at,
          expecting,
        };
        return outcome(start(program, orders));
      }),
    );
    return answers.map(
      (answer) => JSON.parse(answer) as { written: boolean; because?: string; hash?: string },
    );
  };

  test("that write one name at once: one succeeds, the others are told that it changed", async () => {
    const [place, program] = [newPlace(), await buildProgram(tempFolder())];
    let expecting: string | null = null;
    for (let round = 0; round < runs(12); round++) {
      const answers = await race(program, place, expecting);
      const winners = answers.filter(({ written }) => written);
      expect(winners).toHaveLength(1);
      expect(answers.filter(({ because }) => because === "changed")).toHaveLength(3);
      expect(names(place)).toEqual(["rl-x"]);
      expecting = winners[0]?.hash ?? null;
      expect((await library.read(join(place.folder, "rl-x")))?.hash).toBe(expecting);
    }
  });

  test("one of which replaces a package: a reader always sees one whole package", async () => {
    const [place, program] = [newPlace(), await buildProgram(tempFolder())];
    await written(place, "rl-x", "first");
    const child = start(program, { do: "replace-on-and-on", place, name: "rl-x" } satisfies Orders);
    await new Promise((begun) => child.stdout?.once("data", begun));
    for (let look = 0; look < 200; look++)
      expect((await skillsIn(place)).map(({ name }) => name)).toEqual(["rl-x"]);
    const ended = outcome(child);
    child.kill("SIGKILL");
    await ended;
  });
});

test("what the disk refuses is an error that names the place", async () => {
  const place = newPlace();
  mkdirSync(join(place.root, ".claude"));
  writeFileSync(place.folder, "a file");
  await expect(
    library.write(place, "rl-x", packageOf("rl-x", "one"), { expecting: null }),
  ).rejects.toMatchObject({
    code: "LIBRARY_UNAVAILABLE",
    message: expect.stringContaining(place.folder),
  });
  expect(statSync(place.folder).isFile()).toBe(true);
});
