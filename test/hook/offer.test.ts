import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { Finding } from "../../src/records/lesson.ts";
import { claudeLines } from "../helpers/claude.ts";
import { knackHere } from "../helpers/here.ts";
import {
  aHome,
  aLesson,
  contextOf,
  type Home,
  hook,
  notesAt,
  payloads,
  readOffered,
  said,
  teach,
  withKnack,
} from "../helpers/hook.ts";

/** Orders of a person, each heard in one session. */
const orders = (count: number): Finding[] =>
  ["Anchor", "Berth", "Crane", "Dock"].slice(0, count).map((thing, n) =>
    aLesson({
      ...{ kind: "user-correction", name: `${thing.toLowerCase()}-first`, artifact: "rule" },
      lesson: `${thing} the boats of quay${n} before tide${n} comes in.`,
      trigger: `quay${n} tide${n} rises`,
      action: `${thing.toLowerCase()} boats${n}`,
      confidence: 0.7,
      ...{ symptom: null, call: null, remedy: null },
    }),
  );

const begins = async (home: Home, session: string, source?: string) =>
  said(await hook(payloads(home, session).start(source), home));
/** Types a prompt, which the agent writes down; `more` is what else it says of it. */
const answers = async (home: Home, session: string, prompt: string, more: object | null = {}) => {
  readOffered(home.knackHome, session);
  const { transcript, prompt: payload } = payloads(home, session);
  mkdirSync(dirname(transcript), { recursive: true });
  const timestamp = new Date().toISOString();
  const line = claudeLines(session, home.project).user(prompt, { timestamp, uuid: randomUUID(), ...more });
  if (more !== null) appendFileSync(transcript, `${JSON.stringify(line)}\n`);
  return hook(payload(prompt), home);
};

const works = (home: Home) => knackHere(["work"], { home: home.home });
const offers = (home: Home) => notesAt(home.knackHome).filter(({ type }) => type === "offer");

/** The lessons of a home by name, and what became of them. */
const statuses = (home: Home) =>
  withKnack(home, async (opened) =>
    Object.fromEntries((await opened.lessons()).map(({ name, state }) => [name, state.status])),
  );

