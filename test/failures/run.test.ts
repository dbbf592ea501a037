import { describe, expect, it, test } from "vitest";
import { findFileNames, parseCommand } from "../../src/failures/command.ts";
import { compareRuns, findMainRun, type Run } from "../../src/failures/run.ts";
import type { CallDifference } from "../../src/records/lesson.ts";

const only = (command: string): Run => parseCommand(command).at(-1) as Run;

describe("the programs that a command starts", () => {
  it.each<[string, string[]]>([
    ["npm test", ["npm"]],
    ["cd app && npm test 2>&1 | tail -5", ["npm", "tail"]],
    ["export A=1; make", ["make"]],
    ["source .venv/bin/activate && pytest", ["pytest"]],
    ["X=$(date)\nnode a.js", ["node"]],
    ["(cd x; ls) || true", ["ls", "true"]],
    ['bash -lc "cd x && rg foo"', ["rg"]],
    ["if [ -f a ]; then make a; fi", ["[", "make"]],
    ["for f in *; do wc $f; done", ["wc"]],
    ["", []],
  ])("%s", (command, names) => expect(parseCommand(command).map(({ name }) => name)).toEqual(names));

  test("know their folder, variables, wrappers and what hides their exit", () => {
    expect(only("cd web && export CI=1 && A=b sudo -n timeout 9 ./bin/run --x | cat; ls")).toMatchObject({
      name: "ls",
      isHidden: false,
    });
    const [run] = parseCommand("cd web && export CI=1 && A=b sudo -n timeout 9 ./bin/run --x | cat; ls");
    expect(run).toMatchObject({
      name: "run",
      written: "./bin/run",
      args: ["--x"],
      env: ["CI=1", "A=b"],
      wrapper: ["sudo", "-n", "timeout", "9"],
      directory: "web",
      isFilter: false,
      isHidden: true,
    });
  });
});

describe("what changed between two runs", () => {
  it.each<[string, string, CallDifference | null]>([
    ["npm test", "npm test", "none"],
    ["npm test", "CI=1 npm test", "environment"],
    ["npm test", "cd web && npm test", "directory"],
    ["npm test", "npm test --watch=false", "flag"],
    ["aws s3 ls", "aws s3 ls --profile dev", "flag"],
    ["npm install left", "npm install right", "argument"],
    ["npm run lint", "npm run build", null],
    ["pytest -q", "uv run pytest -q", "wrapper"],
    ["pytest -q test/a", "uv run pytest test/b", "wrapper"],
    ["lean make a", "make a", "wrapper"],
    ["lean make a", "lean run make a", "wrapper"],
    ["timeout 9 make", "make", "wrapper"],
    ["python a.py", "python3 a.py", "program"],
    ["python a.py", ".venv/bin/python a.py", "path"],
    ["pnpm exec mocha", "node node_modules/mocha/bin/mocha.js --ui tdd", "path"],
    ["python a.py", "python b.py", null],
    ["git commit -m a", "git -c commit.gpgsign=false commit -m a", "flag"],
    ["npm test", "cargo build", null],
  ])("%s, then %s: %s", (before, after, change) =>
    expect(compareRuns(only(before), only(after))).toBe(change),
  );
});

describe("a run", () => {
  it.each([
    ["npm run lint -- --fix a.ts", "npm run lint"],
    ["git -C web commit -m x", "git commit"],
    ["pnpm --filter shop test", "pnpm test"],
    ["python -m pytest a", "python -m pytest"],
    ["ls src", "ls"],
    ["node dist/cli.js sum", "node"],
    ["docker compose up -d", "docker compose up"],
  ])("%s is called %s", (command, head) => expect(only(command).head).toBe(head));

  it.each([
    ["npm install --save-dev left", "npm install left", ["npm", "install", "--save-dev"]],
    ["A=1 npm test", "npm test", ["A=", "npm", "test"]],
    ["node x/bin/mocha.js", "mocha", ["node", "mocha.js"]],
  ])("%s is known again by what is new in it", (command, other, call) =>
    expect(only(command).call(only(other))).toEqual(call),
  );

  it.each([
    ['git commit -m "a very long message that nobody needs to read again"', "git commit -m …"],
    ["cat /home/ana/shop/src/cart.ts", "cat …/src/cart.ts"],
    ["SSL=/opt/brew/opt/ssl make", "SSL=…/opt/ssl make"],
    ["sed -i '' s/a/b/ x", "sed -i '' s/a/b/ x"],
    ["cd web && npm test", "cd web && npm test"],
  ])("%s is told as %s", (command, told) => expect(only(command).retell()).toBe(told));

  it.each([
    ["ls -la", true],
    ["sed -n 1,9p a", true],
    ["sed -i s/a/b/ a", false],
    ["git status", true],
    ["git push", false],
    ["npm ls left", true],
    ["npm install", false],
    ["tool --help", true],
    ["gh pr view 3", true],
    ["gh pr create", false],
  ])("%s only looks: %s", (command, looks) => expect(only(command).isLook).toBe(looks));

  test("that acts is what a command is for", () => {
    expect(findMainRun(parseCommand("git commit -m x; git status | head; echo done"))?.args[0]).toBe(
      "commit",
    );
    expect(findMainRun([])).toBeNull();
  });
});

test("files are found wherever a command names them", () => {
  expect([...findFileNames("python3 -c \"open('docs/a.svg')\" .env web/b.test.ts 1.5")]).toEqual([
    "a.svg",
    ".env",
    "b.test.ts",
  ]);
  expect(findFileNames("a.".repeat(50_000)).size).toBeLessThan(3);
});
