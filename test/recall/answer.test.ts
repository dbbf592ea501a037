import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readSymptom } from "../../src/failures/symptom.ts";
import { foresees, lessonCues, type Question, questionCues } from "../../src/lessons/similarity.ts";
import { findHome, type LessonMatch, listCalls, readQuestion, recall } from "../../src/recall/recall.ts";
import type { Finding, LessonScope, LessonState, Remedy } from "../../src/records/lesson.ts";
import { called, ran } from "../helpers/events.ts";
import { aFinding } from "../helpers/findings.ts";
import { runs } from "../helpers/runs.ts";

const day = 86_400_000;
const now = Date.UTC(2026, 5, 1);

interface Taught {
  readonly id?: string;
  readonly project?: string;
  readonly home?: string | null;
  readonly scope?: LessonScope;
  readonly daysAgo?: number;
  readonly instinct?: string;
  readonly finding?: Partial<Finding>;
  readonly state?: Partial<LessonState>;
}

type KnownFinding = LessonMatch["best"];
type Memory = Parameters<typeof recall>[0];
type Asked = Parameters<typeof recall>[2];

const parseCalls = (command: string) => listCalls({ command, tool: null, input: null, files: [] });

/** A memory that offers these findings for every question, whatever their cues and words. */
function memoryOf(
  known: readonly KnownFinding[],
  counts: ReadonlyMap<string, number> = new Map(),
  uses: Awaited<ReturnType<Memory["learning"]["uses"]["of"]>> = [],
): Memory {
  const homes = new Map(known.map(({ project, home }) => [project, home]));
  const findings = known.map(({ home: _, lesson, ...finding }) => ({ ...finding, lessonId: lesson.id }));
  const project = (id: string) => {
    const root = homes.get(id) ? `${homes.get(id)}/work` : null;
    return { id, name: id, root, sessions: 1, firstAt: 0, lastAt: 0 };
  };
  return {
    learning: {
      findings: { cued: async () => findings, countsOf: async () => counts, sharing: async () => [] },
      lessons: { get: async () => known.map(({ lesson }) => lesson) },
      uses: { of: async () => uses },
    },
    projects: { get: async (ids) => ids.map(project), list: async () => [] },
  } as Memory;
}

const answer = (question: Question, known: readonly KnownFinding[], asking: Asked) =>
  recall(memoryOf(known), question, asking);

/** That a command failed with an error and another one helped, as it is known afterwards. */
function taught(command: string, output: string, worked: string, more: Taught = {}): KnownFinding {
  const { id = "i1", project = "/p", home = "/home/dev", scope = "project", daysAgo = 1 } = more;
  const at = now - daysAgo * day;
  const [run] = parseCalls(worked);
  const { confidence: _, ...lesson } = aFinding({
    lesson: `${command} fails; ${worked} works.`,
    trigger: `${command} fails with ${output}`,
    action: `use ${worked}`,
    scope,
    symptom: readSymptom(command, output, 1),
    remedy: "program",
    call: run ? [run.program, ...(run.parts ?? [])] : null,
    excerpt: { failed: command, error: output, worked, said: null, replied: null },
    at,
    ...more.finding,
  });
  const state: LessonState = {
    status: "pending",
    confidence: 0.6,
    sessions: 1,
    sure: 0.9,
    firstAt: at,
    lastAt: at,
    foundAt: at,
    contradicted: false,
    supersededBy: null,
    ...more.state,
  };
  const finding: Finding = { ...lesson, confidence: 0.9 };
  return {
    id,
    session: `/s/${id}`,
    run: id,
    project,
    ...{ scopeId: project, lessonId: more.instinct ?? id, foundAt: at, pass: 1 },
    home,
    at,
    finding,
    lesson: { ...lesson, id: more.instinct ?? id, project, state },
  };
}

const asked: Asked = { project: "/p", home: "/home/dev", asker: "nobody", now };
const python = "python: command not found";
const noPython = (more: Taught = {}) => taught("python a.py", python, "python3 a.py", more);
const noDatabase = (more: Taught = {}) =>
  taught("make test", "error: connect ECONNREFUSED 127.0.0.1:5432", "docker compose up -d", {
    ...more,
    finding: { remedy: "step", ...more.finding },
  });

