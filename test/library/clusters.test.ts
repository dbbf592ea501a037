import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { clusterLessons, type LessonCluster } from "../../src/library/evolve/clusters.ts";
import { growClusterText, renderCluster } from "../../src/library/publish/render.ts";
import { parseSkill, validateSkill } from "../../src/library/skill.ts";
import { type Lesson, type LessonState, noExcerpt } from "../../src/records/lesson.ts";
import { parseAsk } from "../../src/search/ask.ts";

const now = Date.UTC(2026, 0, 20);

type Given = Partial<Omit<Lesson, "state">> & { state?: Partial<LessonState> };

let made = 0;
/** An instinct that three sessions agree on. */
function instinct({ state, ...more }: Given = {}): Lesson {
  const n = made++;
  return {
    id: `i${String(n).padStart(11, "0")}`,
    project: "/p",
    kind: "error-recovery",
    lesson: "",
    trigger: "",
    action: "",
    steps: [],
    keywords: [],
    name: `lesson-${n}`,
    scope: "project",
    artifact: "skill",
    excerpt: noExcerpt,
    call: null,
    symptom: null,
    remedy: null,
    ...more,
    state: {
      status: "active",
      confidence: 0.85,
      sessions: 3,
      sure: 0.9,
      firstAt: now - n * 1_000,
      lastAt: now,
      foundAt: now,
      contradicted: false,
      supersededBy: null,
      ...state,
    },
  };
}

const lesson = (trigger: string, action: string, more: Given = {}) =>
  instinct({ trigger, action, lesson: `${trigger}: ${action}.`, ...more });

const installs = (more: Given = {}) => [
  lesson("npm install fails with ERESOLVE", "add --legacy-peer-deps", more),
  lesson("npm install fails with EACCES", "set a prefix in the home folder", more),
  lesson("npm install fails behind the proxy", "set the registry in .npmrc", more),
];

const releases = (more: Given = {}) => [
  lesson("cutting a release", "bump the version with npm version", more),
  lesson("publishing a release", "run npm publish with the access flag", more),
  lesson("tagging a release", "push the tags before the notes are written", more),
];

const clusters = (instincts: readonly Lesson[], prompts: readonly string[] = []) =>
  clusterLessons(instincts, now, prompts.map(request));

function request(text: string, n: number) {
  const ask = parseAsk(text);
  if (ask === null) throw new Error(`"${text}" asks for nothing`);
  return { project: "/p", session: `s${n}`, at: now + n, ask };
}

const ids = (all: readonly Pick<Lesson, "id">[]) => all.map(({ id }) => id).sort();

describe("instincts about one thing", () => {
  it.each<[string, Lesson[], number]>([
    ["three make a cluster", installs(), 1],
    ["two make none", installs().slice(1), 0],
    ["four of two things make none", [...installs().slice(1), ...releases().slice(1)], 0],
    ["of two things there are two clusters", [...installs(), ...releases()], 2],
    ["what is not sure enough is none", installs({ state: { confidence: 0.7, status: "active" } }), 0],
    [
      "what one session said is none",
      installs({ state: { status: "pending", sessions: 1, confidence: 0.85 } }),
      0,
    ],
    [
      "what two sessions said is one",
      installs({ state: { status: "pending", sessions: 2, confidence: 0.76 } }),
      1,
    ],
    ["what was rejected is none", installs({ state: { status: "rejected" } }), 0],
    ["what was superseded is none", installs({ state: { status: "superseded" } }), 0],
    ["what is held is none", installs({ state: { status: "conflict-hold" } }), 0],
    [
      "what is forgotten is none",
      installs({ state: { status: "pending", sessions: 2, lastAt: 1, foundAt: 1 } }),
      0,
    ],
    ["what is of several projects is none", installs().map((one, n) => ({ ...one, project: `/p${n}` })), 0],
    [
      "what is the person's is one, wherever it was learned",
      installs({ scope: "user" }).map((one, n) => ({ ...one, project: `/p${n}` })),
      1,
    ],
    [
      "words that any work has join nothing",
      [
        lesson("running the command for the new task", "use the wrapper"),
        lesson("running a command after a change", "write the log"),
        lesson("a command always fails", "try the other one"),
      ],
      0,
    ],
    [
      "a chain of neighbours is not one thing",
      [
        lesson("docker build cache", "mount it"),
        lesson("cache of webfonts invalid", "purge it"),
        lesson("webfonts licence kerning", "ask the designer"),
        lesson("kerning of printed leaflets", "proof them"),
      ],
      0,
    ],
  ])("%s", (_, instincts, count) => expect(clusters(instincts)).toHaveLength(count));

  test("are together whatever order they come in, and the least sure go where the mean is too low", () => {
    const weak = lesson("npm install fails with ENOSPC", "clean the cache", {
      state: { status: "pending", confidence: 0.4, sessions: 2 },
    });
    const all = [...installs(), weak, ...releases()];
    const [first] = clusters(all).filter(({ field }) => field === "packaging");
    expect(first?.confidence).toBeGreaterThanOrEqual(0.75);
    expect(ids(first?.members ?? [])).not.toContain(weak.id);
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(clusters(shuffled)).toEqual(clusters(all));
      }),
      { numRuns: 20 },
    );
  });

  test("leave out what asks for the opposite", () => {
    const contrary = [
      lesson("committing to the main branch", "squash the commits"),
      lesson("committing on a feature branch", "sign the commits"),
      lesson("committing after a rebase of the branch", "push with the lease"),
      lesson("committing to any branch", "never squash the commits"),
    ];
    const [cluster] = clusters(contrary);
    const actions = cluster?.members.map(({ action }) => action) ?? [];
    expect(actions.filter((action) => action.includes("squash"))).toHaveLength(1);
  });
});

