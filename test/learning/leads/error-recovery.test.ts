import { describe, expect, it, test } from "vitest";
import { CallReader } from "../../../src/failures/recovery.ts";
import { findCures } from "../../../src/learning/leads/error-recovery.ts";
import type { Finding } from "../../../src/records/lesson.ts";
import type { Event } from "../../../src/records/session.ts";
import { called, edited, ran, replied, said, session, together } from "../../helpers/events.ts";

const errorRecovery = (events: readonly Event[]) => findCures(new CallReader().recoveries(events));

const found = (...drafts: (Event | readonly Event[])[]): Finding[] =>
  errorRecovery(session(said("go on"), ...drafts));

/** The same command, run outside the sandbox. */
const raised = (command: string): Event =>
  ran(command, "ok", "", { input: { command, sandbox_permissions: "require_escalated" } });

const missing = { exitCode: 127 };

describe("a recovered failure", () => {
  it.each<[string, (Event | readonly Event[])[], string]>([
    [
      "is found when another program does the job",
      [
        ran("python tools/seed.py", "failed", "zsh: command not found: python", missing),
        ran("python3 tools/seed.py", "ok"),
      ],
      "python3",
    ],
    [
      "is found when the program is started through another",
      [
        ran("pytest -q", "failed", "bash: pytest: command not found", missing),
        ran("uv run pytest -q", "ok", "9 passed"),
      ],
      "uv run pytest",
    ],
    [
      "is found when a wrapper is dropped",
      [ran("lean make build", "failed", "error: unrecognized subcommand 'make'"), ran("make build", "ok")],
      "make build",
    ],
    [
      "is found when the program is started by its path",
      [
        ran("python -m pytest api", "failed", "/usr/bin/python: No module named pytest"),
        ran(".venv/bin/python -m pytest api", "ok"),
      ],
      ".venv/bin/python",
    ],
    [
      "is found when a variable is set",
      [
        ran("cargo build", "failed", "ld: library 'ssl' not found"),
        ran("OPENSSL_DIR=/opt/ssl cargo build", "ok"),
      ],
      "OPENSSL_DIR=/opt/ssl cargo build",
    ],
    [
      "is found when the shell is prepared",
      [
        ran("npm run dev", "failed", "Node.js version >= v20 is required."),
        ran("source ~/.nvm/nvm.sh && nvm use 20 && npm run dev", "ok"),
      ],
      "nvm use 20",
    ],
    [
      "is found when it works in another folder",
      [
        ran("cargo test", "failed", "error: could not find `Cargo.toml` in `/home/ana/shop`"),
        ran("cd core && cargo test", "ok"),
      ],
      "cd core && cargo test",
    ],
    [
      "is found when a flag is added",
      [ran("npm install", "failed", "npm error code ERESOLVE"), ran("npm install --legacy-peer-deps", "ok")],
      "--legacy-peer-deps",
    ],
    [
      "is found when the same words run with other permissions",
      [
        ran("git add -A", "failed", "fatal: Unable to create '.git/index.lock': Operation not permitted"),
        raised("git add -A"),
      ],
      "elevated permissions",
    ],
    [
      "is found when the sandbox looked like a broken network",
      [
        ran("npm install", "failed", "npm error request failed: could not resolve host"),
        raised("npm install"),
      ],
      "elevated permissions",
    ],
    [
      "is found when a step in between made the same call work",
      [
        ran("npm test", "failed", "sh: 1: vitest: not found", missing),
        ran("npm ci", "ok"),
        ran("npm test", "ok", "4 passed"),
      ],
      "npm ci",
    ],
    [
      "is found when that step is part of the call that worked",
      [ran("npm test", "failed", "sh: 1: vitest: not found", missing), ran("npm ci && npm test", "ok")],
      "npm ci",
    ],
    [
      "is found when the error names the step",
      [
        ran("npx drift test", "failed", "No browser found. Run: npx drift install"),
        ran("npx drift install", "ok"),
        ran("npx drift test", "ok"),
      ],
      "npx drift install",
    ],
    [
      "is found when the shell needed quotes",
      [
        ran("git add app/[id]/page.tsx", "failed", "zsh: no matches found: app/[id]/page.tsx"),
        ran("git add 'app/[id]/page.tsx'", "ok"),
      ],
      "Quote a path with [ ], ( ) or ? such as `app/[id]/page.tsx` in zsh",
    ],
    [
      "is found when a hook of the agent refuses a command",
      [
        ran("grep -r cart .", "failed", "PreToolUse:Bash hook error: Use rg instead of grep"),
        ran("rg cart", "ok", "cart"),
      ],
      "refused by a hook",
    ],
    [
      "is found when a script of another name exists",
      [
        ran("npm run types", "failed", 'npm error Missing script: "types"'),
        ran("cat package.json", "ok", "{}"),
        ran("npm run check:types", "ok"),
      ],
      "npm run check:types",
    ],
    [
      "is found when the same file is read by other means",
      [
        ran("jq .name shop.json", "failed", "zsh: command not found: jq", missing),
        ran("python3 -c \"print(open('shop.json'))\"", "ok"),
      ],
      "python3",
    ],
    [
      "is found when a pipe hid it behind exit 0",
      [
        ran("lean make build 2>&1 | tail -5", "failed", "error: unrecognized subcommand 'make'", {
          exitCode: 0,
        }),
        ran("make build 2>&1 | tail -5", "ok", "done"),
      ],
      "make build",
    ],
    [
      "is found when the next call gets further and fails for another reason",
      [
        ran("lean make test", "failed", "error: unrecognized subcommand 'make'"),
        ran("make test", "failed", "2 failed"),
      ],
      "make test",
    ],
    [
      "is found when a skill of that name is only a command",
      [called("Skill", { skill: "deploy" }, "failed", "Unknown skill: deploy"), ran("make deploy", "ok")],
      "make deploy",
    ],
    [
      "is found when a tool takes another name that the error offers",
      [
        called(
          "Task",
          { subagent_type: "tidy", prompt: "x" },
          "failed",
          "Agent type 'tidy' not found. Available agents: plan, tidy:tidy",
        ),
        called("Task", { subagent_type: "tidy:tidy", prompt: "x" }, "ok"),
      ],
      "tidy:tidy",
    ],
    [
      "is found when the settings deny a file",
      [
        ran(
          "grep -n KEY .env.local",
          "rejected",
          "Permission to use Bash with command grep -n KEY .env.local has been denied.",
        ),
        ran("grep -n KEY deploy.yml", "ok"),
      ],
      ".env.local",
    ],
    [
      "is found when tests fail for a reason outside the change",
      [
        ran("npm test", "failed", "1 failing"),
        replied("The clock test is flaky and unrelated to this change."),
        ran("npm test", "ok"),
      ],
      "do not look for the cause in your change",
    ],
    [
      "is found when the tool itself puts layout right",
      [ran("npx prettier --check .", "failed", "[warn] cart.ts"), ran("npx prettier --write .", "ok")],
      "Run `npx prettier --write .` when",
    ],
    [
      "is found when a formatter puts right what a longer check found",
      [ran("make ci", "failed", "Diff in cart.rs:3:"), ran("cargo fmt", "ok"), ran("make ci", "ok")],
      "Run `cargo fmt` when `make ci` fails on layout",
    ],
    [
      "is found when the working tree was in the way, and was put aside",
      [
        ran("git pull", "failed", "error: Your local changes would be overwritten by merge"),
        ran("git stash", "ok"),
        ran("git pull", "ok"),
      ],
      "run `git stash` first",
    ],
    [
      "is found when a hook stops a commit",
      [
        ran(
          'git commit -m "Add cart"',
          "failed",
          "$ eslint .\n$ tsc --noEmit\ncart.ts(3,1): error TS2304: x\nhusky - pre-commit script failed",
        ),
        edited("cart.ts"),
        ran('git commit -m "Add cart"', "ok"),
      ],
      "Let `eslint .` and `tsc --noEmit` pass before `git commit`: the pre-commit hook stops at the first error.",
    ],
  ])("%s", (_, drafts, words) => {
    const [first, ...more] = found(...drafts);
    expect(first?.lesson).toContain(words);
    expect(first?.kind).toBe("error-recovery");
    expect(first?.refs[0]).toBe("e2");
    expect(more).toEqual([]);
  });

  it.each<[string, (Event | readonly Event[])[]]>([
    [
      "when the network failed for a moment",
      [ran("npm install", "failed", "npm error code ECONNRESET"), ran("npm install", "ok")],
    ],
    [
      "when a search had no match",
      [ran("grep total cart.ts", "failed"), ran("grep -i total cart.ts", "ok", "Total")],
    ],
    [
      "when a path was guessed",
      [ran("cat README", "failed", "cat: README: No such file or directory"), ran("cat README.md", "ok")],
    ],
    [
      "when a call was cancelled because another failed",
      [
        called("WebFetch", { url: "https://shop.test/a" }, "cancelled", "Sibling tool call errored"),
        called("WebFetch", { url: "https://shop.test/a" }, "ok"),
      ],
    ],
    [
      "when the other call was sent before the failure was seen",
      [
        together(
          ran("pytest", "failed", "bash: pytest: command not found", missing),
          ran("uv run pytest", "ok"),
        ),
      ],
    ],
    [
      "when an edit did not find its text",
      [
        called(
          "Edit",
          { file_path: "cart.ts", old_string: "a" },
          "failed",
          "String to replace not found in file.",
        ),
        called("Edit", { file_path: "cart.ts", old_string: "b" }, "ok"),
      ],
    ],
    [
      "when a file had not been read",
      [
        called("Write", { file_path: "cart.ts" }, "failed", "File has not been read yet."),
        called("Write", { file_path: "cart.ts" }, "ok"),
      ],
    ],
    [
      "when a linter was made quiet",
      [
        ran("npx eslint .", "failed", "3:1  error  Unexpected any"),
        edited("cart.ts"),
        ran("npx eslint .", "ok"),
      ],
    ],
    [
      "when lint errors were there before",
      [
        ran("npm run lint", "failed", "a.ts(1,1): error TS1: x"),
        replied("This is pre-existing."),
        ran("npm run build", "ok"),
      ],
    ],
    [
      "when code was edited until it compiled",
      [
        ran("go build ./...", "failed", "./cart.go:3:1: undefined: Total"),
        edited("cart.go"),
        ran("go build ./...", "ok"),
      ],
    ],
    [
      "when a formatter of another language was run between two checks",
      [
        ran("make ci", "failed", "Diff in cart.rs:3:"),
        ran("npx prettier --write docs", "ok"),
        edited("cart.rs"),
        ran("make ci", "ok"),
      ],
    ],
    [
      "when a quote was forgotten",
      [
        ran("git commit -m 'it's'", "failed", "unexpected EOF while looking for matching `''"),
        ran('git commit -m "its"', "ok"),
      ],
    ],
    [
      "when a test came before the code",
      [
        ran("npx vitest run a.test.ts", "failed", "Error: Cannot find module './cart'"),
        called("Write", { file_path: "cart.ts" }, "ok"),
        ran("npx vitest run a.test.ts --reporter=dot", "ok"),
      ],
    ],
    [
      "when the product's own command was written in between",
      [
        ran("node dist/cli.js sum", "failed", "Unknown command sum"),
        edited("cli.ts"),
        ran("npm run build", "ok"),
        ran("node dist/cli.js sum", "ok"),
      ],
    ],
    [
      "when tests failed, code changed and fewer tests ran",
      [
        ran("cargo test", "failed", "test result: FAILED. 3 passed; 1 failed"),
        edited("cart.rs"),
        ran("cargo test cart", "ok"),
      ],
    ],
    [
      "when the output was only looked at again through a pipe",
      [
        ran("npx jest cart", "failed", "Tests: 1 failed"),
        ran("npx jest cart --verbose 2>&1 | tail -9", "ok", "Tests: 1 failed"),
      ],
    ],
    [
      "when a server was not up yet",
      [
        ran("curl localhost:3000", "failed", "curl: (7) Connection refused"),
        ran("sleep 3", "ok"),
        ran("curl localhost:3000", "ok"),
      ],
    ],
    [
      "when there was nothing to commit",
      [
        ran("git commit -m x", "failed", "nothing to commit, working tree clean"),
        ran("git add . && git commit -m x", "ok"),
      ],
    ],
    [
      "when the shell was already in the folder",
      [
        ran("cd web && npm test", "failed", "bash: line 1: cd: web: No such file or directory"),
        ran("npm test", "ok"),
      ],
    ],
    [
      "when only the arguments of a query changed",
      [
        ran('psql -c "select a"', "failed", 'ERROR: column "a" does not exist'),
        ran('psql -c "select b"', "ok"),
      ],
    ],
    [
      "when a throw-away script had a slip",
      [
        ran('python3 -c "print(x)"', "failed", "NameError: name 'x' is not defined"),
        ran('python3 -c "print(1)"', "ok"),
      ],
    ],
    [
      "when a folder had to be made",
      [
        ran("cp a.txt out/b/", "failed", "cp: directory out/b does not exist"),
        ran("mkdir -p out/b", "ok"),
        ran("cp a.txt out/b/", "ok"),
      ],
    ],
    [
      "when a tool was called with wrong input",
      [
        called("mcp__shop__find", { id: 1 }, "failed", "MCP error -32602: Invalid arguments"),
        called("mcp__shop__find", { id: "1" }, "ok"),
      ],
    ],
    [
      "when a person refused",
      [
        ran("rm -rf dist", "rejected", "The user doesn't want to proceed with this tool use."),
        ran("ls dist", "ok"),
      ],
    ],
    [
      "when nothing worked later",
      [ran("pytest", "failed", "bash: pytest: command not found", missing), replied("Stopping here.")],
    ],
    [
      "when what worked came two prompts later",
      [
        ran("pytest", "failed", "pytest: command not found", missing),
        said("a"),
        said("b"),
        ran("uv run pytest", "ok"),
      ],
    ],
  ])("is not found %s", (_, drafts) => expect(found(...drafts)).toEqual([]));

  test("is told once, however often it happened", () => {
    const fails = (command: string) => ran(command, "failed", "zsh: command not found: jq", missing);
    const findings = found(
      fails("jq . a.json"),
      fails("jq . b.json"),
      ran("python3 a.py a.json b.json", "ok"),
      fails("jq . c.json"),
      ran("python3 a.py c.json", "ok"),
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]?.refs).toEqual(["e2", "e4", "e3", "e5"]);
  });

  test("says in its words, its trigger and its call what another session can use", () => {
    const [lesson] = found(
      ran(
        "cd /home/ana/shop/backend && pytest tests/test_cart.py",
        "failed",
        "E   ModuleNotFoundError: No module named 'shop'",
      ),
      replied("The package is under src, so PYTHONPATH has to name it. Let me try."),
      ran("cd /home/ana/shop/backend && PYTHONPATH=src pytest tests/test_cart.py", "ok", "3 passed"),
    );
    expect(lesson).toMatchObject({
      trigger: "pytest fails: E ModuleNotFoundError: No module named 'shop'",
      action: "use PYTHONPATH=src pytest",
      name: "shop-not-installed",
      scope: "project",
      artifact: "rule",
      call: ["pytest", "PYTHONPATH="],
      excerpt: { error: "E   ModuleNotFoundError: No module named 'shop'", said: null },
    });
    expect(lesson?.lesson).toBe(
      "Use `PYTHONPATH=src pytest tests/test_cart.py` instead of `pytest tests/test_cart.py`, which does not find the module `shop`.",
    );
    expect(lesson?.excerpt.replied).toBe("The package is under src, so PYTHONPATH has to name it.");
  });

  test("has the same trigger when it happens with other files", () => {
    const triggers = ["a", "b"].map((file) => {
      const [lesson] = found(
        ran(`jq .x /tmp/x1/${file}.json`, "failed", "zsh: command not found: jq", missing),
        ran(`python3 x.py ${file}.json`, "ok"),
      );
      return lesson?.trigger;
    });
    expect(triggers).toEqual(["jq fails: command not found: jq", "jq fails: command not found: jq"]);
  });

  test("tells of a command that got further and failed only how it is started", () => {
    const [lesson] = found(
      ran("python -m pytest -q", "failed", "python: command not found", missing),
      ran("python3 -m pytest -q", "failed", "No module named pytest"),
      ran("python3 -m unittest", "ok"),
    );
    expect(lesson?.lesson).toBe(
      "Use `python3 -m pytest` instead of `python -m pytest`: `python` is not installed here or not on the path.",
    );
    expect(lesson?.excerpt.worked).toBeNull();
  });

  test("tells the step that was needed, and the whole of a short chain", () => {
    const [stepped] = found(
      ran("npm run deploy", "failed", "Error: You must be logged in. Run `fly auth login`."),
      ran("fly auth login", "ok"),
      ran("npm run deploy", "ok"),
    );
    expect(stepped).toMatchObject({
      artifact: "skill",
      steps: ["Run `fly auth login`", "Run `npm run deploy` again"],
    });
    const [chained] = found(
      ran("pip install foo", "failed", "error: externally-managed-environment"),
      ran("python3 -m venv .venv && .venv/bin/pip install foo", "ok"),
    );
    expect(chained?.lesson).toContain("python3 -m venv .venv && .venv/bin/pip install foo");
  });

  test("does not advise to go around a hook", () => {
    const [lesson] = found(
      ran('git commit -m "Fix"', "failed", "husky - pre-commit script failed (code 1)"),
      ran('git commit -m "Fix" --no-verify', "ok"),
    );
    expect(lesson?.lesson).toContain("do not skip it");
  });

  test("is ranked: what the machine lacks before what tests blame on others", () => {
    const findings = found(
      ran("npm test", "failed", "1 failing"),
      replied("That failure is unrelated to this change."),
      ran("pytest", "failed", "pytest: command not found", missing),
      ran("uv run pytest", "ok"),
    );
    expect(findings.map(({ name }) => name)).toEqual(["pytest-not-on-path", "npm-test-unrelated-failures"]);
    for (const { confidence } of findings) expect(confidence).toBeGreaterThanOrEqual(0.2);
  });

  test("is found at once in a session of five thousand events", () => {
    const drafts = Array.from({ length: 1_250 }, (_, n) => [
      ran(`npm test -- case${n}`, "failed", `FAIL case${n}\n${"at line of output\n".repeat(250)}1 failed`),
      edited(`case${n}.ts`),
      replied("Fixed the case."),
      ran(`npm test -- case${n} 2>&1 | tail -5`, "ok", "1 passed"),
    ]).flat();
    expect(errorRecovery(session(...drafts))).toEqual([]);
  }, 20_000);

  it.each([
    ["a".repeat(100_000)],
    [`error: ${"../a/b".repeat(20_000)} not found`],
    [`${"no such file ".repeat(8_000)}`],
    [`${"x: ".repeat(30_000)}command not found`],
    [`${"\n> ".repeat(30_000)}`],
    [`fail ${"are ".repeat(25_000)}`],
  ])(
    "is looked for in a long output without delay (%#)",
    (output) => {
      found(ran("git commit -m x", "failed", output), replied(output), ran("git commit -m y", "ok", output));
      found(ran(`tool ${output}`, "failed", output), ran(`tool ${output} --x`, "ok"));
    },
    10_000,
  );

  test("is not what a subagent did beside it", () => {
    const failing = ran("pytest -q", "failed", "bash: pytest: command not found", missing);
    const works = ran("uv run pytest -q", "ok", "9 passed");
    expect(found(failing, works)).toHaveLength(1);
    expect(found(failing, { ...works, sidechain: true })).toEqual([]);
    expect(found({ ...failing, sidechain: true }, works)).toEqual([]);
  });
});