const failure = (command: string, output: string): Question => ({
  type: "failure",
  symptom: readSymptom(command, output, 1),
  calls: parseCalls(command),
});
const about = (command: string): Question => ({ type: "call", calls: parseCalls(command) });
const met = failure("python b.py", python);
const twice = { state: { sessions: 2, confidence: 0.75 } };

const told = async (question: Question, known: readonly KnownFinding[]) =>
  (await answer(question, known, asked)).map(({ lesson: instinct }) => instinct.id);

describe("an answer to a failure", () => {
  it.each<[string, KnownFinding, string, number]>([
    ["from this project fits whole", noPython(), "here", 1],
    [
      "of the person, from another of their projects, fits whole",
      noPython({ project: "/q", scope: "user" }),
      "anywhere",
      1,
    ],
    ["from another project fits less", noPython({ project: "/q" }), "elsewhere", 0.7],
  ])("%s", async (_, known, distance, fit) =>
    expect(await answer(met, [known], asked)).toMatchObject([{ distance, fit, by: "error", kind: "fix" }]),
  );

  test("of another person is from elsewhere, and is given only to who asks", async () => {
    const known = noPython({ project: "/q", scope: "user", home: "/home/eve" });
    expect(await answer(met, [known], asked)).toEqual([]);
    expect(await answer(met, [known], { ...asked, asker: "person" })).toMatchObject([
      { distance: "elsewhere", fit: 0.7 },
    ]);
  });

  test("of the judge is told unasked where it was seen to work, or a person accepted it", async () => {
    const byJudge = (finding: Partial<Finding>, state: Partial<LessonState> = {}) =>
      noPython({ finding: { by: "judge", ...finding }, state });
    const unseen = {
      excerpt: { failed: "python a.py", error: python, worked: null, said: null, replied: null },
    };
    expect(await told(met, [byJudge({})])).toEqual(["i1"]);
    expect(await told(met, [byJudge(unseen)])).toEqual([]);
    expect(await told(met, [byJudge(unseen, { acceptedAt: now })])).toEqual(["i1"]);
    expect(await answer(met, [byJudge(unseen)], { ...asked, asker: "person" })).toHaveLength(1);
  });

  test("is not told where the person forbade what it does", async () => {
    const forbidden = noPython({ state: { vetoedBy: "i9" } });
    expect(await told(met, [forbidden])).toEqual([]);
    expect(await answer(met, [forbidden], { ...asked, asker: "person" })).toEqual([]);
  });

  test("is, of fixes that as many sessions taught, the one that worked last", async () => {
    const old = noPython({ id: "old", daysAgo: 9, state: { sure: 0.95 } });
    const late = noPython({ id: "late", daysAgo: 2, state: { sure: 0.7 } });
    expect(await told(met, [old, late])).toEqual(["late", "old"]);
    expect(await told(met, [noPython({ id: "old", daysAgo: 9, ...twice }), late])).toEqual(["old", "late"]);
  });

  test("may be about another name where the fix is general, but only in its own project", async () => {
    const missing = (name: string) => `error: Cannot find package "${name}" from "/home/dev/p/src/a.ts"`;
    const known = (project: string) =>
      taught("bun run a.ts", missing("zod"), "bun install", {
        project,
        finding: { remedy: "step", action: "first bun install" },
      });
    const question = failure("bun run b.ts", missing("hono"));
    const whoAsks = { ...asked, asker: "person" as const };
    expect(await answer(question, [known("/p")], whoAsks)).toMatchObject([{ fit: 0.7, load: false }]);
    expect(await answer(question, [known("/q")], whoAsks)).toEqual([]);
    expect(await answer(failure("bun run b.ts", missing("zod")), [known("/q")], whoAsks)).toHaveLength(1);
  });

  test("does not come from another project where the trouble lies with the project", async () => {
    const question = failure("npm run tset", 'npm error Missing script: "tset"');
    const known = (project: string) =>
      taught("npm run tset", 'npm error Missing script: "tset"', "npm run test", { project });
    expect(await told(question, [known("/p")])).toEqual(["i1"]);
    expect(await told(question, [known("/q")])).toEqual([]);
    // Whoever asks may judge that for themselves.
    expect(await answer(question, [known("/q")], { ...asked, asker: "person" })).toMatchObject([
      { distance: "elsewhere", load: false },
    ]);
  });

  it.each<[string, Partial<LessonState>, number]>([
    ["is told while it waits", {}, 1],
    ["is told when it is active", { status: "active" }, 1],
    ["is told when it was promoted", { status: "promoted" }, 1],
    ["is not told when a person refused it", { status: "rejected", confidence: 1, sessions: 9 }, 0],
    ["is not told when another took its place", { status: "superseded", confidence: 1, sessions: 9 }, 0],
    ["is not told while it is held back", { status: "conflict-hold", confidence: 1, sessions: 9 }, 0],
    ["is not told when it is weak", { confidence: 0.1, sure: 0.1 }, 0],
    [
      "is told though it is weak, when many sessions taught it",
      { confidence: 0.1, sure: 0.1, sessions: 4 },
      1,
    ],
  ])("%s", async (_, state, count) => expect(await told(met, [noPython({ state })])).toHaveLength(count));

  test("is not told from elsewhere when it is only just good enough here", async () => {
    const state = { confidence: 0.4, sure: 0.4 };
    expect(await told(met, [noPython({ state })])).toHaveLength(1);
    expect(await told(met, [noPython({ state, project: "/q" })])).toEqual([]);
  });

  it.each<[string, KnownFinding[], string[]]>([
    [
      "the best fit first, however sure another is",
      [noPython({ id: "far", project: "/q", state: { sure: 1, sessions: 9 } }), noPython({ id: "near" })],
      ["near", "far"],
    ],
    [
      "of equal fits what more sessions taught",
      [noPython({ id: "a" }), noPython({ id: "b", ...twice })],
      ["b", "a"],
    ],
    [
      "then what worked last",
      [noPython({ id: "a", daysAgo: 9 }), noPython({ id: "b", daysAgo: 2 })],
      ["b", "a"],
    ],
    ["then what is surest", [noPython({ id: "a", state: { sure: 0.7 } }), noPython({ id: "b" })], ["b", "a"]],
    ["then the same every time", [noPython({ id: "b" }), noPython({ id: "a" })], ["a", "b"]],
    ["three at the most", ["e", "d", "c", "b", "a"].map((id) => noPython({ id })), ["a", "b", "c"]],
  ])("gives %s", async (_, known, ids) => {
    expect(await told(met, known)).toEqual(ids);
    expect(await told(met, [...known].reverse())).toEqual(ids);
  });

  test("rests on every finding of its lesson, the earliest first, and tells the one whose call is most alike", async () => {
    const one = noPython({ id: "x", instinct: "i", daysAgo: 3 });
    const other = {
      ...taught("python manage.py migrate", python, "python3 manage.py migrate", { id: "y", daysAgo: 5 }),
      lesson: one.lesson,
    };
    const [match] = await answer(failure("python manage.py check", python), [one, other], asked);
    expect(match?.from.map(({ id }) => id)).toEqual(["y", "x"]);
    expect(match?.best.id).toBe("y");
  });

  test("is none for another program, another cause, or what already does as it says", async () => {
    expect(await told(failure("ruby a.rb", "ruby: command not found"), [noPython()])).toEqual([]);
    expect(
      await told(failure("python a.py", "ModuleNotFoundError: No module named 'x'"), [noPython()]),
    ).toEqual([]);
    expect(await told(failure("python3 a.py; python b.py", python), [noPython()])).toEqual([]);
  });
});

