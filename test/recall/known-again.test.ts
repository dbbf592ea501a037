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
/** The same command, run outside the sandbox. */
const raised = (command: string): Event =>
  ran(command, "ok", "", { input: { command, sandbox_permissions: "require_escalated" } });

/** What was lived through, what is met today, and words of the answer; null where there is none. */
type Repeat = readonly [title: string, before: readonly Event[], met: Event, words: string | null];

describe("a failure that was overcome before", () => {
  it.each<Repeat>([
    [
      "is answered for another program that the shell stops at a glob",
      [ran("cat src/[id].ts", "failed", noGlob("src/[id].ts")), ran("cat 'src/[id].ts'", "ok", "x")],
      ran("git add docs/[a].md", "failed", noGlob("docs/[a].md")),
      "quoted, it is left alone",
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
      "puts it right",
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
      "is answered for another program that the sandbox refuses something",
      [ran("git fetch", "failed", locked), raised("git fetch")],
      ran("touch /home/dev/.cache/x", "failed", "touch: /home/dev/.cache/x: Operation not permitted"),
      "outside the sandbox",
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
      "There is no `tides.md` here",
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
    expect(first).toContain("What works: `gauge read --slow dock`");
    expect(more).toEqual([]);
  });
});
