import { describe, expect, it, onTestFinished, test } from "vitest";
import { findCertain } from "../../src/learning/leads/certain.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { findHome, readFailure, recall } from "../../src/recall/recall.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Event } from "../../src/records/session.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";
import { made } from "../helpers/findings.ts";

const now = 1_700_000_000_000 + 3 * 86_400_000;
const harbor = "/home/dev/harbor";

function aProject(root: string, name: string): LedgerEntry {
  return {
    ...{ at: now, project: root, session: name, actor: "knack", type: "session.found" },
    ...{ key: `session:${name}`, data: { project: { id: root, name: "p", root }, path: name } },
  };
}

/** What is told unasked at a failure to who has lived through some sessions before. */
async function told(before: readonly (readonly Event[])[], failure: Event, project = harbor) {
  const store = await openSqlite({ path: ":memory:", clock: { now: () => now } });
  onTestFinished(() => store.close());
  const learned = before.flatMap((events, n) => {
    const lived = session(said("bring the harbor up"), ...events);
    // Sessions with the same origins would be forks of one.
    const findings = findCertain(lived.map((event) => ({ ...event, origin: `${n} ${event.origin}` })));
    return [aProject(harbor, `s${n}`), ...findings.map((each) => made(`s${n}`, each, 1, harbor))];
  });
  await store.transaction((tx) => recordEntries(tx, [...learned, aProject(project, "now")]));
  const matches = await recall(store, readFailure(failure), {
    ...{ project, home: findHome(project), asker: "nobody", now },
  });
  return matches.map(({ lesson }) => lesson.lesson);
}

const layout = (file: string) =>
  `[warn] ${file}\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.`;
const noGlob = (path: string) => `zsh:1: no matches found: ${path}`;
const readAt = (path: string, outcome: "ok" | "failed"): Event => ({
  ...called("Read", { file_path: path }, outcome, outcome === "ok" ? "text" : "File does not exist."),
  files: [path],
});
const slip = (file: string): Event => ({
  ...called("Edit", { file_path: file, old_string: "a" }, "failed", "String to replace not found in file."),
  files: [file],
});

const locked = "fatal: Unable to create '.git/index.lock': Operation not permitted";
/** The same command, run with elevated permissions. */
const raised = (command: string): Event =>
  ran(command, "ok", "", { input: { command, sandbox_permissions: "require_escalated" } });

const behindDashes = [
  ran('rg -n "--dry|--wet" src', "failed", "rg: unrecognized flag --dry|--wet"),
  ran('rg -n -- "--dry|--wet" src', "ok", "src/dock.ts:4: --dry"),
];
const unnamed = [
  ran("quay load dock.yaml --only tide", "failed", "^ Unknown arguments"),
  ran("quay load dock.yaml --pick tide", "ok", "1 loaded"),
];
const unlabelled = [
  ran("gh pr create --fill --label tide", "failed", "could not add label: 'tide' not found"),
  ran("gh pr create --fill", "ok", "https://harbor.test/pulls/8"),
];
const elsewhere = [
  ran("bin/tide.sh --all", "failed", "zsh:1: no such file or directory: bin/tide.sh"),
  ran("/home/dev/tools/tide.sh --all", "ok", "ebb"),
];

/** What was lived through, what is met today, and words of the answer; null where there is none. */
type Repeat = readonly [title: string, before: readonly Event[], met: Event, words: string | null];