describe("a warning before a call", () => {
  it.each<[string, Question, KnownFinding, number]>([
    ["is given when two sessions taught it", about("python b.py"), noPython(twice), 1],
    ["is not given when only one did", about("python b.py"), noPython(), 0],
    ["is not given at a prompt either when only one did", readQuestion("python b.py"), noPython(), 0],
    ["is not given from another project", about("python b.py"), noPython({ ...twice, project: "/q" }), 0],
    [
      "of the person's is given everywhere",
      about("python b.py"),
      noPython({ ...twice, project: "/q", scope: "user" }),
      1,
    ],
    ["is not given for the call that helps", about("python3 b.py"), noPython(twice), 0],
    ["is not given for another call", about("ruby b.rb"), noPython(twice), 0],
    ["is not given when nothing in the words tells", about("make test"), noDatabase(twice), 0],
    [
      "is not given after entering an environment",
      about("source .venv/bin/activate && python b.py"),
      noPython(twice),
      0,
    ],
    ["is given after going to a folder", about("cd app && python b.py"), noPython(twice), 1],
  ])("%s", async (_, question, known, count) =>
    expect(await answer(question, [known], asked)).toHaveLength(count),
  );

  test("of one session is given to somebody who asks", async () =>
    expect(
      await answer(readQuestion("python b.py"), [noPython()], { ...asked, asker: "person" }),
    ).toHaveLength(1));

  test("says of a flag that only calls with that flag fail", async () => {
    const known = taught("vitest --watchAll=false", "CACError: Unknown option `--watchAll`", "vitest --run", {
      ...twice,
      finding: { remedy: "flag" },
    });
    expect(await answer(about("vitest --watchAll src"), [known], asked)).toMatchObject([
      { by: "call", fit: 1 },
    ]);
    expect(await told(about("vitest --watch src"), [known])).toEqual([]);
    expect(await told(about("jest --watchAll src"), [known])).toEqual([]);
  });

  test("of a file that may not be touched is for calls and tools with that file", async () => {
    const denied = "Permission to use Bash with command cat .env has been denied.";
    const { finding } = taught("cat .env", denied, "ls", { finding: { remedy: null, call: null } });
    expect(finding.symptom).toMatchObject({ cause: "denied", files: [".env"] });
    expect(parseCalls("grep KEY .env").some((call) => foresees(finding, call))).toBe(true);
    expect(parseCalls("grep KEY .env.example").some((call) => foresees(finding, call))).toBe(false);
    const read = { ...called("Read", { file_path: "/p/.env" }, "ok"), files: ["/p/.env"] };
    expect(listCalls(read).some((call) => foresees(finding, call))).toBe(true);
  });

  it.each<[string, string, number, number, boolean]>([
    ["disproved by the same call that worked later", "python", 2, 1, true],
    ["not by one that worked before", "python", -2, 1, false],
    ["not by one that failed", "python", 2, 0, false],
    ["not by another call", "python3", 2, 1, false],
  ])("is %s", async (_, head, daysLater, ok, disproved) => {
    const at = now - (9 - daysLater) * day;
    const uses = [{ head, parts: [], at, ok, failed: 1 - ok }];
    const memory = memoryOf([noPython({ ...twice, daysAgo: 9 })], new Map(), uses);
    expect(await recall(memory, about("python b.py"), asked)).toHaveLength(disproved ? 0 : 1);
  });
});

