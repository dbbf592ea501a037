import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { createLibrary, createVersions, type PackageFile } from "../../src/library/files/packages.ts";
import { tempFolder } from "../helpers/temp.ts";
import { packageOf } from "./program.ts";

const plain = (files: readonly PackageFile[] | null) =>
  files?.map(({ path, bytes, mode }) => [path, Buffer.from(bytes).toString("hex"), mode]).sort();

describe("a kept version", () => {
  test("comes back byte for byte, modes included", async () => {
    const versions = createVersions(join(tempFolder(), "versions"));
    const files = [
      ...packageOf("x", "one"),
      { path: "bin/raw", bytes: Buffer.from([0, 255, 13, 10]), mode: 0o400 },
    ];
    const hash = await versions.keep(files);
    expect(plain(await versions.restore(hash))).toEqual(plain(files));
  });

  test("has the hash that the package has in the library, and can be written back", async () => {
    const [root, library] = [tempFolder(), createLibrary()];
    const versions = createVersions(join(root, "versions"));
    const place = { folder: join(root, "skills"), root };
    const first = await library.write(place, "x", packageOf("x", "one"), { expecting: null });
    const now = await library.read(join(place.folder, "x"));
    if (!first.written || now === null) throw new Error("not written");
    expect(await versions.keep(now.files)).toBe(first.hash);
    const second = await library.write(place, "x", packageOf("x", "two"), { expecting: first.hash });
    if (!second.written) throw new Error("not written");
    const old = (await versions.restore(now.hash)) ?? [];
    expect(await library.write(place, "x", old, { expecting: second.hash })).toEqual(first);
    expect(statSync(join(place.folder, "x/scripts/run.sh")).mode & 0o777).toBe(0o755);
  });

  test("may be kept twice, also at once, and leaves nothing else behind", async () => {
    const folder = join(tempFolder(), "versions");
    const versions = createVersions(folder);
    mkdirSync(join(folder, ".knack-work-999999999-abc"), { recursive: true });
    const hashes = await Promise.all([1, 2, 3, 4].map(() => versions.keep(packageOf("x", "one"))));
    expect(new Set(hashes).size).toBe(1);
    expect(readdirSync(folder)).toEqual([hashes[0]]);
  });

  it.each(["0".repeat(64), "../..", ""])("that was not kept is null: %j", async (hash) =>
    expect(await createVersions(tempFolder()).restore(hash)).toBeNull(),
  );

  test("that was damaged is told of", async () => {
    const folder = tempFolder();
    const versions = createVersions(folder);
    const hash = await versions.keep(packageOf("x", "one"));
    writeFileSync(join(folder, hash, "files/SKILL.md"), "other");
    await expect(versions.restore(hash)).rejects.toMatchObject({ code: "VERSION_DAMAGED" });
    writeFileSync(join(folder, hash, "files.json"), "[[");
    await expect(versions.restore(hash)).rejects.toMatchObject({ code: "VERSION_DAMAGED" });
  });

  test("cannot hold a path that leads elsewhere", async () => {
    const bad = [{ path: "../x", bytes: Buffer.from(""), mode: 0o644 }];
    await expect(createVersions(tempFolder()).keep(bad)).rejects.toMatchObject({ code: "BAD_PACKAGE" });
  });
});