describe("a failure that was overcome before", () => {
  it.each<Repeat>([
    [
      "is answered for another program that the shell stops at a glob",
      [ran("cat src/[id].ts", "failed", noGlob("src/[id].ts")), ran("cat 'src/[id].ts'", "ok", "x")],
      ran("git add docs/[a].md", "failed", noGlob("docs/[a].md")),
      "unquoted it is a glob",
    ],
    [
      "is answered for another message with backticks, in another shell",
      [
        ran('git commit -m "Use `crane`"', "failed", "zsh:1: command not found: crane"),
        ran("git commit -m 'Use `crane`'", "ok"),
      ],
      ran('gh pr edit 3 --body "Drops `winch`"', "failed", "bash: line 1: winch: command not found"),
      "single quotes",
    ],
    [
      "is not answered with quotes where a program is missing",
      [
        ran('git commit -m "Use `crane`"', "failed", "zsh:1: command not found: crane"),
        ran("git commit -m 'Use `crane`'", "ok"),
      ],
      ran("crane lift", "failed", "zsh:1: command not found: crane"),
      null,
    ],
    [
      "is answered for another file with the same layout trouble",
      [
        ran("npx prettier --check src", "failed", layout("src/dock.ts")),
        ran("npx prettier --write src/dock.ts", "ok"),
      ],
      ran("npm run ci", "failed", layout("src/tide.ts")),
      "Run `npx prettier --write <path>` when",
    ],
    [
      "is not answered with the formatter of another tool",
      [
        ran("npx prettier --check src", "failed", layout("src/dock.ts")),
        ran("npx prettier --write src/dock.ts", "ok"),
      ],
      ran("make check", "failed", "Diff in /home/dev/harbor/src/dock.rs:3:"),
      null,
    ],
    [
      "is answered with the place of a file that is looked for in another wrong folder",
      [readAt("/home/dev/harbor/docs/tides.md", "failed"), readAt("/home/dev/harbor/guide/tides.md", "ok")],
      readAt("/home/dev/harbor/tides.md", "failed"),
      "guide/tides.md",
    ],
    [
      "is not answered with the place of a file of another name",
      [readAt("/home/dev/harbor/docs/tides.md", "failed"), readAt("/home/dev/harbor/guide/tides.md", "ok")],
      readAt("/home/dev/harbor/docs/tide.md", "failed"),
      null,
    ],
    [
      "is answered for a later variant of the same trouble",
      [
        ran("make seed", "failed", "Error: connect ECONNREFUSED 127.0.0.1:6380"),
        ran("docker compose up -d cache", "ok"),
        ran("make seed", "ok"),
      ],
      ran("make seed TABLE=docks", "failed", "Error: connect ECONNREFUSED ::1:6380"),
      "docker compose up -d cache",
    ],
    [
      "is not answered for a service at another port",
      [
        ran("make seed", "failed", "Error: connect ECONNREFUSED 127.0.0.1:6380"),
        ran("docker compose up -d cache", "ok"),
        ran("make seed", "ok"),
      ],
      ran("make seed", "failed", "Error: connect ECONNREFUSED 127.0.0.1:5433"),
      null,
    ],
    [
      "is answered for an edit of another file, where the reason is the white space",
      [slip("/w/dock.py"), slip("/w/dock.py"), replied("It is indented with tabs."), edited("/w/dock.py")],
      slip("/w/quay.py"),
      "tabs",
    ],
    [
      "is not answered with white space where line numbers were taken along",
      [slip("/w/dock.py"), slip("/w/dock.py"), replied("It is indented with tabs."), edited("/w/dock.py")],
      { ...slip("/w/quay.py"), text: "String to replace not found in file.\nString:      1→def quay():" },
      null,
    ],
    [
      "is answered for another program that the sandbox refuses something",
      [ran("git fetch", "failed", locked), raised("git fetch")],
      ran("touch /home/dev/.cache/x", "failed", "touch: /home/dev/.cache/x: Operation not permitted"),
      "with elevated permissions",
    ],
    [
      "is not answered with elevation where a setting is missing",
      [ran("git fetch", "failed", locked), raised("git fetch")],
      ran("make seed", "failed", "Error: HARBOR_URL is not set"),
      null,
    ],
    [
      "is answered for a file that is nowhere, also in another folder",
      [
        ...[readAt("/home/dev/harbor/a/tides.md", "failed"), readAt("/home/dev/harbor/tides.md", "failed")],
        ...["make dock", "make quay", "make pier"].map((command) => ran(command, "ok")),
      ],
      readAt("/home/dev/harbor/docs/tides.md", "failed"),
      "Do not look for `tides.md`",
    ],
    [
      "is answered for another program that takes a text for an option",
      behindDashes,
      ran('grep -rn "- berth: 4" docs', "failed", "grep: invalid option -- ' '"),
      "Put `--` before",
    ],
    [
      "is answered for another sed that takes the next word for a suffix",
      [
        ran("sed -i 's/ebb/tide/' a.ts", "failed", 'sed: 1: "a.ts": command a expects \\ followed by text'),
        ran("sed -i '' 's/ebb/tide/' a.ts", "ok"),
      ],
      ran(
        "sed -i '/quay/d' docs/b.md",
        "failed",
        'sed: 1: "docs/b.md": extra characters at the end of d command',
      ),
      "sed -i ''",
    ],
    [
      "is not answered with a suffix where sed was replaced by nothing that edits in place",
      [
        ran("sed -i 's/ebb/tide/' a.ts", "failed", 'sed: 1: "a.ts": command a expects \\ followed by text'),
        ran("sed -i 's/ebb/flow/' c.ts", "ok"),
      ],
      ran(
        "sed -i '/quay/d' docs/b.md",
        "failed",
        'sed: 1: "docs/b.md": extra characters at the end of d command',
      ),
      null,
    ],
    [
      "is not answered with a text where an option is unknown",
      behindDashes,
      ran("rg -n --dri src", "failed", "rg: unrecognized flag --dri"),
      null,
    ],
    [
      "is not answered with a text where an option is unknown beside one",
      behindDashes,
      ran('rg --dri -e "- berth: 4" docs', "failed", "rg: unrecognized flag --dri"),
      null,
    ],
    [
      "is answered for a complaint that names nothing, where the call has the same option",
      unnamed,
      ran("quay load pier.yaml --only ebb", "failed", "^ Unknown arguments"),
      "--pick",
    ],
    [
      "is not answered for a complaint that names nothing, where the call has other options",
      unnamed,
      ran("quay load pier.yaml --targets x.yaml --dry", "failed", "^ Unknown arguments"),
      null,
    ],
    [
      "is answered for another value of the same kind, where leaving it out was the cure",
      unlabelled,
      ran('gh pr edit 9 --add-label "ebb"', "failed", "'ebb' not found"),
      "Leave `--label` out",
    ],
    [
      "is not answered for a value of another kind",
      unlabelled,
      ran('gh pr edit 9 --add-reviewer "ebb"', "failed", "'ebb' not found"),
      null,
    ],
    [
      "is not answered for another value, where another value was the cure",
      [
        ran("gh pr create --fill --label tide", "failed", "could not add label: 'tide' not found"),
        ran("gh pr create --fill --label docks", "ok", "https://harbor.test/pulls/8"),
      ],
      ran('gh pr edit 9 --add-label "ebb"', "failed", "'ebb' not found"),
      null,
    ],
    [
      "is answered with the place of a file whose absence was not shown",
      elsewhere,
      ran("ls scripts/tide.sh tools/tide.sh 2>/dev/null", "failed", "Exit code 2"),
      "~/tools/tide.sh",
    ],
    [
      "is not answered with the place of one of several files that a look may have missed",
      elsewhere,
      ran("ls scripts/tide.sh scripts/ebb.sh 2>/dev/null", "failed"),
      null,
    ],
    [
      "is not answered with the absence of a file that was only asked for",
      [
        ...["ls tide.env 2>/dev/null", "cat ./tide.env 2>/dev/null"].map((command) => ran(command, "failed")),
        ...["make dock", "make quay", "make pier"].map((command) => ran(command, "ok")),
      ],
      ran("cat docs/tide.env", "failed", "cat: docs/tide.env: No such file or directory"),
      null,
    ],
    [
      "is answered with another verb of the same program, which the failed call does not have",
      [
        ran("npx prisma migrate dev", "failed", "Error: the client of the berth is older than its schema"),
        ran("npx prisma generate", "ok"),
        ran("npx prisma migrate dev", "ok"),
      ],
      ran("npx prisma migrate deploy", "failed", "Error: the client of the berth is older than its schema"),
      "npx prisma generate",
    ],
    [
      "is answered for another program that says the same, where a step came first",
      [
        ran("npm test", "failed", "Error: the berth client did not initialize yet, generate it first"),
        ran("npm run generate", "ok"),
        ran("npm test", "ok", "3 passed"),
      ],
      ran("npx vitest run", "failed", "Error: the berth client did not initialize yet, generate it first"),
      "npm run generate",
    ],
    [
      "is not answered for another program that says the same, where other words were the cure",
      [
        ran("quay load dock.yaml", "failed", "Error: the berth of this ship was never set for the dock"),
        ran("quay load dock.yaml --berth 4", "ok"),
      ],
      ran("crane lift dock.yaml", "failed", "Error: the berth of this ship was never set for the dock"),
      null,
    ],
    [
      "is not answered where it passed by itself",
      [ran("make seed", "failed", "Error: the broker hung up on us"), ran("make seed", "ok")],
      ran("make seed", "failed", "Error: the broker hung up on us"),
      null,
    ],
  ])("%s", async (_, before, met, words) => {
    const [first, ...more] = await told([before], met);
    if (words === null) expect(first).toBeUndefined();
    else expect(first).toContain(words);
    expect(more).toEqual([]);
  });

  test("is answered in another project of the same person only where the cure is of the shell or the machine", async () => {
    const started = [
      ran("make seed", "failed", "Error: connect ECONNREFUSED 127.0.0.1:6380"),
      ran("docker compose up -d cache", "ok"),
      ran("make seed", "ok"),
    ];
    const quoted = [
      ran("cat src/[id].ts", "failed", noGlob("src/[id].ts")),
      ran("cat 'src/[id].ts'", "ok", "x"),
    ];
    const other = "/home/dev/lighthouse";
    expect(await told([started], started[0] as Event, other)).toEqual([]);
    expect(await told([quoted], quoted[0] as Event, other)).toHaveLength(1);
    expect(await told([quoted], quoted[0] as Event, "/home/eve/lighthouse")).toEqual([]);
  });
});

