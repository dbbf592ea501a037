import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { findCertain } from "../../../src/learning/leads/certain.ts";
import { findLeads } from "../../../src/learning/leads/find-leads.ts";
import type { Event } from "../../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../../helpers/events.ts";

const cures = (...events: Event[]) => findCertain(session(said("get it running"), ...events));

describe("a cure", () => {
  it.each<[string, Event[], string]>([
    [
      "a program that is not there is started through the project's own runner",
      [
        ran("gauge -q", "failed", "bash: gauge: command not found", { exitCode: 127 }),
        ran("uv run gauge -q", "ok", "9 docks"),
      ],
      "Use `uv run gauge` instead of `gauge`: `gauge` is not installed here or not on the path.",
    ],
    [
      "the error misses a variable, and that was set",
      [ran("sh check.sh", "failed", "error: HARBOR_DB is not set"), ran("HARBOR_DB=local sh check.sh", "ok")],
      'Use `HARBOR_DB=local sh check.sh` instead of `sh check.sh`, which fails with "HARBOR_DB is not set".',
    ],
    [
      "the error says in words what to do first, and that was done",
      [
        ran("npm test", "failed", "Error: DATABASE_URL is not set; copy .env.test to .env"),
        ran("cp .env.test .env && npm test", "ok"),
      ],
      'If `npm test` fails with "DATABASE_URL is not set", run `cp .env.test .env` first.',
    ],
    [
      "the shell stopped at a pattern, and quotes got past it",
      [
        ran("cat src/[id].astro", "failed", "zsh:1: no matches found: src/[id].astro"),
        ran("cat 'src/[id].astro'", "ok", "---"),
      ],
      "Quote a path with [ ], ( ) or ? such as `src/[id].astro` in zsh",
    ],
  ])("is shown at once where %s", (_, events, words) => {
    const [found] = cures(...events);
    expect(found?.lesson).toContain(words);
    expect(found?.confidence).toBeGreaterThanOrEqual(0.6);
  });

  it.each<[string, Event[]]>([
    [
      "a program tells of its own rules, and is obeyed at once",
      [
        ran("gt create -m x", "failed", "ERROR: untracked branch fix. You can track it with gt track."),
        ran("gt track --parent main", "ok"),
        ran("gt create -m x", "ok"),
      ],
    ],
    [
      "a hook stopped a push: instruction files may say so already",
      [
        ran(
          "git push",
          "failed",
          "$ pier lint\n$ pier test\n1 berth is taken\nhusky - pre-push script failed",
        ),
        edited("/w/pier.ts"),
        ran("git push", "ok"),
      ],
    ],
    [
      "it is a slip: the error calls the flag unknown, and the call works without it",
      [
        ran("courier send api -P note.md", "failed", "error: unexpected argument '-P' found"),
        ran("courier send api --file note.md", "ok", "sent"),
      ],
    ],
    [
      "an edit came between",
      [
        ran("tool send api -P note.md", "failed", "error: unexpected argument '-P' found"),
        edited("note.md"),
        ran("tool send api --file note.md", "ok"),
      ],
    ],
    [
      "the error names only one of the things that helped",
      [
        ran("npm test", "failed", "Error: DATABASE_URL is not set, see .env.test"),
        ran("cp .env.test local.env && npm test", "ok"),
      ],
    ],
    [
      "the error does not name what helped",
      [
        ran("make seed", "failed", "Error: could not connect to the database"),
        ran("docker compose up -d db", "ok"),
        ran("make seed", "ok"),
      ],
    ],
    [
      "the person spoke in between",
      [
        ran("python seed.py", "failed", "zsh: command not found: python", { exitCode: 127 }),
        said("what happened?"),
        ran("python3 seed.py", "ok"),
      ],
    ],
  ])("waits for a second session where %s", (_, events) => {
    for (const { confidence } of cures(...events)) expect(confidence).toBeLessThan(0.6);
  });
});

describe("rules alone", () => {
  test("show no procedure, no pattern and no correction heard once", () => {
    const steps = ["npm run build", "docker build .", "docker push shop", "kubectl rollout restart shop"];
    const rounds = [1, 2, 3].flatMap(() => steps.map((command) => ran(command, "ok")));
    const corrected = [said("that's the wrong file, the handler is in src/api"), replied("You're right.")];
    expect(findCertain(session(said("ship it"), ...rounds, ...corrected, edited("src/api/a.ts")))).toEqual(
      [],
    );
  });

  const words = fc.constantFrom(
    "go on",
    "no, use make instead",
    "always run the tests first",
    "why?",
    "",
    "请用 pnpm",
  );
  const commands = fc.constantFrom(
    ...[
      "npm test",
      "git commit -m 'x y'",
      "cd a && FOO=1 ./x.sh run | tail",
      "'unclosed",
      "",
      "f() { ls; }; f",
    ],
    ...[
      "…[12 characters left out]…",
      "uv run --with x pytest",
      "$X y",
      "for i in 1; do make $i; done",
      "rg -- a",
    ],
  );
  const outcomes = fc.constantFrom("ok", "failed", "rejected", "unknown" as const);
  const outputs = fc.constantFrom(
    "no such file",
    "zsh: command not found: x",
    "",
    '{"exit_code":1,"output":"a\\nb"}',
  );
  const anyEvent: fc.Arbitrary<Event> = fc.oneof(
    { weight: 2, arbitrary: words.map(said) },
    { weight: 1, arbitrary: words.map(replied) },
    { weight: 6, arbitrary: fc.tuple(commands, outcomes, outputs).map((made) => ran(...made)) },
    { weight: 1, arbitrary: fc.constantFrom("a.ts", "b.md").map((file) => edited(file)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("Grep", "Read", "").map((tool) => called(tool, {}, "failed", "x")),
    },
  );

  test("and leads are the same for the same session, and rest on what there is", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), (drafts) => {
        const events = session(...drafts);
        const refs = new Set(events.map(({ ref }) => ref));
        const [found, leads] = [findCertain(events), findLeads(events)];
        expect([findCertain(structuredClone(events)), findLeads(structuredClone(events))]).toEqual([
          found,
          leads,
        ]);
        for (const finding of found) {
          expect(finding.name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
          expect([finding.trigger, finding.action, finding.lesson]).not.toContain("");
        }
        for (const { refs: named, keys, episode, confidence, summary } of leads) {
          expect([...named, ...episode].filter((ref) => !refs.has(ref))).toEqual([]);
          expect(episode).toEqual(expect.arrayContaining([...named]));
          expect([named.length > 0, named.length <= 8, keys.length <= 8]).toEqual([true, true, true]);
          expect([confidence > 0, confidence <= 1, summary.length <= 200]).toEqual([true, true, true]);
        }
        expect(new Set(leads.map(({ id }) => id)).size).toBe(leads.length);
      }),
      { numRuns: 100 },
    );
  });
});
