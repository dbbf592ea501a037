import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { type Note, writeNote } from "../../src/spool/spool.ts";
import { openInbox } from "../../src/worker/inbox.ts";
import { tempFolder } from "../helpers/temp.ts";

const place = (session: string, at = 1): Note => ({
  type: "place",
  session,
  transcript: `/t/${session}.jsonl`,
  cwd: null,
  event: "Stop",
  at,
});
const sessions = (taken: readonly { note: { session: string } }[]) => taken.map(({ note }) => note.session);
const left = (folder: string, name: string) => readdirSync(join(folder, name)).sort();

describe("an inbox", () => {
  test("gives each note once, and what is done is gone", () => {
    const folder = tempFolder();
    const inbox = openInbox(folder);
    writeNote(folder, place("a"));
    writeNote(folder, place("b"));
    writeNote(folder, place("a", 2));
    const taken = inbox.take();
    expect(sessions(taken).sort()).toEqual(["a", "b"]);
    expect(taken.find(({ note }) => note.session === "a")?.note.at).toBe(2);
    expect(inbox.take()).toEqual([]);
    for (const one of taken) inbox.done(one);
    expect(left(folder, "taken")).toEqual([]);
    expect(inbox.isEmpty()).toBe(true);
  });

  test("gives what a dead worker had to the next one, however often that happens, without holding it against them", () => {
    const folder = tempFolder();
    writeNote(folder, place("a"));
    writeNote(folder, place("b"));
    for (let death = 0; death < 10; death++) {
      const taken = openInbox(folder).take();
      expect(sessions(taken).sort()).toEqual(["a", "b"]);
      expect(taken.map(({ suspect, tries }) => [suspect, tries])).toEqual([
        [death > 0, 0],
        [death > 0, 0],
      ]);
    }
  });

  test("puts aside what ended its worker three times, and tries what was tried less first", () => {
    const folder = tempFolder();
    writeNote(folder, place("poison"));
    for (let death = 1; death <= 3; death++) {
      writeNote(folder, place(`other-${death}`));
      const inbox = openInbox(folder);
      const taken = inbox.take();
      if (death > 1) expect(sessions(taken).at(-1)).toBe("poison");
      for (const one of taken) {
        const begun = inbox.begin(one);
        expect(begun?.tries).toBe(one.note.session === "poison" ? death : 1);
        if (begun && one.note.session !== "poison") inbox.done(begun);
      }
    }
    const inbox = openInbox(folder);
    const [poison] = inbox.take();
    expect(poison && inbox.begin(poison)).toBeNull();
    expect(left(folder, "aside")).toEqual(["place-poison.json"]);
    expect(left(folder, "taken")).toEqual([]);
  });

  test("remembers the tries of a note when a newer one takes its place", () => {
    const folder = tempFolder();
    for (let death = 0; death < 3; death++) {
      writeNote(folder, place("poison", death));
      const inbox = openInbox(folder);
      const [one] = inbox.take();
      expect(one).toMatchObject({ tries: death, note: { at: death } });
      if (one) inbox.begin(one);
      expect(left(folder, "taken")).toHaveLength(1);
    }
  });

  test("does not count a try that is given back", () => {
    const folder = tempFolder();
    writeNote(folder, place("long"));
    for (let run = 0; run < 10; run++) {
      const inbox = openInbox(folder);
      const [one] = inbox.take();
      const begun = one ? inbox.begin(one) : null;
      expect(begun?.tries).toBe(1);
      expect(begun && inbox.giveBack(begun)).toMatchObject({ tries: 0 });
    }
  });

  it.each<[string, (folder: string) => void]>([
    ["is empty", (folder) => writeFileSync(join(folder, "place-x.json"), "")],
    ["is half a note", (folder) => writeFileSync(join(folder, "place-x.json"), '{"type": "pl')],
    [
      "is no note",
      (folder) => writeFileSync(join(folder, "place-x.json"), '{"type": "place", "session": "x"}'),
    ],
    [
      "is of another kind",
      (folder) => writeFileSync(join(folder, "place-x.json"), '{"type":"y","session":"x","at":1}'),
    ],
    ["is null", (folder) => writeFileSync(join(folder, "place-x.json"), "null")],
    ["is a folder", (folder) => mkdirSync(join(folder, "place-x.json/y"), { recursive: true })],
  ])("puts a file aside that %s, and goes on with the others", (_, write) => {
    const folder = tempFolder();
    for (let round = 0; round < 2; round++) {
      write(folder);
      writeNote(folder, place("good"));
      writeFileSync(join(folder, "half.1.new"), "");
      mkdirSync(join(folder, "taken"), { recursive: true });
      writeFileSync(join(folder, "taken/stray"), "");
      const inbox = openInbox(folder);
      expect(sessions(inbox.take())).toEqual(["good"]);
      expect(left(folder, "aside")).toEqual(["place-x.json"]);
      expect(inbox.isEmpty()).toBe(true);
    }
  });
});