describe("a rule that an edit satisfied", () => {
  const found = (file: string, rule = "wrapcheck") =>
    ran("golangci-lint run", "failed", `${file}:8:9: error from another package is unwrapped (${rule})`);
  const mended = (file: string, why: string) => [
    ...[found(file), replied(why), edited(`/home/dev/harbor/${file}`), ran("golangci-lint run", "ok")],
  ];
  const why = "wrapcheck wants errors of other packages wrapped with fmt.Errorf.";

  test("is told in other files once two sessions said what it wants", async () => {
    const [dock, quay] = [mended("dock.go", why), mended("quay.go", why)];
    expect(await told([dock], found("tide.go"))).toEqual([]);
    expect((await told([dock, quay], found("tide.go")))[0]).toContain(why);
  });

  test("is told with the line that an edit changed, where nobody says anything", async () => {
    const wrapped = (file: string) => {
      const input = {
        file_path: `/w/${file}`,
        old_string: "return err",
        new_string: 'return fmt.Errorf("ebb: %w", err)',
      };
      return [
        found(file),
        { ...called("Edit", input, "ok"), files: [`/w/${file}`] },
        ran("golangci-lint run", "ok"),
      ];
    };
    expect(await told([wrapped("dock.go")], found("tide.go"))).toEqual([]);
    expect((await told([wrapped("dock.go"), wrapped("quay.go")], found("tide.go")))[0]).toContain("%w");
  });

  test("is not told for another rule, or where nobody said what it wants", async () => {
    const [dock, quay] = [mended("dock.go", why), mended("quay.go", why)];
    expect(await told([dock, quay], found("tide.go", "errcheck"))).toEqual([]);
    const silent = [mended("dock.go", "I see."), mended("quay.go", "That is put right now.")];
    expect(await told(silent, found("tide.go"))).toEqual([]);
  });
});

describe("opposite cures", () => {
  const jammed = "Error: the gauge is jammed at its lower stop";
  const added = [ran("gauge read dock", "failed", jammed), ran("gauge read --slow dock", "ok")];
  const dropped = [ran("gauge read --slow dock", "failed", jammed), ran("gauge read dock", "ok")];
  const met = ran("gauge read dock", "failed", jammed);

  test("are not those that are only different: they are alternatives, and the one of more sessions is first", async () => {
    const calmed = [ran("gauge read dock", "failed", jammed), ran("gauge read --calm dock", "ok")];
    const [first, ...more] = await told([added, calmed, calmed], met);
    expect(first).toContain("--calm");
    expect(more.length).toBeLessThanOrEqual(1);
    expect(await told([added, calmed], met)).not.toEqual([]);
  });

  test("hold each other until a third session decides", async () => {
    expect(await told([added], met)).toHaveLength(1);
    expect(await told([added, dropped], met)).toEqual([]);
    expect(await told([dropped, added], met)).toEqual([]);
    const [first, ...more] = await told([added, dropped, added], met);
    expect(first).toContain("Use `gauge read --slow dock` instead of `gauge read dock`");
    expect(more).toEqual([]);
  });
});