describe("a lesson that is new", () => {
  test("is offered to the person when the next session begins: three at most, in one line, each once", async () => {
    const home = aHome();
    await teach(home, orders(4), 1);
    const first = await begins(home, "a");
    expect(first?.systemMessage).toMatch(
      /^Knack learned here: \(1\) \w+ the boats of quay\d before tide\d comes in\. \(2\) [^\n]*\(3\) [^\n]* Keep them\? Answer “keep all”, “keep 1” or “no”\.$/,
    );
    // The agent is told nothing before the person's yes.
    expect(first?.hookSpecificOutput).toBeUndefined();
    const second = await begins(home, "b");
    expect(second?.systemMessage).toMatch(
      /^Knack learned here: \w+ the boats of quay\d before tide\d comes in\. Keep it\? Answer “yes, keep it” or “no”\.$/,
    );
    expect((await begins(home, "c"))?.systemMessage ?? "").not.toContain("Keep");
    expect(offers(home).map(({ session, kept }) => [session, kept])).toEqual([
      ["a", null],
      ["b", null],
    ]);
    // Neither when the worker has noted it, and the marks of sessions are gone.
    expect((await works(home)).code).toBe(0);
    rmSync(join(home.knackHome, "seen"), { recursive: true });
    expect((await begins(home, "d"))?.systemMessage ?? "").not.toContain("Keep");
  });

  test("is offered with where its words came from, where agents are not told of it", async () => {
    const home = aHome();
    await teach(home, [aLesson({ doubt: { kind: "foreign", from: "web", words: "tide-helper" } })], 1);
    expect((await begins(home, "a"))?.systemMessage).toContain(
      "(Look twice: `tide-helper` first came from the web.)",
    );
  });

  test("is put to the person by the agent, where its hooks have no line for them", async () => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await teach(home, [aLesson()], 1);
    const told = await hook(payloads(home, "a").start(), { ...home, words: ["--ask", "agent"] });
    const [first, ...more] = contextOf(told).split("\n");
    expect(first).toMatch(/^Ask the person this once, word for word, [^\n]*: Knack learned here: .*python3/);
    // A person's own words are for the person to see first.
    expect(more).toEqual([
      "Tell the person once: Knack has 1 new lesson for their yes or no; `knack lessons` shows them.",
    ]);
  });

  test("is put to the person in Copilot CLI, and waits where a program began the session (copilot -p)", async () => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await teach(home, [aLesson()], 1);
    const begin = async (session: string, env: Record<string, string>) => {
      const given = { ...payloads(home, session).start(), initial_prompt: "build it" };
      return (await hook(given, { ...home, env, words: ["--agent", "copilot", "--ask", "agent"] })).stdout;
    };
    expect(await begin("a", {})).not.toMatch(/the person/);
    expect(await begin("b", { COPILOT_LOADER_PID: "7" })).toMatch(
      /Knack learned here: .*python3.*Knack has 1 new lesson/,
    );
  });

  it.each<[string, (home: Home) => unknown, string?]>([
    ["when a session is resumed", () => {}, "resume"],
    ["when a session was compacted", () => {}, "compact"],
    ["where the project is muted", (home) => writesConfig(home, { show: false })],
    ["where nothing is learned in the project", (home) => writesConfig(home, { learn: false })],
    [
      "to somebody who has decided",
      (home) =>
        withKnack(home, async (opened) => {
          for (const { id } of await opened.lessons()) await opened.decide(id, "unskipped");
        }),
    ],
  ])("is not offered %s", async (_, prepare, source) => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await prepare(home);
    await withKnack(home, (opened) => opened.renewSnapshot());
    expect((await begins(home, "a", source))?.systemMessage ?? "").not.toContain("Keep");
    expect(offers(home)).toEqual([]);
  });
});

function writesConfig({ project }: Home, settings: object): void {
  mkdirSync(join(project, ".knack"), { recursive: true });
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, ".knack/config.json"), JSON.stringify(settings));
}