describe("an answer to a text", () => {
  it.each<[string, string, string[]]>([
    ["by the error it quotes", `Why do I get this?\n${python}`, ["error"]],
    ["by a command in backticks", "now please run `python manage.py migrate` for me", ["call"]],
    ["by the command it is", "python manage.py migrate", ["call"]],
    ["by nothing when it speaks of something else", "write a poem about the sea", []],
    ["by nothing when it only shares a word", "is python a snake?", []],
  ])("is found %s", async (_, text, by) =>
    expect(
      (await answer(readQuestion(text), [noPython()], { ...asked, asker: "person" })).map(
        (match) => match.by,
      ),
    ).toEqual(by),
  );

  it.each<[string, string, string, boolean]>([
    ["go test", "go: cannot find main module", "Go ahead and test it", false],
    ["go test", "go: cannot find main module", "Let's go and run a test of the new page", false],
    ["go test ./...", "go: cannot find main module", "please run `go test` for me", true],
    ["make build", "make: *** No rule to make target 'build'.", "Please make the build green", false],
    ["make build", "make: *** No rule to make target 'build'.", "Can you make build times shorter?", false],
    ["make build", "make: *** No rule to make target 'build'.", "make build, then tell me", true],
    ["npm run check", 'npm error Missing script: "check"', "Can you check whether npm is run in CI?", false],
    ["npm run check", 'npm error Missing script: "check"', "Please do npm run check again", true],
    ["pnpm test", "sh: 1: pnpm: not found", "Please run pnpm test and tell me what fails", true],
  ])("is told unasked of %s (%s) at a prompt: %s: %s", async (failed, error, prompt, told) => {
    const known = taught(failed, error, "something else", { state: { sessions: 1 } });
    expect((await answer(readQuestion(prompt), [known], asked)).length > 0).toBe(told);
  });

  test("is found by words that it shares with a lesson, the rare ones most", async () => {
    const known = taught("x", "", "y", {
      // It is no cure, so agents are told of it after a person's yes.
      state: { acceptedAt: now },
      finding: {
        symptom: null,
        remedy: null,
        call: null,
        trigger: "changing the generated schema",
        action: "edit schema/harbor.json, then generate",
      },
    });
    const text = readQuestion("add a berth to schema/harbor.json and the generated schema");
    expect(await answer(text, [known], asked)).toMatchObject([{ by: "words", kind: "lesson" }]);
    const common = new Map([...text.terms].map((word) => [word, 1e43]));
    expect(await recall(memoryOf([known], common), text, asked)).toEqual([]);
  });
});

