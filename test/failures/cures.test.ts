import { describe, expect, it, test } from "vitest";
import { CallReader } from "../../src/failures/recovery.ts";
import { findCertain } from "../../src/learning/leads/certain.ts";
import type { Event } from "../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";

const cures = (...events: Event[]): string[] =>
  findCertain(session(said("bring the harbor up"), ...events)).map(({ lesson }) => lesson);

type Story = [title: string, events: Event[], words: string];

const noModule = "Error: Cannot find module '@harbor/tides'";
const refused = "Error: connect ECONNREFUSED 127.0.0.1:6380";

describe("a cure is a step that can be the reason", () => {
  it.each<Story>([
    [
      "an installation",
      [
        ran("node dist/pier.js", "failed", noModule),
        ran("pnpm install", "ok"),
        ran("node dist/pier.js", "ok"),
      ],
      "Run `pnpm install` before `node dist/pier.js`: without it the module `@harbor/tides` is not found.",
    ],
    [
      "a build",
      [
        ran("node dist/pier.js", "failed", "Error: stale manifest in dist"),
        ran("pnpm run build", "ok"),
        ran("node dist/pier.js", "ok"),
      ],
      'If `node dist/pier.js` fails with "stale manifest in dist", run `pnpm run build` first.',
    ],
    [
      "a generated client",
      [
        ran("pnpm test", "failed", "Cannot find module '@harbor/client'"),
        ran("pnpm exec prisma generate", "ok"),
        ran("pnpm test", "ok", "12 passed"),
      ],
      "prisma generate",
    ],
    [
      "a stash",
      [
        ran("git rebase main", "failed", "error: cannot rebase: You have uncommitted changes."),
        ran("git stash", "ok"),
        ran("git rebase main", "ok"),
      ],
      "run `git stash` first",
    ],
    [
      "a permission for the script itself",
      [
        ran("./lift.sh", "failed", "bash: ./lift.sh: Permission denied"),
        ran("chmod +x lift.sh", "ok"),
        ran("./lift.sh", "ok", "up"),
      ],
      "run `chmod +x lift.sh` first",
    ],
    [
      "the address of a remote, set in the same breath and in another folder",
      [
        ran(
          "cd quay && git fetch origin",
          "failed",
          "fatal: repository 'https://harbor.test/..git/' not found",
        ),
        ran("cd pier && git remote set-url origin https://harbor.test/dock.git && git fetch origin", "ok"),
      ],
      "run `cd pier && git remote set-url origin",
    ],
    [
      "a fetch before a push that was behind",
      [
        ran("git push", "failed", "! [rejected] main -> main (fetch first)"),
        ran("git pull --rebase", "ok"),
        ran("git push", "ok"),
      ],
      "run `git pull --rebase` first",
    ],
    [
      "a service that was started",
      [ran("make seed", "failed", refused), ran("docker compose up -d cache", "ok"), ran("make seed", "ok")],
      "run `docker compose up -d cache` first",
    ],
    [
      "a start that the agent named",
      [
        ran("make seed", "failed", "Error: the broker does not answer"),
        replied("Nothing listens there: `tidectl` has to run first."),
        ran("tidectl go", "ok"),
        ran("make seed", "ok"),
      ],
      "run `tidectl go` first",
    ],
    [
      "a step that the error names",
      [
        ran("pier deploy", "failed", "Error: not linked. Run `pier link berth` first."),
        ran("pier link berth", "ok"),
        ran("pier deploy", "ok"),
      ],
      "run `pier link berth` first",
    ],
    [
      "a login that the error asks for",
      [
        ran("pier deploy", "failed", "Error: You must be logged in. Run `fly auth login`."),
        ran("fly auth login", "ok"),
        ran("pier deploy", "ok"),
      ],
      "run `fly auth login` first",
    ],
    [
      "a push of what a host is asked about",
      [
        ran("gh pr create --fill", "failed", "aborted: you must first push the current branch to a remote"),
        ran("git push -u origin HEAD", "ok"),
        ran("gh pr create --fill", "ok"),
      ],
      "run `git push -u origin HEAD` first",
    ],
    [
      "staging what a hook has changed",
      [
        ran(
          "git commit -m ebb",
          "failed",
          "trailing space......Failed\n- hook id: space\n- files were modified by this hook",
        ),
        ran("git add -A && git commit -m ebb", "ok", "[main 1a2b3c4] ebb"),
      ],
      "run `git add -A` first",
    ],
    [
      "a service in a container",
      [
        ran("docker compose exec web make", "failed", 'service "web" is not running'),
        ran("docker compose up -d web", "ok"),
        ran("docker compose exec web make", "ok"),
      ],
      "run `docker compose up -d web` first",
    ],
    [
      "a sign-in for the program that failed",
      [
        ran("fly status", "failed", "Error: the token has expired and cannot be renewed"),
        ran("fly auth login", "ok"),
        ran("fly status", "ok", "running"),
      ],
      "run `fly auth login` first",
    ],
    [
      "a setting of Git that the output asks for",
      [
        ran(
          "git status",
          "failed",
          "fatal: detected dubious ownership in repository at '/w'\n\tgit config --global --add safe.directory /w",
        ),
        ran("git config --global --add safe.directory /w", "ok"),
        ran("git status", "ok", "clean"),
      ],
      "run `git config --global --add safe.directory /w` first",
    ],
    [
      "a restore of the tool that a project names",
      [
        ran(
          "dotnet ef database update",
          "failed",
          "You intended to run a program, but dotnet-ef does not exist.",
        ),
        ran("dotnet tool restore", "ok"),
        ran("dotnet ef database update", "ok"),
      ],
      "without it `dotnet-ef` is not found",
    ],
    [
      "a build, cut short by a pipe, of the module that was missing",
      [
        ran("node dist/pier.js", "failed", noModule),
        ran("pnpm --filter @harbor/tides build 2>&1 | tail -3", "masked", "Done"),
        ran("node dist/pier.js", "ok"),
      ],
      "Run `pnpm --filter @harbor/tides build` before",
    ],
    [
      "a build of what lacks an export",
      [
        ran(
          "node pier.js",
          "failed",
          "The requested module '@harbor/core' does not provide an export named 'ebb'",
        ),
        ran("pnpm run build", "ok"),
        ran("node pier.js", "ok"),
      ],
      "does not provide an export named '…'\", run `pnpm run build` first",
    ],
    [
      "a permission of the file that the error names",
      [
        ran("./tools/dredge.sh", "failed", "bash: ./tools/dredge.sh: Permission denied"),
        ran("chmod +x ./tools/dredge.sh", "ok"),
        ran("./tools/dredge.sh", "ok"),
      ],
      "chmod +x",
    ],
  ])("%s", (_, events, words) => {
    const [first, ...more] = cures(...events);
    expect(first).toContain(words);
    expect(more).toEqual([]);
  });

  it.each<[string, Event]>([
    ["a look", ran("cat docker-compose.yml", "ok", "services:")],
    ["a question", ran("pier --help", "ok", "usage")],
    ["a print", ran("echo ready", "ok", "ready")],
    ["a wait", ran("sleep 20", "ok")],
    ["a commit", ran("git commit -am wip", "ok")],
    ["what is added to a commit", ran("git add -A", "ok")],
    ["an unrelated update", ran("gh issue edit 12 --add-label tide", "ok")],
    ["another check", ran("npx tsc --noEmit", "ok")],
    ["another branch", ran("git checkout main", "ok")],
    ["a build that failed too", ran("pnpm run build", "failed", "error: no space left")],
    ["a build of which nobody knows how it ended", ran("pnpm run build | true", "masked")],
  ])("and is not claimed for %s", (_, between) => {
    const failing = ran("make seed", "failed", "Error: the broker does not answer");
    expect(cures(failing, between, ran("make seed", "ok"))).toEqual([]);
  });

  it.each<Story>([
    [
      "that was started, and not the words that came along with the next try",
      [
        ran("psql -h localhost harbor", "failed", refused),
        ran("docker compose up -d db", "ok"),
        ran("psql -h localhost harbor -c 'select 1'", "ok", "1"),
      ],
      "run `docker compose up -d db` first",
    ],
    [
      "that installed a module, whatever else the next try was given",
      [
        ran("pytest tests/a.py", "failed", "ModuleNotFoundError: No module named 'tides'"),
        ran("uv pip install tides", "ok"),
        ran("pytest tests/a.py -x -q", "ok", "3 passed"),
      ],
      "Run `uv pip install tides` before `pytest tests/a.py`",
    ],
    [
      "that gets a module, which is no look",
      [
        ran("go build ./...", "failed", "main.go:4:2: no required module provides package harbor.test/tides"),
        ran("go get harbor.test/tides", "ok"),
        ran("go build ./...", "ok"),
      ],
      "Run `go get harbor.test/tides` before `go build ./...`",
    ],
    [
      "that brings a database up to date",
      [
        ran("npm run seed", "failed", 'error: relation "tides" does not exist'),
        ran("npm run migrate", "ok"),
        ran("npm run seed", "ok"),
      ],
      "run `npm run migrate` first",
    ],
    [
      "that installs what a program starts",
      [
        ran("npm run e2e", "failed", "Error: browserType.launch: Executable doesn't exist at /ms/chromium"),
        ran("npx playwright install chromium", "ok"),
        ran("npm run e2e", "ok", "3 passed"),
      ],
      "run `npx playwright install chromium` first",
    ],
    [
      "that generates what a compiler misses",
      [
        ran(
          "npx tsc --noEmit",
          "failed",
          "src/db.ts(1,10): error TS2305: Module '\"@harbor/client\"' has no exported member 'Tide'.",
        ),
        ran("npx prisma generate", "ok"),
        ran("npx tsc --noEmit", "ok"),
      ],
      "run `npx prisma generate` first",
    ],
  ])("%s", (_, events, words) => {
    const found = cures(...events);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(words);
  });

  it.each<[title: string, events: Event[]]>([
    [
      "a module that another test then had",
      [
        ran("pytest tests/a.py", "failed", "ModuleNotFoundError: No module named 'tides'"),
        ran("pip install tides", "ok"),
        ran("pytest tests/b.py", "ok", "3 passed"),
      ],
    ],
    [
      "a port that is free again because something was ended",
      [
        ran("npm run dev", "failed", "Error: listen EADDRINUSE: address already in use :::3000"),
        ran("lsof -ti:3000 | xargs kill -9", "ok"),
        ran("npm run dev -- --port 3000", "ok", "ready"),
      ],
    ],
    [
      "a push before a program that asks no host",
      [
        ran("gauge send", "failed", "Error: the gauge is dry"),
        ran("git push", "ok"),
        ran("gauge send", "ok"),
      ],
    ],
    [
      "a sign-in for something else",
      [
        ran("make chart", "failed", "Error: replicas must be a number"),
        ran("docker login harbor.test", "ok"),
        ran("make chart", "ok"),
      ],
    ],
    [
      "a build before a server that was slow to answer",
      [
        ran("curl -s localhost:8080", "failed", refused),
        ran("npm run build", "ok"),
        ran("curl -s localhost:8080", "ok", "up"),
      ],
    ],
    [
      "tests of which only the number that failed is known",
      [
        ran("npm test", "failed", "Tests: 2 failed, 3 passed"),
        ran("npm ci", "ok"),
        ran("npm test", "ok", "Tests: 5 passed"),
      ],
    ],
    [
      "what was edited before a generator ran",
      [
        ran("npx tsc --noEmit", "failed", "src/db.ts(1,10): error TS2305: no exported member 'Tide'."),
        edited("src/db.ts"),
        ran("npx prisma generate", "ok"),
        ran("npx tsc --noEmit", "ok"),
      ],
    ],
  ])("but not %s", (_, events) => {
    expect(cures(...events)).toEqual([]);
  });

  test("is a port, told with its number, where nothing else was done", () => {
    const found = cures(
      ran("psql -h localhost harbor", "failed", refused),
      ran("docker ps", "ok", "0.0.0.0:5433->5432"),
      ran("psql -h localhost -p 5433 harbor", "ok"),
    );
    expect(found).toEqual([expect.stringContaining("`psql -h localhost -p 5433 harbor`")]);
  });

  test("and is the one that can, among others that cannot", () => {
    const found = cures(
      ran("make seed", "failed", refused),
      ran("cat Makefile", "ok", "seed:"),
      ran("docker compose up -d cache", "ok"),
      ran("git commit -am wip", "ok"),
      ran("sleep 5", "ok"),
      ran("make seed", "ok"),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("run `docker compose up -d cache` first");
  });
});

describe("a cure is another way to call", () => {
  it.each<Story>([
    [
      "without the flag that the error refuses",
      [
        ran("gauge read --watch dock", "failed", "error: unexpected argument '--watch' found"),
        ran("gauge read dock", "ok"),
      ],
      "Leave `--watch` out of `gauge read`",
    ],
    [
      "without a field that the error refuses",
      [
        ran("gh pr view --json title,berth", "failed", 'Unknown JSON field: "berth"'),
        ran("gh pr view --json title", "ok"),
      ],
      "Leave `berth` out of `gh pr view`",
    ],
    [
      "with the flag that the error offers",
      [
        ran("gauge export dock", "failed", "error: refusing to overwrite; use --replace instead"),
        ran("gauge export --replace dock", "ok"),
      ],
      "--replace",
    ],
    [
      "with a program that the agent announced",
      [
        ran("gauge plot tide.csv", "failed", "gauge: the plotter needs a display"),
        replied("There is no display here, so I will use gnuplot instead."),
        ran("gnuplot tide.plt", "ok"),
      ],
      "gnuplot tide.plt",
    ],
    [
      "with another program where one is missing",
      [
        ran("wget https://harbor.test/tides.csv", "failed", "zsh:1: command not found: wget", {
          exitCode: 127,
        }),
        ran("curl -O https://harbor.test/tides.csv", "ok"),
      ],
      "curl",
    ],
    [
      "with the value that a tool lists",
      [
        called(
          "Task",
          { subagent_type: "diver" },
          "failed",
          "Agent type 'diver' not found. Available: crane",
        ),
        called("Task", { subagent_type: "crane" }, "ok"),
      ],
      "crane",
    ],
    [
      "with the program that a hook asks for",
      [
        ran("npm test", "failed", "PreToolUse:Bash hook error: this project uses pnpm"),
        ran("pnpm test", "ok"),
      ],
      "refused by a hook",
    ],
    [
      "without a flag that the error names unquoted",
      [
        ran(
          "cargo build --locked",
          "failed",
          "error: Cargo.lock needs to be updated but --locked was passed to prevent this",
        ),
        ran("cargo build", "ok"),
      ],
      "Leave `--locked` out of `cargo build`",
    ],
    [
      "with a name from a list that was looked up",
      [
        ran("docker compose logs backend", "failed", "no such service: backend"),
        ran("docker compose ps --services", "ok", "pier\ndb"),
        ran("docker compose logs pier", "ok", "up"),
      ],
      "Use `docker compose logs pier` instead of `docker compose logs backend`",
    ],
    [
      "with a branch from a list, wherever in a range it stands",
      [
        ran(
          "git log main..HEAD",
          "failed",
          "fatal: ambiguous argument 'main..HEAD': unknown revision or path",
        ),
        ran("git branch -a", "ok", "* quay\n  remotes/origin/main"),
        ran("git log origin/main..HEAD", "ok", "3f2a ebb"),
      ],
      "Use `git log origin/main..HEAD` instead",
    ],
    [
      "with the full name of what was named in short",
      [
        ran(
          "cargo test -p core",
          "failed",
          "error: package ID specification `core` did not match any packages",
        ),
        ran("cargo test -p harbor-core", "ok"),
      ],
      "Use `cargo test -p harbor-core` instead",
    ],
    [
      "with a file that was missing in it and was looked up",
      [
        ran("dotnet test", "failed", "error MSB1003: Specify a project or solution file."),
        ran("find . -name '*.sln'", "ok", "./src/Harbor.sln"),
        ran("dotnet test src/Harbor.sln", "ok"),
      ],
      "Use `dotnet test src/Harbor.sln` instead",
    ],
    [
      "with a text behind the sign that ends the options",
      [
        ran("rg --ebb docks", "failed", "rg: unrecognized flag --ebb"),
        ran("rg -- --ebb docks", "ok", "docks/a.md: --ebb"),
      ],
      "Use `rg -- --ebb docks` instead",
    ],
    [
      "with the program that is given the same where one is missing",
      [
        ran("ls docks", "failed", "'ls' is not recognized as an internal or external command,"),
        ran("dir docks", "ok", "a.md"),
      ],
      "Use `dir` instead of `ls`",
    ],
    [
      "with another filter behind the same program",
      [
        ran("npm test | grep ebb", "failed", "The term 'grep' is not recognized as the name of a cmdlet"),
        ran("npm test | Select-String ebb", "masked", "ebb passed", { exitCode: 0 }),
      ],
      "Select-String",
    ],
    [
      "with the variable that a hook's program needs",
      [
        ran(
          "git commit -m ebb",
          "failed",
          ".husky/pre-commit: line 2: pnpm: command not found\nhusky - pre-commit script failed",
        ),
        ran("PATH=/opt/pnpm:$PATH git commit -m ebb", "ok", "[main 1a2b3c4] ebb"),
      ],
      "use `PATH=/opt/pnpm:$PATH git commit -m ebb`",
    ],
    [
      "with the form that a hook wants of the message of a commit",
      [
        ran(
          "git commit -m 'Ebb'",
          "failed",
          "✖   type may not be empty [type-empty]\nhusky - commit-msg script failed",
        ),
        ran("git commit -m 'fix: ebb'", "ok", "[main 1a2b3c4] fix: ebb"),
      ],
      "such as `fix: …`",
    ],
    [
      "a few at a time where the names were too many",
      [
        ran("wc -l $(find docks -name '*.md')", "failed", "zsh:1: argument list too long: wc"),
        ran("find docks -name '*.md' -exec wc -l {} +", "ok", "4 docks/a.md"),
      ],
      "`find … -exec`",
    ],
    [
      "with forward slashes where bash took the backslashes away",
      [
        ran("cat C:\\w\\dock.md", "failed", "cat: C:wdock.md: No such file or directory"),
        ran("cat /c/w/dock.md", "ok", "ebb"),
      ],
      "forward slashes",
    ],
    [
      "with two slashes where Git Bash takes one for a path",
      [
        ran("taskkill /F /PID 12", "failed", "ERROR: Invalid argument/option - 'F:/'."),
        ran("taskkill //F //PID 12", "ok"),
      ],
      "`//F` for `/F`",
    ],
    [
      "with what PowerShell has for a text, ",
      [
        ran("node <<'EOF'\n1\nEOF", "failed", "Missing file specification after redirection operator."),
        ran("@'\n1\n'@ | node", "ok"),
      ],
      "Hand a text over",
    ],
    [
      "with what PowerShell has for /dev/null",
      [
        ran(
          "npm test 2>/dev/null",
          "failed",
          "out-file : Could not find a part of the path 'C:\\dev\\null'.",
        ),
        ran("npm test 2>$null", "ok", "3 passed"),
      ],
      "`2>$null`",
    ],
    [
      "with the command that PowerShell says an alias is",
      [
        ran(
          "rm -rf out",
          "failed",
          "Remove-Item : A parameter cannot be found that matches parameter name 'rf'.",
        ),
        ran("Remove-Item -Recurse -Force out", "ok"),
      ],
      "Use `Remove-Item -Recurse -Force out` instead of `rm -rf out`",
    ],
    [
      "with a variable in PowerShell's own words",
      [
        ran("npm test", "failed", "Error: EBB_URL is not set"),
        ran("$env:EBB_URL = 'http://pier'; npm test", "ok", "3 passed"),
      ],
      "Use `$env:EBB_URL=http://pier; npm test` instead",
    ],
    [
      "from the folder in which the same file lies",
      [
        ran("npx jest pier/src/a.test.ts", "failed", "● Validation Error:\n  Preset ts-jest not found."),
        ran("cd pier && npx jest src/a.test.ts", "ok", "3 passed"),
      ],
      "Run `cd pier && npx jest src/a.test.ts`",
    ],
    [
      "with bash where sh lacks a word of it",
      [
        ran("sh -c 'source dock.env && make quay'", "failed", "sh: 1: source: not found"),
        ran("bash -c 'source dock.env && make quay'", "ok"),
      ],
      "Run it with `bash`",
    ],
    [
      "with the variable that PowerShell sets in its own way",
      [
        ran("EBB=1 npm test", "failed", "EBB=1 : The term 'EBB=1' is not recognized as the name of a cmdlet"),
        ran("$env:EBB = '1'; npm test", "ok"),
      ],
      "Set a variable with `$env:NAME",
    ],
    [
      "in single quotes where the shell ran backticks",
      [
        ran('git commit -m "Rename `berth`"', "failed", "zsh:1: command not found: berth"),
        ran("git commit -m 'Rename `berth`'", "ok"),
      ],
      "single quotes",
    ],
  ])("%s", (_, events, words) => {
    const [first, ...more] = cures(...events);
    expect(first).toContain(words);
    expect(more).toEqual([]);
  });

  it.each<[string, Event[]]>([
    [
      "a retry that works by itself",
      [ran("make seed", "failed", "Error: the broker hung up"), ran("make seed", "ok")],
    ],
    [
      "the same output through a filter",
      [
        ran("make seed", "failed", "Error: the broker hung up"),
        ran("make seed 2>&1 | grep -v broker", "ok", "seeding"),
      ],
    ],
    [
      "the flag that was refused is still there",
      [
        ran("gauge read --watch dock", "failed", "error: unexpected argument '--watch' found"),
        ran("gauge read --watch dock --port 4", "ok"),
      ],
    ],
    [
      "a question how it is used",
      [
        ran("gh pr view --json title,berth", "failed", 'Unknown JSON field: "berth"'),
        ran("gh pr view --help", "ok", "usage"),
      ],
    ],
    [
      "another call that fails with the same complaint",
      [
        ran("gauge read --watch dock", "failed", "error: unexpected argument '--watch' found"),
        ran("gauge list --watch", "failed", "error: unexpected argument '--watch' found"),
      ],
    ],
    [
      "a name that nobody had seen",
      [
        ran("docker compose logs backend", "failed", "no such service: backend"),
        ran("docker compose logs pier", "ok", "up"),
      ],
    ],
    [
      "another number",
      [
        ran("gh pr view 12", "failed", "GraphQL: Could not resolve to a PullRequest with the number of 12."),
        ran("gh pr list", "ok", "11 open"),
        ran("gh pr view 11", "ok", "ebb"),
      ],
    ],
    [
      "a list of names, which only shows what there is",
      [
        ran("npx nx test pier", "failed", "Cannot find project 'pier'"),
        ran("npx nx show projects", "ok", "pier-web"),
      ],
    ],
    [
      "a check with another option, though the code was wrong",
      [
        ran("npx tsc --noEmit", "failed", "src/a.ts(1,1): error TS2304: Cannot find name 'ebb'."),
        ran("npx tsc --noEmit --skipLibCheck", "ok"),
      ],
    ],
    [
      "another subject",
      [ran("gauge read dock", "failed", "Error: gauge 'dock' is dry"), ran("gauge read quay", "ok")],
    ],
    [
      "an edit in between, of which the agent says nothing",
      [
        ran("gauge export dock", "failed", "Error: the table is locked"),
        edited("gauge.toml"),
        ran("gauge export dock --port 4", "ok"),
      ],
    ],
    [
      "backticks again, which the shell runs again",
      [
        ran('git commit -m "Rename `berth`"', "failed", "zsh:1: command not found: berth"),
        ran('git commit -m "Rename `true`"', "ok"),
      ],
    ],
    [
      "a program that the agent did not announce",
      [
        ran("gauge plot tide.csv", "failed", "gauge: the plotter needs a display"),
        ran("gnuplot tide.plt", "ok"),
      ],
    ],
    [
      "a program that the agent spoke of for another reason",
      [
        ran("gauge plot tide.csv", "failed", "gauge: the plotter needs a display"),
        replied("The old chart was drawn by gnuplot."),
        ran("gnuplot tide.plt", "ok"),
      ],
    ],
    [
      "a program that who refused the call did not ask for",
      [ran("npm test", "failed", "PreToolUse:Bash hook error: no tests before noon"), ran("pnpm test", "ok")],
    ],
    [
      "a look at the same file where a module is missing",
      [
        ran("python3 report.py dock.csv", "failed", "ModuleNotFoundError: No module named 'tidetable'"),
        ran("awk '{ print $1 }' dock.csv", "ok", "1"),
      ],
    ],
    [
      "another job of the same program",
      [
        ran("gauge read --all", "failed", "error: unexpected argument '--all' found"),
        ran("gauge reset quay", "ok"),
      ],
    ],
    [
      "a flag after much else was done",
      [
        ran("gauge export dock", "failed", "Error: the table is locked"),
        ...["make tidy", "node sweep.js", "node count.js"].map((command) => ran(command, "ok")),
        ran("gauge export dock --port 4", "ok"),
      ],
    ],
    [
      "other words of a query, which nobody can tell in short",
      [
        ran(
          'psql -c "select berth, quay from docks where pier = 4"',
          "failed",
          'ERROR: column "berth" does not exist',
        ),
        ran('psql -c "select quay, sum(load) from docks where pier = 4"', "ok"),
      ],
    ],
    [
      "a call that prints only what the failed one printed",
      [
        ran("gauge probe dock", "failed", "gauge 4 ready\nNo such command 'probe'."),
        ran("gauge list dock 2>/dev/null | head -20", "ok", "gauge 4 ready"),
      ],
    ],
    [
      "a call that says that there is nothing",
      [
        ran("gauge probe dock", "failed", "No such command 'probe'."),
        ran("gauge list dock", "ok", "gauge 4 ready\n! No gauges available from any pier."),
      ],
    ],
    [
      "a longer wait",
      [
        ran("gauge read dock", "failed", "Error: the gauge was silent"),
        ran("sleep 9 && gauge read dock", "ok"),
      ],
    ],
  ])("and not %s", (_, events) => expect(cures(...events)).toEqual([]));

  test("of every failure that it overcame, whatever each of them said", () => {
    const found = cures(
      ran("quay ship --tag dawn", "failed", "error: unexpected argument '--tag' found"),
      ran("quay ship --label dawn", "failed", "could not add label: 'dawn' not found"),
      ran("quay ship", "ok", "shipped"),
    );
    expect(found).toHaveLength(2);
    expect(found.join("\n")).toContain("Leave `--tag` out of");
    expect(found.join("\n")).toContain("Leave `--label` out of");
  });

  test("after an edit, where the agent says what it was", () => {
    const found = cures(
      ran("gauge export dock", "failed", "Error: the table is locked"),
      edited("notes.md"),
      replied("The lock is held by the reader; `--steal` takes it."),
      ran("gauge export dock --steal", "ok"),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("--steal");
  });
});

describe("layout", () => {
  const found =
    "[warn] src/dock.ts\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.";

  it.each<Story>([
    [
      "is put right by the formatter itself",
      [ran("npx prettier --check .", "failed", found), ran("npx prettier --write .", "ok")],
      "Run `npx prettier --write .` when `npx prettier --check .` fails on layout",
    ],
    [
      "is put right by a script of the project, also after a failed try",
      [
        ran("npm run check", "failed", found),
        ran("npx prettier --write .", "failed", "npm error could not determine executable to run"),
        ran("npm run format", "ok"),
      ],
      "Run `npm run format` when",
    ],
    [
      "is put right by a formatter that is no longer told only to check",
      [
        ran("terraform fmt -check -recursive", "failed", "pier/main.tf", { exitCode: 3 }),
        ran("terraform fmt -recursive", "ok", "pier/main.tf"),
      ],
      "Run `terraform fmt -recursive` when",
    ],
    [
      "is put right by a program that writes where it is not told to check",
      [ran("black --check .", "failed", "would reformat dock.py"), ran("black .", "ok")],
      "Run `black .` when",
    ],
    [
      "is put right by a task of Gradle",
      [
        ran("./gradlew check", "failed", "The following files had format violations:\n  src/Dock.java"),
        ran("./gradlew spotlessApply", "ok", "BUILD SUCCESSFUL"),
      ],
      "Run `./gradlew spotlessApply` when",
    ],
    [
      "is put right by gofmt",
      [
        ran("golangci-lint run", "failed", "dock.go:3: File is not properly formatted (gofmt)"),
        ran("gofmt -w dock.go", "ok"),
      ],
      "Run `gofmt -w <path>` when",
    ],
  ])("%s", (_, events, words) => expect(cures(...events)[0]).toContain(words));

  it.each<[string, Event]>([
    ["a formatter of another language", ran("cargo fmt", "ok")],
    ["a formatter that failed", ran("npx prettier --write .", "failed", "SyntaxError: dock.ts")],
    ["another check", ran("npx prettier --check docs", "ok")],
  ])("is not put right by %s", (_, event) =>
    expect(cures(ran("npx prettier --check .", "failed", found), event)).toEqual([]),
  );

  const rule = "/w/src/dock.ts\n  3:7  error  'crane' is never reassigned  prefer-const";

  test("and other rules are put right by a fixer that finds nothing more", () =>
    expect(cures(ran("npx eslint .", "failed", rule), ran("npx eslint --fix .", "ok"))).toEqual([
      "Run `npx eslint --fix .` when `npx eslint .` fails on eslint prefer-const.",
    ]));

  test.each([
    ["an edit came first", [edited("/w/src/quay.ts"), ran("npx eslint --fix .", "ok")]],
    ["the fixer left something", [ran("npx eslint --fix .", "failed", rule)]],
    ["the fixer is of another language", [ran("ruff check --fix .", "ok")]],
    ["a check only names the fixer", [ran("npx eslint --fix-dry-run --diff .", "ok")]],
  ])("but not where %s", (_, after) =>
    expect(cures(ran("npx eslint .", "failed", rule), ...after)).toEqual([]),
  );
});

describe("a rule that an edit satisfied", () => {
  const found = ran("ruff check .", "failed", "dock/ebb.py:3:1: UP035 `typing.List` is deprecated");
  const changed = (before: string, after: string): Event => ({
    ...called("Edit", { file_path: "/w/dock/ebb.py", old_string: before, new_string: after }, "ok"),
    files: ["/w/dock/ebb.py"],
  });
  const told = (...between: Event[]) => cures(found, ...between, ran("ruff check .", "ok"))[0];

  it.each<[string, Event, string]>([
    [
      "a line that was written otherwise",
      changed("import os\nfrom typing import List", "import os\nfrom builtins import list"),
      "Mended by writing `from builtins import list` for `from typing import List`.",
    ],
    [
      "a line that was left out",
      changed("import os\nfrom typing import List", "import os"),
      "leaving out `from typing import List`",
    ],
    [
      "a line that was added",
      changed("", "from __future__ import annotations"),
      "adding `from __future__ import annotations`",
    ],
    [
      "a patch",
      {
        ...called(
          "apply_patch",
          {
            input:
              "*** Begin Patch\n*** Update File: dock/ebb.py\n@@\n-a = List[int]\n+a = list[int]\n*** End Patch",
          },
          "ok",
        ),
        files: ["dock/ebb.py"],
      },
      "writing `a = list[int]` for `a = List[int]`",
    ],
  ])("is told with %s", (_, edit, words) => {
    expect(told(edit)).toMatch(/^`python UP035` is on here: /);
    expect(told(edit)).toContain(words);
  });

  it.each([
    "from typing import List  # noqa: UP035",
    "// eslint-disable-next-line prefer-const",
    "// @ts-expect-error until the types are there",
  ])("is not told where it was silenced: %s", (line) =>
    expect(told(changed("from typing import List", line))).toBeUndefined(),
  );

  test("is told with what the agent says of it, also before a colon", () =>
    expect(
      told(replied("This project has UP035 on: use the built-in list."), edited("/w/quay.py")),
    ).toContain("This project has UP035 on: use the built-in list."));

  test.each([
    ["another file was edited", [edited("/w/quay.py")]],
    ["nothing was edited", []],
  ])("is not claimed where %s", (_, between) => expect(told(...between)).toBeUndefined());
});

const read = (path: string, outcome: "ok" | "failed"): Event => ({
  ...called("Read", { file_path: path }, outcome, outcome === "ok" ? "text" : "File does not exist."),
  files: [path],
});

const here = { cwd: "/w" };

describe("a file that is not there", () => {
  it.each<Story>([
    [
      "is found at another place by the same tool",
      [read("/w/harbor/docs/tides.md", "failed"), read("/w/harbor/guides/tides.md", "ok")],
      "Look for `tides.md` at `/w/harbor/guides/tides.md`, not at `/w/harbor/docs/tides.md`.",
    ],
    [
      "is found by another command",
      [
        ran(
          "python3 tides.py",
          "failed",
          "python3: can't open file '/w/tides.py': [Errno 2] No such file or directory",
          here,
        ),
        ran("find . -name 'tides*'", "ok", "./tools/tides.py", here),
        ran("python3 tools/harbor/tides.py", "ok", "high water", here),
      ],
      "Look for `tides.py` at `tools/harbor/tides.py`",
    ],
  ])("%s", (_, events, words) => {
    const [first, ...more] = cures(...events);
    expect(first).toContain(words);
    expect(more).toEqual([]);
  });

  it.each<[string, Event[]]>([
    ["another file", [read("/w/docs/tides.md", "failed"), read("/w/docs/berths.md", "ok")]],
    [
      "a file of a name that many folders have",
      [read("/w/a/index.ts", "failed"), read("/w/b/index.ts", "ok")],
    ],
    ["the same file once it was written", [read("/w/docs/tides.md", "failed"), edited("/w/docs/tides.md")]],
    ["the same place, written otherwise", [read("docs/tides.md", "failed"), read("/w/docs/tides.md", "ok")]],
  ])("is not %s", (_, events) => expect(cures(...events)).toEqual([]));

  const onward = ["make dock", "make quay", "make pier"].map((command) => ran(command, "ok"));

  test("is nowhere when it was looked for twice and the work went on without it", () => {
    const [first, ...more] = cures(
      read("/w/docs/tides.md", "failed"),
      read("/w/tides.md", "failed"),
      ...onward,
    );
    expect(first).toContain("Do not look for `tides.md`: it is not here, 2 searches found nothing");
    expect(more).toEqual([]);
  });

  it.each<[string, Event[]]>([
    ["it was looked for once", [read("/w/docs/tides.md", "failed"), ...onward]],
    [
      "two different ones were looked for",
      [read("/w/tides.md", "failed"), read("/w/ebb.md", "failed"), ...onward],
    ],
    ["the session ended there", [read("/w/docs/tides.md", "failed"), read("/w/tides.md", "failed")]],
  ])("is not said to be nowhere when %s", (_, events) => expect(cures(...events)).toEqual([]));
});

describe("an edit that does not find its text", () => {
  const slip: Event = {
    ...called(
      "Edit",
      { file_path: "/w/dock.py", old_string: "a" },
      "failed",
      "String to replace not found in file.",
    ),
    files: ["/w/dock.py"],
  };
  const worked = edited("/w/dock.py");
  const tabs = replied("The file is indented with tabs, not spaces.");

  test("is a lesson when it happens twice and the agent sees why", () => {
    const [first, ...more] = cures(slip, slip, tabs, worked);
    expect(first).toContain(
      "Write tabs, not spaces, in the text to replace when you edit files such as `dock.py`",
    );
    expect(first).toContain("indented with tabs");
    expect(more).toEqual([]);
  });

  test("is a lesson when a script had to do it", () => {
    const script = ran("sed -i 's/a/b/' /w/dock.py", "ok");
    expect(cures(slip, slip, script)[0]).toContain(
      "Look at the exact white space of `dock.py` before you edit it",
    );
  });

  it.each<[string, Event[]]>([
    ["after a single slip", [slip, tabs, worked]],
    ["after two slips without a reason", [slip, slip, replied("Once more."), worked]],
    ["when another file is edited", [slip, slip, tabs, edited("/w/quay.py")]],
    ["when the script is about another file", [slip, slip, ran("sed -i 's/a/b/' /w/quay.py", "ok")]],
    ["when it is never edited", [slip, slip, tabs]],
  ])("is none %s", (_, events) => expect(cures(...events)).toEqual([]));
});

describe("a recovery", () => {
  const recoveries = (...events: Event[]) => new CallReader().recoveries(session(said("go"), ...events));

  test("has every later failing variant of the same trouble", () => {
    const fails = (file: string) =>
      ran(`cat docks/[${file}].md`, "failed", `zsh:1: no matches found: docks/[${file}].md`);
    const [first] = recoveries(fails("a"), fails("b"), fails("c"), ran("cat 'docks/[c].md'", "ok"));
    expect(first?.again.map(({ ref }) => ref)).toEqual(["e3", "e4"]);
    expect(first?.worked?.ref).toBe("e5");
  });

  test("is not found in a call of which nobody knows how it ended", () => {
    const fails = ran("tide go", "failed", "zsh:1: command not found: tide", { exitCode: 127 });
    expect(recoveries(fails, ran("npx tide go | true", "masked"))[0]?.worked).toBeNull();
    expect(recoveries(fails, ran("npx tide go", "ok"))[0]?.worked?.ref).toBe("e3");
    const reader = new CallReader();
    expect(recoveries(fails, ran("npx tide go", "ok", "No tides configured"))[0]?.worked).toBeNull();
    expect(reader.hasWorked(ran("npx tide go | true", "masked"))).toBe(false);
    expect(reader.hasWorked(ran("npx tide go", "ok"))).toBe(true);
  });
});

describe("the uses of a call", () => {
  const fails = ran("make seed", "failed", refused);
  const starts = ran("docker compose up -d cache", "ok");
  const countUses = (...events: Event[]) =>
    new CallReader()
      .uses(session(said("go"), ...events))
      .filter(({ head }) => head === "docker")
      .map(({ ok, failed }) => ({ ok, failed }));

  test("count a step as failed that was taken against a failure which came again", () => {
    expect(countUses(fails, starts, fails)).toEqual([{ ok: 0, failed: 1 }]);
  });

  test("count it as worked when the failure was gone, or was another one", () => {
    expect(countUses(fails, starts, ran("make seed", "ok"))).toEqual([{ ok: 1, failed: 0 }]);
    expect(countUses(fails, starts, ran("make seed", "failed", "Error: no table docks"))).toEqual([
      { ok: 1, failed: 0 },
    ]);
  });
});