test("a file that was looked for twice in vain is known to be nowhere; once is a slip", () => {
  const misses = {
    ...called("Read", { file_path: "/w/tide-table.md" }, "failed", "File does not exist."),
    files: ["/w/tide-table.md"],
  };
  const goesOn = [ran("make charts", "ok"), ran("make docks", "ok"), ran("make piers", "ok")];
  expect(found(misses, misses, ...goesOn)).toMatchObject([{ action: "go on without tide-table.md" }]);
  expect(found(misses, ...goesOn)).toEqual([]);
});

test("after an edit an everyday word of the agent does not say what helped", () => {
  const stuck = ran("quay lift", "failed", "error: the crane is stuck");
  const other = (word: string) => [
    stuck,
    replied(`Let me ${word} the crane.`),
    edited("/w/crane.ts"),
    ran(`quay lift ${word}`, "ok"),
  ];
  expect(found(...other("check"))).toEqual([]);
  expect(found(...other("grease"))).toHaveLength(1);
});

describe("a cure is told in one sentence", () => {
  it.each<[string, Event[], string]>([
    [
      "without the number and the file of the moment, and without where to read more",
      [
        ran(
          "gh pr edit 4711 --body-file /tmp/berth-4711.md",
          "failed",
          "GraphQL: Docks (classic) is being deprecated in favor of the new Docks, see: https://harbor.test/docks/. (docks)",
        ),
        replied("The docks API is gone, so `gh api` it is."),
        ran('gh api repos/harbor/tides/pulls/4711 -X PATCH -f body="$(cat /tmp/berth-4711.md)"', "ok"),
      ],
      'Use `gh api repos/harbor/tides/pulls/<number> -X PATCH -f "body=$(cat <file>)"` instead of `gh pr edit <number> --body-file <file>`, which fails with "GraphQL: Docks (classic) is being deprecated in favor of the new Docks".',
    ],
    [
      "whatever the script was given, and whatever name the code lacked",
      [
        ran(
          "bun apps/pier/cli.ts tides list",
          "failed",
          "SyntaxError: Export named 'readTide' not found in module '/w/harbor/core/dist/index.js'.",
          { cwd: "/w/harbor" },
        ),
        ran("bun run build", "ok"),
        ran("bun apps/pier/cli.ts tides list", "ok"),
      ],
      "If `bun apps/pier/cli.ts` fails with \"SyntaxError: Export named '…' not found in module 'core/dist/index.js'\", run `bun run build` first.",
    ],
    [
      "whatever file a look was at",
      [
        ran("cat -A src/pier/dock.ts", "failed", "error: unexpected argument '-A' found"),
        ran("sed -n 73p src/pier/dock.ts | cat -v", "ok", "x"),
      ],
      "Use `sed -n <line>p <file> | cat -v` instead of `cat -A <file>`, which fails with \"unexpected argument '-A' found\".",
    ],
    [
      "without the wrapper, for whatever it starts",
      [ran("lean bun run dock", "failed", "error: unrecognized subcommand 'bun'"), ran("bun run dock", "ok")],
      "Run `bun` without `lean`: `lean bun run dock` fails with \"unrecognized subcommand 'bun'\".",
    ],
    [
      "with the names of a hook's checks where it does not print their commands",
      [
        ran("git push", "failed", "Build.....Passed\nLint.....Failed\n- hook id: lint"),
        edited("dock.ts"),
        ran("git push", "ok"),
      ],
      "Let Build and Lint pass before `git push`: the pre-push hook stops at the first error.",
    ],
    [
      "where a pattern is meant for the program",
      [
        ran("grep -r tide --include=*.ts", "failed", "zsh:1: no matches found: --include=*.ts"),
        ran("grep -r tide --include='*.ts' .", "ok", "tide"),
      ],
      "Quote a pattern that the program is to read such as `--include=*.ts` in zsh: unquoted, it stops the command when no file matches.",
    ],
    [
      "where a pattern is meant for files",
      [
        ran("rg tide docks/*/pier.json", "failed", "zsh:1: no matches found: docks/*/pier.json"),
        ran("rg tide .", "ok", "tide"),
      ],
      "List files with `find` or `rg --files` where a pattern such as `docks/*/pier.json` may match none: zsh then stops the whole command.",
    ],
  ])("%s", (_, events, sentence) => {
    expect(found(...events).map(({ lesson }) => lesson)).toEqual([sentence]);
  });
});

