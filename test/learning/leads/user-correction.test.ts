import { describe, expect, it, test } from "vitest";
import { detect } from "../../../src/learning/leads/detect.ts";
import { analyzeSession } from "../../../src/learning/leads/session.ts";
import { findSpokenLessons } from "../../../src/learning/leads/spoken-lesson.ts";
import type { Event } from "../../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../../helpers/events.ts";
import { type Example, examples } from "./speech-examples.ts";

const userCorrection = (events: readonly Event[]) =>
  findSpokenLessons(analyzeSession(events).spoken, "user-correction");

/** A session in which the agent works, the person speaks, and the agent goes on with the same file. */
function around({ said: words, reply, before = "edit" }: Omit<Example, "is">): Event[] {
  const task = [said("Please add the export feature to the server"), replied("I'll add it.")];
  const past: Record<NonNullable<Example["before"]>, Event[]> = {
    start: [],
    talk: [...task, replied("Which option?")],
    edit: [...task, edited("src/a.ts"), replied("Done: the export works.")],
    rejected: [...task, edited("src/a.ts", "rejected")],
  };
  return session(...past[before], said(words), replied(reply), edited("src/a.ts"), replied("Done."));
}

describe("a turn of a person", () => {
  it.each(examples)("$is: $said", ({ is, ...example }) => {
    expect(detect(around(example)).map(({ kind }) => kind)).toEqual(is === "nothing" ? [] : [is]);
  });
});

const working = [said("Add a cache to the client"), replied("I'll add one."), edited("src/client.ts")];
const correction = "no, use the cache in src/lib/cache.ts instead of a new one";
const corrected = [replied("You're right, src/lib/cache.ts has a cache already."), edited("src/client.ts")];

describe("a correction", () => {
  test("rests on the prompt first, then on the reply and the corrected call", () => {
    const [found] = userCorrection(session(...working, said(correction), ...corrected));
    expect(found?.refs).toEqual(["e4", "e5", "e6"]);
    expect(found?.excerpt).toMatchObject({ said: correction, failed: null });
  });

  test("is told in the person's words, with the reply that restates it", () => {
    const [found] = userCorrection(session(...working, said(`ok so ${correction}`), ...corrected));
    expect(found?.lesson).toBe(
      "No, use the cache in src/lib/cache.ts instead of a new one. Agent: src/lib/cache.ts has a cache already.",
    );
    expect(found?.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(found?.keywords).toContain("src/lib/cache.ts");
    expect(found).toMatchObject({ scope: "project", artifact: "rule", call: null });
  });

  test("says what the agent was at when the words alone say little", () => {
    const [found] = userCorrection(
      session(
        ...working,
        said("why are you writing java?"),
        replied("Good catch, the service is in Kotlin."),
      ),
    );
    expect(found?.lesson).toContain("(Said while working on client.ts.)");
    expect(found?.lesson).toContain("The service is in Kotlin");
  });

  test("about how the agent works belongs to the person", () => {
    const words = said("stop, you keep guessing instead of asking me");
    const [found] = userCorrection(session(...working, words, replied("Sorry. I'll ask.")));
    expect(found?.scope).toBe("user");
  });

  test("has a name in Latin letters even when the words have none", () => {
    const words = said("不对，不要自己写，应该复用已有的");
    const [found] = userCorrection(
      session(...working, words, replied("你说得对。"), edited("src/client.ts")),
    );
    expect(found?.name).toBe("correction-client-ts");
  });

  test("is surer when the person turned the call down", () => {
    const words = said("we already have a cache in lib");
    const turnedDown = edited("src/client.ts", "rejected");
    const heard = userCorrection(session(...working, words, ...corrected));
    const rejected = userCorrection(session(...working, turnedDown, words, ...corrected));
    expect(rejected[0]?.confidence).toBeGreaterThan(heard[0]?.confidence ?? 0);
  });

  it.each<[string, Event[]]>([
    ["opens a session", [said(correction), ...corrected]],
    [
      "is taken back in the next turn",
      [...working, said(correction), ...corrected, said("never mind, keep yours")],
    ],
    [
      "is taken back in Japanese",
      [...working, said(correction), ...corrected, said("やっぱり元のままでいいです")],
    ],
    [
      "is a plan that a program wrote",
      [...working, said(`Implement the following plan:\n\n${correction}`), ...corrected],
    ],
    [
      "is quoted",
      [...working, said(`the review says:\n> ${correction}\nwhat do you think?`), replied("It is right.")],
    ],
    [
      "stands in a code block",
      [...working, said(`what does this do?\n\`\`\`\n${correction}\n\`\`\``), replied("It…")],
    ],
    [
      "says only that something is wrong",
      [...working, said("no, that's wrong"), replied("You're right, sorry.")],
    ],
    ["is for now", [...working, said("don't cache anything for now, use the old client"), replied("OK.")]],
  ])("is none when it %s", (_, events) => expect(userCorrection(session(...events))).toEqual([]));

  test("sent twice counts where the agent answers", () => {
    const found = userCorrection(session(...working, said(correction), said(correction), ...corrected));
    expect(found.map(({ refs }) => refs[0])).toEqual(["e5"]);
  });

  test("is none when a program sends the same text again and again", () => {
    const template = (n: number) =>
      said(`You must not stop. ${"Do not use npm, use pnpm instead. ".repeat(12)}${n}`);
    const turns = [1, 2, 3].flatMap((n) => [template(n), replied("You're right."), ran("pnpm i", "ok")]);
    expect(userCorrection(session(...working, ...turns))).toEqual([]);
  });

  test("costs no more in a long text", () => {
    for (const piece of [
      "no, you don't ",
      "not a but ",
      "为什么你不",
      '`"「<b>',
      "a.b/c@d-",
      "1. x 2. ",
      "\n> x\n# y",
    ]) {
      const words = piece.repeat(100_000 / piece.length);
      const events = session(...working, said(words), replied(words), called("Edit", {}, "ok", words));
      expect(detect(events).length).toBeLessThan(3);
    }
  }, 20_000);

  test("is found quickly in a long session", () => {
    const events = session(
      ...Array.from({ length: 800 }, () => [...working, said(correction), ...corrected]).flat(),
    );
    expect(userCorrection(events).length).toBeGreaterThan(0);
  }, 20_000);
});

describe("a correction that the person takes back", () => {
  it.each([
    "never mind, jest is fine",
    "actually never mind, jest is fine",
    "no wait, undo that, jest was right",
    "ok forget it",
  ])("%s", (taking) => {
    const events = session(
      ...working,
      said("no, use vitest, not jest"),
      replied("You're right. Switching to vitest."),
      edited("src/a.ts"),
      said(taking),
      replied("OK, back to jest."),
    );
    expect(userCorrection(events)).toEqual([]);
  });
});

test("a mere question is never sure enough to be shown on its own", () => {
  const events = session(
    ...working,
    said("Why did you delete the file?"),
    replied("You're right, sorry."),
    edited("src/a.ts"),
  );
  for (const { confidence } of userCorrection(events)) expect(confidence).toBeLessThan(0.6);
});