it.each([
  ["/home/dev/work/a", "/home/dev"],
  ["/Users/dev/a", "/Users/dev"],
  ["/root/a", "/root"],
  ["C:\\Users\\dev\\a", "C:\\Users\\dev"],
  ["/srv/a", null],
  ["/rooted/a", null],
])("the home of %s is %s", async (path, home) => expect(findHome(path)).toBe(home));

/** Failures of all causes with few names, so that random ones often are the same or nearly so. */
const anyName = fc.constantFrom("alpha", "beta", "--gamma", "delta.ts");
const anyFailure = fc
  .tuple(
    fc.constantFrom("npm", "python", "vitest", "cat"),
    fc.constantFrom("run", "test", ""),
    anyName,
    fc.nat(10),
  )
  .map(([program, verb, name, kind]): [command: string, output: string] => {
    const command = `${program} ${verb} ${name} .env`.replace(/ +/g, " ");
    const bare = name.replace(/^-+/, "");
    return [
      command,
      [
        `bash: ${program}: command not found`,
        `error: unknown option '${name}'`,
        `npm error Missing script: "${bare}"`,
        `ModuleNotFoundError: No module named '${bare}'`,
        "error: connect ECONNREFUSED 127.0.0.1:5432",
        `Permission to use Bash with command ${command} has been denied.`,
        `error: the vessel ${bare} ran aground near the harbor`,
        "3 failing\n  1) works",
        "Error: timed out after 30 s waiting for the lock",
        // The same in other words.
        `zsh: command not found: ${program}`,
        `unrecognized option '${name}' given`,
      ][kind] as string,
    ];
  });
const anyRemedy = fc.constantFrom<Remedy | null>(
  ...([
    "wrapper",
    "program",
    "flag",
    "argument",
    "step",
    "none",
    "directory",
    "elevation",
    "other-way",
    "input",
  ] as const),
  null,
);
const anyQuestion: fc.Arbitrary<Question> = fc.oneof(
  anyFailure.map(([command, output]) => failure(command, output)),
  anyFailure.map(([command]) => about(command)),
  anyFailure.map(([command, output]) => readQuestion(`I ran \`${command}\` and got:\n${output}`)),
  anyName.map(
    (name): Question => ({
      type: "call",
      calls: listCalls({ ...called("Read", { file_path: `/p/${name}` }, "ok"), files: ["/p/.env"] }),
    }),
  ),
);

test("whatever would be an answer by its error or its call can be looked up by its cues", async () => {
  let answers = 0;
  await fc.assert(
    fc.asyncProperty(anyQuestion, anyFailure, anyRemedy, async (question, [command, output], remedy) => {
      const known = taught(command, output, "make it so", { ...twice, finding: { remedy } });
      const [match] = await answer(question, [known], asked);
      if (!match || match.by === "words") return;
      answers++;
      const cues = new Set(questionCues(question));
      // What passed by itself is no lesson, though it would be an answer.
      if (lessonCues(known.finding).length === 0) expect(remedy).toBe("none");
      else expect(lessonCues(known.finding).some((cue) => cues.has(cue))).toBe(true);
    }),
    { numRuns: runs(8_000) },
  );
  expect(answers).toBeGreaterThan(100);
});

test("a call of a script is looked up by its first words only", async () => {
  const words = Array.from({ length: 500 }, (_, n) => `w${n}`).join(" ");
  expect(questionCues(about(`make ${words}`)).length).toBeLessThan(40);
  expect(listCalls(ran(`make ${"x".repeat(6_000)}`, "ok"))).toEqual([]);
});
