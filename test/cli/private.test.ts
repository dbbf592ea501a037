import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLibrary, createVersions } from "../../src/library/files/packages.ts";
import { knackHere } from "../helpers/here.ts";
import { hook, payloads, quiet, said } from "../helpers/hook.ts";
import { databaseSessions, machine } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

/** Files are made as by a shell whose files everybody may read and write, until the test ends. */
function openUmask(): void {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
}

/** Everything below a folder that others may read, write or enter, with its mode. */
function findWide(folder: string): string[] {
  return ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].flatMap((name) => {
    const { mode } = lstatSync(join(folder, name));
    return (mode & 0o077) === 0 ? [] : [`${name} ${(mode & 0o777).toString(8)}`];
  });
}

describe("Knack's home", () => {
  test("is its owner's alone, and so is every file in it, whatever the umask", async () => {
    openUmask();
    const { home, harbor } = machine({ sessions: databaseSessions });
    const knackHome = join(home, ".knack");
    const events = payloads({ home, knackHome, project: harbor });
    // A home that the hook makes first, and the command line goes on with.
    said(await hook(events.start(), { home }));
    for (const words of ["config set suggestions 4", "learn --yes", "install claude", "doctor"])
      expect([words, (await knackHere(words.split(" "), { home })).code]).toEqual([words, 0]);
    const recorded = { ...events.used(), transcript_path: undefined, session_id: "recorded" };
    for (const payload of [events.prompt("start the database"), events.failure("npm test", "no"), recorded])
      said(await hook(payload, { home }));
    said(await hook(events.end(), { home }));
    await quiet(home);
    expect(readdirSync(knackHome)).toEqual(
      expect.arrayContaining("agents cache config.json knack.db seen snapshot spool versions".split(" ")),
    );
    expect(findWide(knackHome)).toEqual([]);
  });

  test("has drafts and versions that are its owner's alone, whatever modes and the umask say", async () => {
    openUmask();
    const root = tempFolder();
    const library = createLibrary();
    const place = { folder: join(root, "drafts"), root, isPrivate: true };
    const files = [
      { path: "SKILL.md", bytes: Buffer.from("---\nname: x\ndescription: y\n---\n"), mode: 0o644 },
      { path: "scripts/run.sh", bytes: Buffer.from("true\n"), mode: 0o755 },
    ];
    const written = await library.write(place, "x", files, { expecting: null });
    expect(written).toMatchObject({ written: true });
    await createVersions(join(root, "versions")).keep(files);
    await library.writeText(join(root, "drafts/.y/y.md"), "text", { expecting: null, isPrivate: true });
    expect(findWide(root)).toEqual([]);
    expect(statSync(join(root, "drafts/x/scripts/run.sh")).mode & 0o777).toBe(0o700);
  });

  test("is taken back from others where it was open to them; its parent is not", async () => {
    const { home } = machine({ sessions: /nothing/ });
    const knackHome = join(home, ".knack");
    mkdirSync(knackHome);
    chmodSync(home, 0o755);
    chmodSync(knackHome, 0o777);
    expect((await knackHere(["sessions"], { home })).code).toBe(0);
    expect((statSync(knackHome).mode & 0o777).toString(8)).toBe("700");
    expect((statSync(home).mode & 0o777).toString(8)).toBe("755");
  });

  test("that everybody shares, such as /tmp, keeps its mode", async () => {
    const { home } = machine({ sessions: /nothing/ });
    const shared = join(home, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    writeFileSync(join(shared, "others"), "");
    expect((await knackHere(["sessions"], { home, env: { KNACK_HOME: shared } })).code).toBe(0);
    expect((statSync(shared).mode & 0o7777).toString(8)).toBe("1777");
  });
});