describe("what a cure is called and says", () => {
  test("has no part twice in its name", () => {
    const layout = "src/dock.ts format ━━━━\n  × Formatter would have printed the following content:";
    const [cure] = found(
      ran("bun run lint", "failed", layout),
      ran("bunx biome check --write src/dock.ts", "ok"),
      ran("bun run lint", "ok"),
    );
    expect(cure?.name).toBe("bun-run-lint-biome-format");
  });

  test("keeps an address in quotes, which is what the error is about", () => {
    const [cure] = found(
      ran("git fetch origin", "failed", "fatal: repository 'https://forge.example/..git/' not found"),
      ran("git remote set-url origin https://forge.example/dock.git && git fetch origin", "ok"),
    );
    expect(cure?.lesson).toContain("repository '<url>' not found");
  });

  test("says what changed where two long calls are quoted alike", () => {
    const call = (more: string) =>
      `bd create "chore: remove it" --type chore --priority P2 --labels package,release,sdk --description "${"Remove it. ".repeat(9)}" --design "${"As before. ".repeat(9)}" --acceptance "None of it is left." --parent dock-1 ${more}`;
    const [cure] = found(
      ran(call("--set-metadata area=docks"), "failed", "Error: unknown flag: --set-metadata"),
      ran(call("--json"), "ok", "created"),
    );
    expect(cure?.lesson).toMatch(/^Use bd create without --set-metadata: `bd create /);
  });
});