describe("what a cluster becomes", () => {
  const looking = [
    lesson("the api pod restarts", "first look at the logs of the pod, then describe it"),
    lesson("a pod of the worker restarts", "compare the metrics with the health checks"),
    lesson("the pod restarts after a deploy", "check the history of the rollout"),
    lesson("a pod restarts at night", "trace it in the events of the node, with its logs"),
  ];
  it.each<[string, Lesson[], string[], LessonCluster["kind"]]>([
    ["a skill by itself", installs(), [], "skill"],
    [
      "a command when people keep asking",
      releases(),
      ["Cut a release 2.4", "Please cut a release"],
      "command",
    ],
    ["a skill when one session asked", releases(), ["Cut a release 2.4"], "skill"],
    [
      "a skill when something else is asked for",
      releases(),
      ["Translate the docs", "Translate the docs"],
      "skill",
    ],
    [
      "a skill when it is to be mended",
      installs(),
      ["Fix the npm install failure behind the proxy", "Fix the npm install failure of the proxy"],
      "skill",
    ],
    [
      "a skill though its actions speak of running commands",
      [
        lesson("npm install fails with ERESOLVE", "run the command npm install --legacy-peer-deps"),
        lesson("npm install fails with EACCES", "run this command as the user asks"),
        lesson("npm install fails behind the proxy", "run the command with the registry"),
      ],
      [],
      "skill",
    ],
    [
      "a command when a person gave the order in several sessions",
      releases({
        kind: "explicit-instruction",
        excerpt: { ...noExcerpt, said: "Cut a release and push the tags." },
      }),
      [],
      "command",
    ],
    ["an agent when four look into something", looking, [], "agent"],
    ["a skill when three do", looking.slice(1), [], "skill"],
    [
      "an agent when it is work of several steps",
      [
        ...installs({ kind: "multi-step" }),
        lesson("npm install fails offline", "use the mirror", { kind: "multi-step" }),
      ],
      [],
      "agent",
    ],
    [
      "a skill though the word debug stands in all of them",
      [...installs(), lesson("npm install fails offline", "use the mirror")].map((one) => ({
        ...one,
        action: `${one.action} to debug`,
      })),
      [],
      "skill",
    ],
  ])("%s", (_, instincts, prompts, kind) =>
    expect(clusters(instincts, prompts).map((one) => one.kind)).toEqual([kind]),
  );
});

it.each([
  [installs(), "Use when npm install fails: "],
  [releases(), "Use when the work is about release: "],
  [
    [
      lesson("the api pod restarts", "look at its memory"),
      lesson("a pod of the worker restarts", "look at its limits"),
      lesson("the pod restarts after a deploy", "look at the image"),
    ],
    "Use when the pod restarts: ",
  ],
])("what applies to all is said in the words that most have", (members, start) => {
  const [cluster] = clusters(members);
  expect(composed(cluster as LessonCluster).description).toContain(start);
});

const composed = (cluster: LessonCluster) => renderCluster(cluster, "rl-");

describe("the text of a cluster", () => {
  test("is a valid skill with each lesson once", () => {
    const [first, ...rest] = installs() as [Lesson, Lesson, Lesson];
    const [cluster] = clusters([first, ...rest, { ...first, id: "i99999999999" }]);
    const { text, name, description } = composed(cluster as LessonCluster);
    expect(validateSkill(text, name)).toEqual([]);
    expect(name).toBe("rl-npm-install");
    expect(description).toMatch(/^Use when npm install fails/);
    expect(text.split("--legacy-peer-deps").length - 1).toBe(2);
    expect(text.match(/^### /gm)).toHaveLength(3);
    expect(parseSkill(text).skill?.metadata).toEqual({ origin: "knack" });
  });

  test("runs nothing and fills in nothing when it is a command's", () => {
    const withCode = releases({ excerpt: { ...noExcerpt, worked: "sh -c 'echo $1 $ARGUMENTS' !`id`" } });
    const [cluster] = clusters(withCode, ["Cut a release 2.4", "Cut a release 3.0"]);
    const { text, kind } = composed(cluster as LessonCluster);
    expect(kind).toBe("command");
    expect(text).toMatch(/^argument-hint: /m);
    expect(text).not.toMatch(/^name: /m);
    const body = text.replace("What is given with it: $ARGUMENTS", "");
    expect(body).not.toMatch(/!`|\$\d|\$ARGUMENTS/);
  });

  test("grows by what it does not say yet, each thing once: growing twice is growing once", () => {
    const all = [
      ...installs(),
      lesson("npm install fails offline", "use the mirror"),
      lesson("npm install fails with ENOSPC", "clean the cache"),
      lesson("npm install fails in the container", "mount the cache of npm into it"),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom("skill", "command", "agent"),
        fc.subarray(all, { minLength: 3 }),
        fc.array(fc.subarray(all), { maxLength: 4 }),
        (kind, members, later) => {
          const [cluster] = clusterLessons(members, now);
          if (!cluster) return;
          const grow = (text: string, more: readonly Lesson[]) =>
            growClusterText(text, kind as "skill", more);
          let { text } = composed({ ...cluster, kind } as LessonCluster);
          expect(grow(text, cluster.members)).toBe(text);
          for (const more of later) {
            const next = grow(text, more);
            expect(grow(next, more)).toBe(next);
            for (const line of text.split("\n").filter((one) => one.startsWith("### ")))
              expect(next).toContain(line);
            const headings = next.match(/^### .*$/gm) ?? [];
            expect(new Set(headings).size).toBe(headings.length);
            text = next;
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
