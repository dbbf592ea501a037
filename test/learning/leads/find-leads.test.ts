import { describe, expect, it, test } from "vitest";
import { readOutcome } from "../../../src/failures/outcome.ts";
import { findLeads } from "../../../src/learning/leads/find-leads.ts";
import type { Event } from "../../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../../helpers/events.ts";

/** The first refs of the leads of a session, in order. */
const found = (...events: Event[]) =>
  findLeads(session(...events))
    .map(({ refs }) => refs[0])
    .sort();

/** A person's words amid work. */
const amid = (words: string) => [
  ran("npm run build", "ok"),
  replied("Built."),
  said(words),
  replied("OK."),
  edited("src/a.ts"),
];

describe("a lead", () => {
  it.each([
    "save this docker-compose setup as docker-dev",
    "save this as a skill",
    "add a skill for the release",
    "remember this",
    "create skill about migrations",
    "save as skill: deploy-staging",
    "make a skill of what we just did",
    "when a migration fails, always roll back first",
    "remember this workflow for the next release",
  ])("is the explicit instruction: %s", (words) => expect(found(...amid(words))).toEqual(["e3"]));

  it.each([
    "no, use pnpm",
    "not main",
    "wrong folder",
    "that's generated, edit the .proto",
    "pnpm, not npm",
    "gt は使わないで",
    "不要用 npm",
    "usa pnpm, no npm",
  ])("is the short correction: %s", (words) => expect(found(...amid(words))).toEqual(["e3"]));

  it.each([
    "yes",
    "continue",
    "ok, go ahead",
    "commit and push",
    "thanks!",
    "続けて",
    "コミットして。",
    "继续",
    "dale",
    "2",
    "can you create the PR now?",
  ])("is not the routine: %s", (words) => expect(found(...amid(words))).toEqual([]));

  it.each([
    ["a program wrote", "<task-notification>done</task-notification>"],
    ["goes on from a summary", "This session is being continued from a previous conversation that ran out."],
  ])("is not a prompt that %s", (_, words) => expect(found(...amid(words))).toEqual([]));

  test("is not what an agent wrote to a subagent", () => {
    expect(found({ ...said("never use npm here"), sidechain: true }, replied("OK."))).toEqual([]);
  });

  test("tells of the sentence that sounds most like a rule, of a long prompt", () => {
    const filler = Array.from({ length: 8 }, (_, n) => `The table of harbor ${n} holds its berths.`);
    const prompt = [...filler, "From now on never touch the schema without asking.", ...filler].join(" ");
    expect(findLeads(session(said(prompt), replied("OK.")))).toMatchObject([
      { summary: "From now on never touch the schema without asking.", kind: "explicit-instruction" },
    ]);
  });

  test("is the person's answer to a question of the agent", () => {
    const answer = 'Your questions have been answered: "Draft or ready?"="ready, drafts block the merge".';
    expect(
      found(
        said("go on"),
        called("AskUserQuestion", { questions: [] }, "ok", answer),
        replied("Ready it is."),
      ),
    ).toEqual(["e2"]);
  });

  test("is nothing that a program said in the person's place, nor its answers", () => {
    const given = {
      ...said("No, never push to main: always open a pull request."),
      given: "program" as const,
    };
    const answer = called("AskUserQuestion", { questions: [] }, "ok", 'answered: "Draft?"="never draft"');
    expect(found(given, replied("Understood."), answer, replied("OK."))).toEqual([]);
    expect(
      found(said("No, never push to main: always open a pull request."), replied("Understood.")),
    ).toEqual(["e1"]);
  });

  test("is nothing that stands in what a person pasted", () => {
    const issue = "can you look at this\n\n# Setup\n\nAlways run scripts/setup.sh before every commit.";
    const [lead] = findLeads(session(said(issue), replied("Reading it.")));
    expect(lead?.summary).toBe("can you look at this");
  });
});

