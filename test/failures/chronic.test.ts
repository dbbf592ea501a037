import { describe, expect, test } from "vitest";
import { CallReader, findChronic, isOver, listTroubles } from "../../src/failures/index.ts";
import type { Event } from "../../src/records/index.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";

/** The troubles of one session. */
function troublesIn(...events: readonly Event[]) {
  const all = session(said("go on"), ...events);
  const calls = new CallReader();
  return listTroubles(calls.recoveries(all), all, calls);
}

const meeting = (name: string, at: number, project = "/p", home: string | null = "/home/dev") => ({
  ...{ session: `${name}.jsonl`, run: name, project, home, at, origin: null },
});

/** Sessions that each met some failures, a day apart. */
function chronicIn(...all: readonly (readonly Event[])[]) {
  return findChronic(
    all.flatMap((events, n) => troublesIn(...events).map((one) => ({ ...one, ...meeting(`s${n}`, n) }))),
  );
}

const noEngine = ran("quarry build", "failed", "quarry: engine 4 is required, this is engine 3");
const thrice = (...events: readonly Event[]) => chronicIn(events, events, events);

describe("a chronic failure", () => {
  test("is one that three sessions met and none overcame, with what they tried", () => {
    const tried = [noEngine, ran("quarry setup --engine 4", "failed", "quarry: no engine 4 for this system")];
    const [found, ...others] = chronicIn(tried, [noEngine], [noEngine]);
    expect(found).toMatchObject({
      line: "quarry build: quarry: engine 4 is required, this is engine 3",
      sessions: ["s0.jsonl", "s1.jsonl", "s2.jsonl"],
      tried: ["quarry setup --engine 4"],
    });
    expect(others).toEqual([]);
    expect(chronicIn([noEngine], [noEngine])).toEqual([]);
  });

  test("tells what only changed the shell as tried, too", () => {
    const set = ran("nvm use 30", "failed", "N/A: version 30 is not yet installed");
    expect(thrice(noEngine, set)[0]?.tried).toEqual(["nvm use 30"]);
    expect(thrice(noEngine, ran("cd docks", "ok"))[0]?.tried).toEqual([]);
  });

  test.each([
    "You are using Node.js 18.19.0. Quarry requires Node.js version 20.19+ or 22.12+. Please upgrade.",
    'error quarry@4.1.0: The engine "node" is incompatible with this module. Expected version ">=20". Got "18.1.0"',
    "Error: The module '/p/quarry.node' was compiled against a different Node.js version using NODE_MODULE_VERSION 115.",
    "ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)",
  ])("is a wrong version, whatever is run: %s", (error) => {
    const meets = (command: string) => [
      ran(command, "failed", error),
      edited("src/cart.ts"),
      ran("npm run lint", "ok"),
    ];
    expect(chronicIn(...["npm run build", "npx vitest run", "npm test"].map(meets))).toMatchObject([
      { sessions: ["s0.jsonl", "s1.jsonl", "s2.jsonl"] },
    ]);
  });

  test("is none once a session has overcome it, whichever it was", () => {
    const solved = [noEngine, ran("nvm use 4", "ok"), ran("quarry build", "ok")];
    for (const all of [
      [solved, [noEngine], [noEngine], [noEngine]],
      [[noEngine], [noEngine], [noEngine], solved],
    ])
      expect(chronicIn(...all)).toEqual([]);
  });

  test.each<[string, readonly Event[]]>([
    ["a missing program", [ran("docker compose up", "failed", "bash: docker: command not found")]],
    [
      "a service that never answers",
      [ran("make seed", "failed", "error: connect ECONNREFUSED 127.0.0.1:5432")],
    ],
    [
      "a test that fails for a reason outside the change",
      [
        ran("pytest", "failed", "FAILED tests/test_clock.py::test_zone - AssertionError\n1 failed"),
        replied("That failure is pre-existing and unrelated to this change."),
        edited("src/app.py"),
      ],
    ],
    [
      "a file that the settings deny",
      [
        ran("cat .env", "rejected", "Permission to use Bash with command cat .env has been denied."),
        ran("cat README.md", "ok"),
      ],
    ],
  ])("is %s", (_, events) => {
    expect(thrice(...events)).toMatchObject([{ sessions: ["s0.jsonl", "s1.jsonl", "s2.jsonl"] }]);
  });

  test.each<[string, readonly Event[]]>([
    [
      "a red test that is being worked on",
      [
        ran("pytest", "failed", "FAILED tests/test_cart.py::test_sum - AssertionError\n1 failed"),
        edited("src/cart.py"),
      ],
    ],
    ["a search without a hit", [ran("grep -r harbor src", "failed")]],
    [
      "a look at a file that is not there",
      [ran("cat notes.txt", "failed", "cat: notes.txt: No such file or directory")],
    ],
    [
      "a slip with a tool",
      [called("Edit", { file_path: "a.ts" }, "failed", "String to replace not found in file.")],
    ],
    [
      "a person's refusal",
      [ran("make deploy", "rejected", "The user doesn't want to proceed with this tool use.")],
    ],
    [
      "the state of a branch",
      [
        ran(
          "git push",
          "failed",
          "error: failed to push some refs: Updates were rejected because the remote contains work",
        ),
      ],
    ],
    [
      "a service that is busy",
      [ran("quarry fetch", "failed", "quarry: 429 Too Many Requests, rate limit exceeded")],
    ],
    [
      "a question whether a program is there",
      [ran("quarry --version", "failed", "bash: quarry: command not found")],
    ],
    [
      "code of the moment",
      [ran("python3 -c 'import yaml'", "failed", "ModuleNotFoundError: No module named 'yaml'")],
    ],
    ["a failure that passed by itself", [noEngine, ran("quarry build", "ok")]],
  ])("is not %s", (_, events) => {
    expect(thrice(...events)).toEqual([]);
  });

  test("is met once by a session and its subagents, and by a session and its forks", () => {
    const [trouble] = troublesIn(noEngine);
    const all = (more: (n: number) => object) =>
      findChronic(
        [0, 1, 2].map((n) => ({
          ...(trouble as NonNullable<typeof trouble>),
          ...meeting(`s${n}`, n),
          ...more(n),
        })),
      );
    expect(all(() => ({}))).toHaveLength(1);
    expect(all(() => ({ run: "parent" }))).toEqual([]);
    expect(all(() => ({ origin: "record-1" }))).toEqual([]);
    expect(all((n) => ({ origin: `record-${n}` }))).toHaveLength(1);
  });

  test("is of one project, or of one machine where a program is missing there", () => {
    const inProjects = (event: Event, homes: readonly string[]) =>
      findChronic(
        homes.flatMap((home, n) =>
          troublesIn(event).map((one) => ({ ...one, ...meeting(`s${n}`, n, `/p${n}`, home) })),
        ),
      );
    const noDocker = ran("docker compose up", "failed", "bash: docker: command not found");
    expect(inProjects(noEngine, ["/home/dev", "/home/dev", "/home/dev"])).toEqual([]);
    expect(inProjects(noDocker, ["/home/dev", "/home/dev", "/home/dev"])).toHaveLength(1);
    expect(inProjects(noDocker, ["/home/dev", "/home/dev", "/home/eve"])).toEqual([]);
  });

  test("bears a session in five that went around it, and no more", () => {
    const around = [
      ran("docker ps", "failed", "bash: docker: command not found"),
      ran("podman ps compose.yml", "ok"),
    ];
    const [avoided] = troublesIn(...around);
    const met = (count: number, end: "avoided" | "unsolved", from: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...{ ...(avoided as NonNullable<typeof avoided>), end },
        ...meeting(`${end}${n}`, from + n),
      }));
    expect(findChronic([...met(4, "unsolved", 0), ...met(1, "avoided", 9)])).toHaveLength(1);
    expect(findChronic([...met(3, "unsolved", 0), ...met(1, "avoided", 9)])).toEqual([]);
  });

  test("is over when the call works in a later session that never saw it fail", () => {
    const [found] = thrice(noEngine);
    const use = { head: "quarry", parts: ["build"], ok: 1 };
    if (found === undefined) throw new Error("nothing is chronic");
    expect(isOver(found, [{ ...use, at: 3 }])).toBe(true);
    expect(isOver(found, [{ ...use, at: 1 }])).toBe(false);
    expect(isOver(found, [{ ...use, ok: 0, at: 3 }])).toBe(false);
    expect(isOver(found, [{ ...use, parts: ["serve"], at: 3 }])).toBe(false);
  });
});
