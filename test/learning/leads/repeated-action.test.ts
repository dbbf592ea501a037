import { describe, expect, it, test } from "vitest";
import { repeatedAction } from "../../../src/learning/leads/repetition.ts";
import { analyzeSession, wideBreadth } from "../../../src/learning/leads/session.ts";
import { extractGist, isSameLesson } from "../../../src/lessons/similarity.ts";
import type { Event } from "../../../src/records/session.ts";
import { ran, said, session } from "../../helpers/events.ts";

const found = (...events: Event[]) => repeatedAction(analyzeSession(session(said("go on"), ...events)));
const ok = (...commands: string[]) => commands.map((command) => ran(command, "ok"));
const others = ok("ls", "cat a", "git status", "git diff", "rg x");

describe("a command that a project needs in a form of its own", () => {
  it.each<[string, string[], string]>([
    ["a script", ["python scripts/catalog.py", "python3 scripts/catalog.py --all"], "catalog.py"],
    [
      "variables",
      ["PYTHONPATH=src pytest tests/a.py", "PYTHONPATH=src pytest tests/b.py"],
      "PYTHONPATH=src pytest <path>",
    ],
    [
      "a prepared shell",
      ["source venv/bin/activate && pytest a.py", "source venv/bin/activate && pytest b.py"],
      "source venv/bin/activate && pytest <path>",
    ],
    [
      "flags",
      ["go test -v -tags=e2e -run=X --count=1 ./x", "go test -tags=e2e --count=1 ./y"],
      "-tags=e2e --count=1",
    ],
    [
      "a tag that changes",
      [
        "docker build --platform=linux/arm64 --secret=id=npm -t a:v1 .",
        "docker build --platform=linux/arm64 --secret=id=npm -t b:v2 .",
      ],
      "-t <image> .",
    ],
  ])("is found by %s", (_, commands, told) => {
    const [finding, ...more] = found(...others, ...ok(...commands));
    expect(more).toEqual([]);
    expect(finding?.lesson).toContain(told);
    expect(finding?.confidence).toBeLessThan(0.15);
  });

  it.each<[string, string[], string]>([
    ["go test", ["go test -v ./x", "go test ./y", ...Array.from({ length: 4 }, () => "go test ./...")], "6"],
    [
      "docker build",
      ["ls", "cat a", "rg x", "ls b", "docker build -t a:v1 .", "docker build -t b:v2 ."],
      "2",
    ],
    ["npm test", Array.from({ length: 6 }, () => "npm test"), "6"],
    ["npx eslint", ["ls", "ls a", "ls b", "ls c", "npx eslint a.ts --fix", "npx eslint b.ts --fix"], "2"],
  ])("is only evidence in the form that everybody uses: %s", (form, commands, n) => {
    const [finding, ...more] = found(...ok(...commands));
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ kind: "repeated-action", trigger: `you run \`${form}\`` });
    expect(finding?.lesson).toContain(`\`${form}\` was run ${n} times`);
    expect(finding?.confidence).toBeLessThan(0.05);
    expect(finding?.excerpt.worked).toContain(commands.at(-1));
    const wide = analyzeSession(session(said("go on"), ...ok(...commands)), undefined, wideBreadth);
    expect(repeatedAction(wide)).toEqual([]);
    expect(found(...ok(...commands).slice(-5))).toEqual([]);
  });

  test("is another lesson than the same command in the usual form", () => {
    const own = found(...others, ...ok("CI=1 npm test a", "CI=1 npm test b"))[0];
    const usual = found(...others, ...ok("npm test a", "npm test b"))[0];
    expect(isSameLesson(extractGist(own as never), extractGist(usual as never))).toBe(false);
  });

  it.each<[string, Event[]]>([
    [
      "what begins a project",
      [
        ...others,
        ...ok("npm create astro@4 --no-git --no-install -y", "npm create astro@5 --no-git --no-install -y"),
      ],
    ],
    ["waiting without a pause", ok(...Array.from({ length: 6 }, () => "./scripts/state.sh --all --of=shop"))],
    [
      "a notice",
      [
        ...others,
        ...ok("terminal-notifier -title A -message one", "terminal-notifier -title A -message two"),
      ],
    ],
    [
      "a look",
      ok(...Array.from({ length: 6 }, () => "kubectl get pods -n shop --context=prod --output=wide")),
    ],
    ["polling", ok(...Array.from({ length: 6 }, () => "sleep 30; ./scripts/state.sh --all --of=shop"))],
    ["watching a run", ok(...Array.from({ length: 6 }, () => "gh run watch 17 --exit-status --interval=5"))],
    [
      "asking a server",
      ok(...Array.from({ length: 6 }, () => "curl -s --max-time=3 --retry=2 http://localhost/up")),
    ],
    [
      "the commit routine",
      ok(...Array.from({ length: 3 }, () => ["git add .", "git commit --signoff --no-edit -m x"]).flat()),
    ],
    [
      "twice in a session of five calls",
      ok("ls", "cat a", "rg x", "python scripts/a.py", "python scripts/a.py"),
    ],
    ["once, with nothing much to it", [...others, ...ok("python scripts/a.py")]],
    [
      "what failed",
      [...others, ...["a", "b"].map((x) => ran(`python scripts/gen.py ${x}`, "failed", "Traceback"))],
    ],
    [
      "scripts written for the moment",
      [...others, ...ok('PYTHONPATH=src python -c "1"', 'PYTHONPATH=src python -c "2"')],
    ],
  ])("is not %s", (_, events) => expect(found(...events)).toEqual([]));

  test("is noted once where it is very peculiar, so that other sessions can agree", () => {
    const command = "DATABASE_URL=$URL uv run alembic -c db/alembic.ini upgrade head";
    const [finding] = found(...ok(command));
    expect(finding).toMatchObject({
      kind: "repeated-action",
      name: "run-uv-run-alembic-upgrade",
      artifact: "rule",
    });
    const [again] = found(...ok("ls", `cd api && ${command.replace("head", "9f3c1ab")}`));
    expect(isSameLesson(extractGist(finding as never), extractGist(again as never))).toBe(true);
  });

  test("is another one with another script or subcommand", () => {
    const one = (script: string) =>
      extractGist(found(...others, ...ok(`${script} --a`, `${script} --b`))[0] as never);
    expect(isSameLesson(one("node scripts/bench.mjs run"), one("node scripts/bench.mjs sum"))).toBe(false);
    expect(isSameLesson(one("CI=1 npm run e2e"), one("CI=1 npm run unit"))).toBe(false);
  });
});