/** A call that ended with exit code 0, whatever its output says. */
const ended = (command: string, text: string) => ran(command, readOutcome(command, 0, text), text);

describe("a failure", () => {
  it.each<[string, Event]>([
    ["in plain sight", ran("make seed", "failed", "Error: DATABASE_URL is not set")],
    ["behind tail", ended("flutter pub get | tail -3", "error: version solving failed\nusage: flutter")],
    ["behind || true", ended("tool --frob || true", "tool: unknown option --frob")],
    ["behind echo", ended("gt create x; echo done", "error: unexpected argument 'x'\ndone")],
    ["of the shell", ended('rg "a`b" src', 'zsh:1: unmatched "')],
    [
      "of a program that is missing",
      ended("for f in a b; do jq . $f; done", "(eval):1: command not found: jq"),
    ],
    ["of a file tool", called("Read", { file_path: "/w/docs/plan.md" }, "failed", "File does not exist.")],
    [
      "of a hook",
      called("Edit", { file_path: "/w/.env" }, "failed", "PreToolUse:Edit hook error: .env is protected"),
    ],
    ["that a person turned down", ran("git push --force", "rejected", "The user doesn't want to proceed.")],
  ])("is a lead: %s", (_, event) => expect(found(event, replied("Let me see."))).toEqual(["e1"]));

  it.each<[string, Event]>([
    [
      "a file that was not read",
      called("Edit", {}, "failed", "<tool_use_error>File has not been read yet. Read it first."),
    ],
    [
      "a patch with guessed lines",
      called("apply_patch", {}, "failed", "apply_patch verification failed: Failed to find expected lines"),
    ],
    ["text that is not there", called("Edit", {}, "failed", "String to replace not found in file.")],
    [
      "a sibling's",
      called("Read", {}, "failed", "<tool_use_error>Sibling tool call errored</tool_use_error>"),
    ],
    ["cancelled", ran("sleep 99", "cancelled")],
    ["a look at somebody's errors", ran("cat build.log | head", "ok", "error: something in the log")],
    ["a search without a match", ran("grep -r berth src", "ok", "")],
  ])("is none: %s", (_, event) => expect(found(event, replied("Let me see."))).toEqual([]));

  test("is none where the agent wanted it", () => {
    expect(
      found(replied("The new test should fail before the fix."), ran("vitest run", "failed", "1 failed")),
    ).toEqual([]);
  });

  test("is one lead however often it is met, and another for another error of the program", () => {
    const refused = (flag: string) =>
      ran(`courier send a ${flag}`, "failed", `error: unexpected argument '${flag}' found`);
    const leads = findLeads(session(refused("-P"), refused("-P"), replied("Hm."), refused("-m")));
    expect(leads.map(({ refs }) => refs)).toEqual([["e1", "e2"], ["e4"]]);
    expect(leads[0]?.summary).toBe("courier send: error: unexpected argument '-P' found");
  });

  test("is one lead with the words that turned the call down", () => {
    const leads = findLeads(
      session(
        said("publish it"),
        ran("npm publish", "rejected", "The user doesn't want to proceed."),
        said("no, the release workflow publishes"),
        replied("Understood."),
      ),
    );
    expect(leads.map(({ refs }) => refs[0])).toEqual(["e3", "e1"]);
    expect(leads[0]?.refs).toEqual(["e3", "e2", "e4"]);
    expect(leads[0]?.summary).toBe("no, the release workflow publishes");
  });
});

