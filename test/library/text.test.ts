import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLibrary } from "../../src/library/files/packages.ts";
import { seeded } from "../helpers/history.ts";
import { tempFolder } from "../helpers/temp.ts";
import { buildProgram, outcome, start } from "./process.ts";
import type { Orders } from "./program.ts";

const library = createLibrary();

async function hashOf(path: string): Promise<string | null> {
  const read = await library.readText(path);
  return read.found === "text" ? read.hash : null;
}

describe("a text file", () => {
  test("is made, replaced and removed, and nothing is left beside it", async () => {
    const folder = tempFolder();
    const path = join(folder, "below", "AGENTS.md");
    expect(await library.readText(path)).toEqual({ found: "missing" });
    const made = await library.writeText(path, "one\n", { expecting: null });
    expect(made).toEqual({ written: true, hash: await hashOf(path) });
    expect(await library.writeText(path, "\ufefftwo\r\n", { expecting: await hashOf(path) })).toMatchObject({
      written: true,
    });
    expect(await library.readText(path)).toMatchObject({ text: "\ufefftwo\r\n" });
    expect(await library.removeText(path, { expecting: (await hashOf(path)) ?? "" })).toEqual({
      written: true,
      hash: null,
    });
    expect(readdirSync(join(folder, "below"))).toEqual([]);
  });

  test("is left alone when it is not what the caller knew", async () => {
    const path = join(tempFolder(), "CLAUDE.md");
    writeFileSync(path, "by hand\n");
    const found = await hashOf(path);
    expect(await library.writeText(path, "x", { expecting: null })).toEqual({
      written: false,
      because: "changed",
      found,
    });
    expect(await library.writeText(path, "x", { expecting: "0".repeat(64) })).toEqual({
      written: false,
      because: "changed",
      found,
    });
    expect(await library.removeText(path, { expecting: "0".repeat(64) })).toEqual({
      written: false,
      because: "changed",
      found,
    });
    expect(await library.writeText(`${path}2`, "x", { expecting: found })).toEqual({
      written: false,
      because: "changed",
      found: null,
    });
    expect(readFileSync(path, "utf8")).toBe("by hand\n");
  });

  test("keeps its mode", async () => {
    const path = join(tempFolder(), "CLAUDE.md");
    writeFileSync(path, "a");
    chmodSync(path, 0o640);
    await library.writeText(path, "b", { expecting: await hashOf(path) });
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  test("is written through a link to the file that it names", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "AGENTS.md"), "a");
    symlinkSync("AGENTS.md", join(root, "CLAUDE.md"));
    const path = join(root, "CLAUDE.md");
    expect(await library.writeText(path, "b", { expecting: await hashOf(path), root })).toMatchObject({
      written: true,
    });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("b");
    expect(await library.removeText(path, { expecting: (await hashOf(path)) ?? "" })).toMatchObject({
      because: "link",
    });
  });

  test("is not written through a link out of its root, or to nothing", async () => {
    const [root, outside] = [tempFolder(), tempFolder()];
    writeFileSync(join(outside, "secret"), "a");
    symlinkSync(join(outside, "secret"), join(root, "CLAUDE.md"));
    symlinkSync(join(outside, "nothing"), join(root, "AGENTS.md"));
    symlinkSync(outside, join(root, "docs"));
    const expecting = await hashOf(join(outside, "secret"));
    expect(await library.writeText(join(root, "CLAUDE.md"), "b", { expecting, root })).toMatchObject({
      because: "outside",
    });
    expect(await library.writeText(join(root, "AGENTS.md"), "b", { expecting: null, root })).toMatchObject({
      because: "link",
    });
    expect(await library.writeText(join(root, "docs/new.md"), "b", { expecting: null, root })).toMatchObject({
      because: "outside",
    });
    expect(await library.removeText(join(root, "docs/secret"), { expecting, root })).toMatchObject({
      because: "outside",
    });
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("a");
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  test("that is not UTF-8 is unreadable, since it could not be written back", async () => {
    const path = join(tempFolder(), "CLAUDE.md");
    writeFileSync(path, Buffer.from([0x61, 0xff, 0x62]));
    expect(await library.readText(path)).toMatchObject({ found: "unreadable" });
    mkdirSync(`${path}.d`);
    expect(await library.readText(`${path}.d`)).toMatchObject({ found: "unreadable" });
    await expect(library.writeText(`${path}.d`, "x", { expecting: null })).rejects.toMatchObject({
      code: "LIBRARY_UNAVAILABLE",
    });
  });

  test("is written although a killed process left its lock and its work", async () => {
    const folder = tempFolder();
    const path = join(folder, "CLAUDE.md");
    writeFileSync(join(folder, ".knack-lock-CLAUDE.md.lock"), "");
    mkdirSync(join(folder, ".knack-work-999999999-abc"));
    expect(await library.writeText(path, "a", { expecting: null })).toMatchObject({ written: true });
    expect(readdirSync(folder)).toEqual(["CLAUDE.md"]);
  });

  test("loses no line to several processes that add to it", async () => {
    const [folder, program] = [tempFolder(), await buildProgram(tempFolder())];
    const path = join(folder, "AGENTS.md");
    const line = (writer: number) => `line of ${writer}`;
    const writers = [1, 2, 3].map((writer) => {
      const orders: Orders = { do: "append", path, line: line(writer), times: 25 };
      return outcome(start(program, orders));
    });
    await Promise.all(writers);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    for (const writer of [1, 2, 3]) expect(lines.filter((one) => one === line(writer))).toHaveLength(25);
    expect(readdirSync(folder)).toEqual(["AGENTS.md"]);
  });

  test("is whole after each kill of a process that rewrites it", async () => {
    const [folder, program] = [tempFolder(), await buildProgram(tempFolder())];
    const path = join(folder, "CLAUDE.md");
    const random = seeded(5);
    for (let round = 0; round < 8; round++) {
      const child = start(program, { do: "rewrite-on-and-on", path } satisfies Orders);
      await new Promise((begun) => child.stdout?.once("data", begun));
      await new Promise((enough) => setTimeout(enough, random() * 20));
      const ended = outcome(child);
      child.kill("SIGKILL");
      await ended;
      const lines = readFileSync(path, "utf8").split("\n");
      expect(lines).toHaveLength(2_001);
      expect(new Set(lines.slice(0, -1)).size).toBe(1);
      expect(existsSync(path)).toBe(true);
    }
  });
});
