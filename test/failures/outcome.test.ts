import { describe, expect, it } from "vitest";
import { readOutcome } from "../../src/failures/outcome.ts";
import type { Outcome } from "../../src/records/session.ts";

const traceback = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n';

describe("an output without an exit code", () => {
  it.each<[string | null, string, Outcome]>([
    ["python a.py", "344", "ok"],
    ["rm a.py", "", "ok"],
    ["python a.py", `${traceback}ValueError: no such tide`, "failed"],
    ["python a.py", `${traceback}tides.errors.MissingHarbour: x\nrecovered, 3 tides read`, "ok"],
    ["cat run.log", `${traceback}ValueError: no such tide`, "ok"],
    ["grep -rn Error src", "src/a.py:3: raise Error('fatal')\nerror: not found", "ok"],
    ["cat missing.py", "cat: missing.py: No such file or directory", "failed"],
    ["strings a.img | grep flag", "strings: 'a.img': No such file", "failed"],
    ["rg tide", "bash: rg: command not found", "failed"],
    ["cd app && tidegen --all", "sh: 1: tidegen: not found", "failed"],
    ["git push", "To github.com:a/b\nfatal: could not read from remote repository", "failed"],
    ["npm test", "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nsee the log", "failed"],
    ["pytest -q", "..F\n=== 1 failed, 2 passed in 0.1s ===", "failed"],
    ["pytest -q", "=== 3 passed, 0 failed in 0.1s ===", "ok"],
    ["go test ./...", "--- FAIL: TestTide (0.00s)\nFAIL\tharbour\t0.01s", "failed"],
    ["node a.js", "Error: boom\n    at a.js:1:7\n\nNode.js v20.1.0", "failed"],
    ["tool --flagg", "usage: tool [--flag]\ntool: unrecognized arguments: --flagg", "failed"],
    ["tool --help", "usage: tool [--flag]", "ok"],
    ["make check", "cc -c a.c\nmake: *** [check] Error 2", "failed"],
    ["./wait.sh", "starting\nThe command timed out after 60 seconds", "failed"],
    ["make docs", "writing the page on errors that cannot happen\ndone", "ok"],
    [null, "Error: file tides.py was not found", "failed"],
    [null, "1: def error(): raise ValueError", "ok"],
  ])("of %s: %j is %s", (command, output, outcome) => {
    expect(readOutcome(command, null, output)).toBe(outcome);
  });
});

describe("a text in double quotes whose backticks the shell runs", () => {
  const noTides = 'Creating it\nerror: Cannot read "./tools/tides.js"\nhttps://harbor.test/pulls/8';

  it.each<[string, string, Outcome]>([
    ['gh pr create --body "The report now comes from `node ./tools/tides.js` alone"', noTides, "failed"],
    ["gh pr create --body 'The report now comes from `node ./tools/tides.js` alone'", noTides, "ok"],
    ['gh pr create --body "The report now comes from \\`node ./tools/tides.js\\` alone"', noTides, "ok"],
    ['gh pr create --body "The report now comes from `node ./tools/ebb.js` alone"', noTides, "ok"],
    // Meant to be run: hardly a word stands around it.
    ['echo "tides: `cat ./tools/tides.txt`"', "cannot read ./tools/tides.txt yet\ntides: ", "ok"],
  ])("%s, and %j is printed: %s", (command, output, outcome) => {
    expect(readOutcome(command, 0, output)).toBe(outcome);
  });
});

describe("an exit of 0 behind a pipe", () => {
  it.each<[string, string, Outcome]>([
    ["docker build . | tail -2", 'ERROR: failed to solve: process "/bin/sh -c make" exited', "failed"],
    ["docker logs dock | tail -2", "ERROR: failed to solve: the tide table", "masked"],
    ["docker build . | tail -2", "#9 naming to docker.io/library/dock done\n#9 DONE 0.1s", "ok"],
    ["xcodebuild test | tail -1", "** TEST FAILED **", "failed"],
    ["flutter test | tail -1", "00:03 +11 -1: Some tests failed.", "failed"],
    ["ctest | tail -1", "92% tests passed, 1 tests failed out of 12", "failed"],
    ["ctest | tail -1", "100% tests passed, 0 tests failed out of 12", "ok"],
    ["cmake --build out | tail -1", "ninja: build stopped: subcommand failed.", "failed"],
    ["tox | tail -1", "py311: FAIL code 1 (2.0 seconds)", "failed"],
    ["ansible-playbook dock.yml | tail -1", "pier : ok=3 changed=0 unreachable=0 failed=1", "failed"],
    ["helm lint dock | tail -1", "1 chart(s) linted, 0 chart(s) failed", "ok"],
    ["apt-get install -y tide | tail -1", "E: Unable to locate package tide", "failed"],
    ["psql -f dock.sql | tail -1", 'psql:dock.sql:3: ERROR:  relation "tide" does not exist', "failed"],
    ["sqlite3 dock.db 'select 1 from tide' | head", "Error: in prepare, no such table: tide", "failed"],
    ["bash -c 'npm test; echo over'", 'npm error Missing script: "test"\nover', "failed"],
    ["swift test | tail -1", "Executed 4 tests, with 1 failure (0 unexpected) in 0.1 seconds", "failed"],
    ["swift test | tail -1", "Executed 4 tests, with 0 failures (0 unexpected) in 0.1 seconds", "ok"],
  ])("of %s, with %j, is %s", (command, output, outcome) => {
    expect(readOutcome(command, 0, output)).toBe(outcome);
  });
});