describe("an episode", () => {
  test("has the failure, every edit and related call until it was overcome, the proof and what was said", () => {
    const events = session(
      said("make the seeds run"),
      ran("make seed", "failed", "Error: DATABASE_URL is not set"),
      replied("The seed script reads DATABASE_URL from .env."),
      ran("ls docs", "ok"),
      edited(".env"),
      ran("make seed", "failed", "Error: DATABASE_URL is not set"),
      edited("Makefile"),
      ran("make seed", "ok", "seeded"),
      replied("make did not load .env; it includes it now."),
      ran("git status", "ok"),
    );
    const lead = findLeads(events).find(({ refs }) => refs[0] === "e2");
    expect(lead?.episode).toEqual(["e1", "e2", "e3", "e5", "e6", "e7", "e8", "e9"]);
  });

  test("has a few related steps where nobody overcame it", () => {
    const tries = [1, 2, 3, 4, 5].map((n) => ran(`make seed N=${n}`, "failed", `Error: port ${n} is closed`));
    const looks = Array.from({ length: 20 }, (_, n) => ran(`ls part${n}`, "ok"));
    const events = session(ran("make seed", "failed", "Error: no database"), ...looks, ...tries);
    const lead = findLeads(events).find(({ refs }) => refs.includes("e1"));
    expect(lead?.episode.filter((ref) => ref !== "e1").length).toBeLessThanOrEqual(8);
    expect(lead?.episode).not.toContain("e2");
  });

  test("of a turn has what the agent did and said before it, and how it took it", () => {
    const events = session(
      said("fix the title"),
      edited("dist/app.js"),
      replied("Done, the title is fixed in dist/app.js."),
      said("dist is generated, edit src/app.ts instead"),
      replied("You're right."),
      edited("src/app.ts"),
      ran("npm run build", "ok"),
    );
    const lead = findLeads(events).find(({ refs }) => refs[0] === "e4");
    expect(lead?.episode).toEqual(["e2", "e3", "e4", "e5", "e6", "e7"]);
  });
});

describe("the leads of a long session", () => {
  const part = (n: number): Event[] => [
    said(`what does part ${n} of the report do?`),
    replied(`It prints harbor ${n}.`),
    ran(`tool${n} run`, "failed", `tool${n}: cannot open harbor ${n}`),
    ran(`ls part${n}`, "ok"),
    ...Array.from({ length: 6 }, () => ran(`cat notes${n}.md`, "ok", "")),
  ];
  const parts = (count: number) => Array.from({ length: count }, (_, n) => part(n)).flat();

  test("are few, each with what is near it", () => {
    const leads = findLeads(session(...parts(30)));
    expect(leads.length).toBeLessThanOrEqual(20);
    for (const { refs } of leads) expect(refs.length).toBeLessThanOrEqual(8);
  });

  test("keep a correction among much that is not promising", () => {
    const correction = said("no, never use tool3, we always use harborctl in this repo");
    const leads = findLeads(session(...parts(15), correction, replied("You're right."), ...parts(15)));
    expect(leads[0]?.summary).toBe("no, never use tool3, we always use harborctl in this repo");
  });

  test("keep their ids when the session goes on, and only what is new has a new one", () => {
    const before = session(...parts(3));
    const early = findLeads(before).map(({ id }) => id);
    const day = 86_400_000;
    const more = amid("no, use pnpm").map((event, n) => ({
      ...event,
      ...{ ref: `f${n}`, key: `${900 + n}`, at: (before.at(-1)?.at ?? 0) + day + n },
    }));
    const later = findLeads([...before, ...more]);
    const fresh = later.filter(({ id }) => !early.includes(id));
    expect(fresh.map(({ refs }) => refs[0])).toEqual(["f2"]);
    expect(later.length).toBeGreaterThan(3);
  });

  test("are not joined over a pause in which the session may have been judged", () => {
    const day = 86_400_000;
    const late = session(...parts(12)).map((event) => ({ ...event, at: (event.at ?? 0) + day }));
    const events = [...session(...parts(12)), ...late.map((event, n) => ({ ...event, ref: `f${n}` }))];
    for (const { refs } of findLeads(events).filter(({ kind }) => kind !== "error-recovery"))
      expect(new Set(refs.map((ref) => ref[0])).size).toBe(1);
  });
});