describe("the person's answer", () => {
  const none: number[] = [];
  it.each<[number, string, number[] | null]>([
    [1, "yes, keep it", [1]],
    [1, "Yes.", [1]],
    [1, "keep it please", [1]],
    [1, "Keep 1", [1]],
    [1, "no", none],
    [1, "No, skip it!", none],
    [1, "don’t keep it", none],
    [2, "keep both", [1, 2]],
    [2, "yes, keep 2", [2]],
    [3, "keep 1 and 3", [1, 3]],
    [3, "keep #3, 1", [1, 3]],
    [3, "yes", [1, 2, 3]],
    [3, "keep all of them", [1, 2, 3]],
    [3, "keep none", none],
    // These are no answers, or not to this.
    [3, "keep it", null],
    [3, "keep both", null],
    [2, "keep 3", null],
    [1, "keep it running", null],
    [1, "keep the tests green", null],
    [1, "yes, keep it, and then run the tests of the whole harbor for me again", null],
    [1, "no, use pnpm", null],
    [1, "1", null],
  ])("to %i lessons may be %j", async (count, prompt, kept) => {
    const home = aHome();
    await teach(home, orders(count), 1);
    await begins(home, "a");
    const reply = said(await answers(home, "a", prompt));
    const [asked, ...rest] = offers(home) as { lessons: string[]; kept: string[] | null }[];
    expect(asked?.lessons).toHaveLength(count);
    const numbers = rest.map((note) => note.kept?.map((id) => (asked?.lessons.indexOf(id) ?? 0) + 1));
    expect(numbers).toEqual(kept === null ? [] : [kept]);
    const context = reply?.hookSpecificOutput?.additionalContext ?? "";
    expect(context.includes("this prompt is their answer")).toBe(kept !== null);
    expect(context.split("\n- ")).toHaveLength((kept?.length ?? 0) + 1);
  });

  test.each<[string, string, string, boolean]>([
    ["the second prompt", "Look at the cranes", "keep it", true],
    ["a bare yes, which may be meant for the agent", "Look at the cranes", "yes", false],
    ["a bare no", "Look at the cranes", "no", false],
  ])("may be %s", async (_, first, second, counts) => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await begins(home, "a");
    await answers(home, "a", first);
    await answers(home, "a", second);
    expect(offers(home)).toHaveLength(counts ? 2 : 1);
  });

  test("is no prompt that was sent before the offer could be read", async () => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await begins(home, "a");
    expect(contextOf(await hook(payloads(home, "a").prompt("yes"), home))).toBe("");
    expect(contextOf(await answers(home, "a", "yes"))).toContain("their answer: yes");
  });

  test("counts in its session and right after the offer alone", async () => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await begins(home, "a");
    expect(contextOf(await answers(home, "b", "keep it"))).toBe("");
    for (const prompt of ["Look at the cranes", "Look at the ropes", "keep it"])
      expect(contextOf(await answers(home, "a", prompt))).toBe("");
    expect(offers(home)).toHaveLength(1);
  });

  test("of yes makes the lesson hold from then on, and the next session is told", async () => {
    const home = aHome();
    await teach(home, orders(2), 1);
    await begins(home, "a");
    const reply = said(await answers(home, "a", "keep 1"));
    expect(reply?.systemMessage).toMatch(/^Knack keeps: \w+ the boats of quay\d before tide\d comes in\.$/);
    const kept = reply?.systemMessage?.replace("Knack keeps: ", "") ?? "?";
    expect(reply?.hookSpecificOutput?.additionalContext).toContain(`these hold:\n- ${kept}`);
    expect((await works(home)).code).toBe(0);
    expect(Object.values(await statuses(home)).sort()).toEqual(["active", "pending"]);
    const told = (await begins(home, "b"))?.hookSpecificOutput?.additionalContext ?? "";
    expect(told).toContain(`Holds here:\n- ${kept}`);
    expect(told.split("\n- ")).toHaveLength(2);
  });

  test.each<[string, object | null]>([
    ["that only a hook's payload claims", null],
    ["that a program gave", { promptSource: "sdk" }],
    ["of a subagent", { isSidechain: true }],
  ])("%s is nobody's yes", async (_, more) => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await begins(home, "a");
    await answers(home, "a", "yes, keep it", more);
    expect((await works(home)).code).toBe(0);
    expect(Object.values(await statuses(home))).toEqual(["pending"]);
  });

  test("is waited for before an agent is told at a prompt, too", async () => {
    const home = aHome();
    await teach(home, orders(4), 1);
    const prompt = "The tide0 rises at quay0: anchor boats0 now, before it comes in";
    expect(contextOf(await answers(home, "a", prompt))).toBe("");
    await withKnack(home, async (opened) => {
      for (const { id } of await opened.lessons()) await opened.decide(id, "accepted");
      await opened.renewSnapshot();
    });
    expect(contextOf(await answers(home, "b", prompt))).toContain("Anchor the boats of quay0");
  });

  test("of no rejects nothing, and is on the ledger", async () => {
    const home = aHome();
    await teach(home, orders(1), 1);
    await begins(home, "a");
    expect(said(await answers(home, "a", "no"))?.systemMessage).toBe(
      "Knack: not kept, and not offered again.",
    );
    expect((await works(home)).code).toBe(0);
    expect(await statuses(home)).toEqual({ "anchor-first": "pending" });
    rmSync(join(home.knackHome, "seen"), { recursive: true });
    expect((await begins(home, "b"))?.systemMessage ?? "").not.toContain("Keep");
  });
});
