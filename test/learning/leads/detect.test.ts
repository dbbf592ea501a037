import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detect, findCandidates } from "../../../src/learning/leads/detect.ts";
import type { Event } from "../../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../../helpers/events.ts";

const correction = "No, don't edit dist/app.js, it is generated: change src/app.ts and run npm run build";

describe("what a session taught", () => {
  const events = session(
    said("fix the title"),
    edited("dist/app.js"),
    replied("Done, the title is fixed."),
    said(correction),
    replied("You're right, sorry. I'll change the source."),
    edited("src/app.ts"),
    ran("pytest", "failed", "pytest: command not found"),
    ran("uv run pytest", "ok", "3 passed"),
    replied("Fixed."),
    said(
      "I told you already: dist/app.js is generated, never edit it by hand, change src/app.ts and run npm run build",
    ),
    replied("Apologies, you said so. Reverting dist/app.js."),
    edited("src/app.ts"),
  );

  test("is told best first", () => {
    const found = detect(events);
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(["user-correction", "error-recovery"]));
    const confidences = found.map(({ confidence }) => confidence);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
  });

  test("holds what was said twice once, with the events of both", () => {
    const corrections = detect(events).filter(({ kind }) => kind === "user-correction");
    expect(corrections).toHaveLength(1);
    expect(corrections[0]?.refs).toEqual(expect.arrayContaining(["e4", "e10"]));
  });

  test("is nothing when only questions were asked", () => {
    const questions = session(
      said("how does the build work?"),
      ran("cat package.json", "ok", "{}"),
      replied("It runs esbuild."),
      said("and where are the tests?"),
      replied("In test/."),
    );
    expect(detect(questions)).toEqual([]);
  });
});

describe("what may be worth keeping, for somebody to judge", () => {
  const events = session(
    said("fix the title of the page"),
    edited("dist/app.js"),
    replied("Done."),
    said("the file in dist is generated, the source is src/app.ts"),
    replied("Good to know, changing src/app.ts."),
    edited("src/app.ts"),
    ran("npm run build", "failed", "Error: EADDRINUSE: address already in use :::3000"),
    ran("npm run build", "ok"),
  );

  test("is more than what is told unasked, and holds all of that", () => {
    const wide = findCandidates(events).map(({ refs }) => refs[0]);
    expect(wide).toEqual(expect.arrayContaining(detect(events).map(({ refs }) => refs[0])));
    expect(wide.length).toBeGreaterThan(detect(events).length);
  });

  test("is bounded, best first", () => {
    const many = session(
      ...Array.from({ length: 40 }, (_, n) => [
        said(`No, never use tool-${n} for step${n} here, always take other-${n} from now on`),
        replied("You're right, sorry."),
        ran(`tool${n} x`, "failed", `bash: tool${n}: command not found`, { exitCode: 127 }),
        ran(`other${n} x`, "ok"),
      ]).flat(),
    );
    const found = findCandidates(many);
    expect(found).toHaveLength(12);
    const confidences = found.map(({ confidence }) => confidence);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
  });
});

const words = fc.constantFrom(
  ...[
    "go on",
    "no, use make instead",
    "always run the tests first",
    "why?",
    "",
    "请使用 pnpm",
    "commit this",
  ],
);
const commands = fc.constantFrom(
  ...[
    "npm test",
    "git add .",
    "git commit -m 'x y'",
    "docker build -t a:v1 .",
    "docker push a:v1",
    "kubectl rollout restart x",
  ],
  ...[
    "ls",
    "cd a",
    "cd a && FOO=1 ./scripts/x.sh run",
    "sleep 3; curl http://x",
    "python - <<'E'\nprint(1)\nE",
    "'unclosed",
    "",
  ],
  ...[
    "…[12 characters left out]…",
    "f() { ls; }; f",
    "uv run --with x pytest",
    "npx",
    "uv run",
    "git",
    "$X y",
    "for i in 1; do make $i; done",
  ],
);
const outcomes = fc.constantFrom("ok", "failed", "rejected", "unknown" as const);
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 1, arbitrary: words.map(said) },
  { weight: 1, arbitrary: words.map(replied) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(commands, outcomes)
      .map(([command, outcome]) => ran(command, outcome, "no such file")),
  },
  { weight: 1, arbitrary: fc.constantFrom("a.ts", "b.md").map((file) => edited(file)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("Grep", "Read", "mcp__a__b", "").map((tool) => called(tool, {}, "ok")),
  },
);

test("whatever happens, detectors find the same again, and rest on what there is", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (drafts) => {
      const events = session(...drafts);
      const refs = new Set(events.map(({ ref }) => ref));
      for (const find of [detect, findCandidates]) {
        const found = find(events);
        expect(find(structuredClone(events))).toEqual(found);
        for (const finding of found) {
          expect(finding.refs.length).toBeGreaterThan(0);
          expect(finding.refs.filter((ref) => !refs.has(ref))).toEqual([]);
          expect(finding.name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
          expect([finding.trigger, finding.action, finding.lesson]).not.toContain("");
        }
      }
    }),
    { numRuns: 150 },
  );
});

test("looks, notes and words in between change nothing about what was done", () => {
  const done = [
    "python3 scripts/gen.py",
    "git add .",
    "git commit -m x",
    "gh pr create --title x",
    "python3 scripts/gen.py",
  ];
  const ofDeeds = (events: Event[]) =>
    detect(session(said("publish the catalog"), ...events)).flatMap(({ kind, trigger, action, steps }) =>
      kind === "multi-step" || kind === "repeated-action" ? [{ kind, trigger, action, steps }] : [],
    );
  const beside = fc.constantFrom(
    ran("ls", "ok"),
    ran("git status", "ok"),
    replied("Now."),
    called("Read", {}, "ok"),
  );
  const plain = ofDeeds([...done.map((command) => ran(command, "ok")), ran("ls", "ok"), ran("ls", "ok")]);
  expect(plain.map(({ kind }) => kind).sort()).toEqual(["multi-step", "repeated-action"]);
  fc.assert(
    fc.property(fc.array(fc.array(beside, { maxLength: 3 }), { minLength: 5, maxLength: 5 }), (between) => {
      const events = done.flatMap((command, at) => [ran(command, "ok"), ...(between[at] ?? [])]);
      expect(ofDeeds([...events, ran("ls", "ok"), ran("ls", "ok")])).toEqual(plain);
    }),
    { numRuns: 40 },
  );
});
