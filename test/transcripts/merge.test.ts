import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { countEvents, type Event } from "../../src/records/session.ts";
import type { Store } from "../../src/store/store.ts";
import { readEvents, type SessionView } from "../../src/transcripts/sessions.ts";

const event = (ref: string, kind: Event["kind"], more: Partial<Event> = {}): Event => ({
  ref,
  key: ref.slice(1),
  resultKey: null,
  at: null,
  endedAt: null,
  turn: 1,
  source: "transcript",
  kind,
  sidechain: false,
  tool: kind === "call" ? "Bash" : null,
  input: null,
  command: null,
  files: [],
  cwd: null,
  outcome: kind === "call" ? "ok" : null,
  exitCode: null,
  text: "",
  callId: null,
  origin: null,
  ...more,
});
const hooked = (ref: string, kind: Event["kind"], more: Partial<Event> = {}) =>
  event(ref, kind, { source: "hook", ...more });
const refs = (events: readonly Event[]) => events.map(({ ref }) => ref);

/** The events of a session that has these recordings. */
function mergeEvents(followed: readonly Event[], others: readonly (readonly Event[])[]): Promise<Event[]> {
  const recordings = [followed, ...others];
  const events = { of: async (id: string) => recordings[Number(id)] };
  const alsoFrom = others.map((_, at) => ({ id: String(at + 1) }));
  return readEvents({ events } as unknown as Store, { id: "0", alsoFrom } as unknown as SessionView);
}

describe("two tellings of one session", () => {
  const transcript = [
    event("e1", "prompt", { text: "fix it" }),
    event("e2", "reply", { text: "On it." }),
    event("e3", "call", { callId: "a" }),
    event("e4", "reply", { text: "Done." }),
  ];

  it.each<[string, Event[], string[]]>([
    [
      "count once what both tell",
      [
        hooked("e1", "prompt", { text: " fix  it " }),
        hooked("e2", "call", { callId: "a" }),
        hooked("e3", "reply", { text: "Done." }),
      ],
      ["e1", "e2", "e3", "e4"],
    ],
    [
      "keep what only the hook saw, where it saw it",
      [
        hooked("e1", "prompt", { text: "fix it" }),
        hooked("e2", "call", { callId: "lost" }),
        hooked("e3", "call", { callId: "a" }),
      ],
      ["e1", "h2", "e2", "e3", "e4"],
    ],
    [
      "keep what came before the transcript begins",
      [hooked("e1", "mark", { text: "Session started" }), hooked("e2", "prompt", { text: "fix it" })],
      ["h1", "e1", "e2", "e3", "e4"],
    ],
    [
      "keep the same words said twice",
      [hooked("e1", "prompt", { text: "fix it" }), hooked("e2", "prompt", { text: "fix it" })],
      ["e1", "h2", "e2", "e3", "e4"],
    ],
  ])("%s", async (_, other, expected) =>
    expect(refs(await mergeEvents(transcript, [other]))).toEqual(expected),
  );

  test("give a call the outcome that one of them has", async () => {
    const [merged] = await mergeEvents(
      [event("e1", "call", { callId: "a", outcome: "unknown" })],
      [[hooked("e1", "call", { callId: "a", outcome: "failed", exitCode: 2, text: "boom" })]],
    );
    expect(merged).toMatchObject({
      ref: "e1",
      source: "transcript",
      outcome: "failed",
      exitCode: 2,
      text: "boom",
    });
  });

  test("lose nothing and double nothing, whatever part each has", async () => {
    const some = fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    await fc.assert(
      fc.asyncProperty(some, some, some, async (inTranscript, inHook, inProgram) => {
        const calls = (numbers: readonly number[], source: Event["source"]) =>
          numbers.map((n, at) => event(`e${at + 1}`, "call", { callId: `c${n}`, source }));
        const merged = await mergeEvents(calls(inTranscript, "transcript"), [
          calls(inHook, "hook"),
          calls(inProgram, "tool-hook"),
        ]);
        const ids = merged.map(({ callId }) => callId);
        expect(new Set(ids).size).toBe(ids.length);
        expect(new Set(ids)).toEqual(new Set([...inTranscript, ...inHook, ...inProgram].map((n) => `c${n}`)));
        expect(countEvents(merged).calls).toBe(ids.length);
        expect(new Set(refs(merged)).size).toBe(merged.length);
      }),
    );
  });
});
