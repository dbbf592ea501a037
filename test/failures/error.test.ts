import { describe, expect, it, test } from "vitest";
import { makeSignature } from "../../src/failures/error-line.ts";
import { readError } from "../../src/failures/error-text.ts";
import type { Cause } from "../../src/records/lesson.ts";

describe("what an output complains about", () => {
  it.each<[Cause, string, string | null]>([
    ["missing-program", "zsh:1: command not found: jq", "jq"],
    ["missing-program", "/bin/sh: 1: vitest: not found", "vitest"],
    ["missing-program", 'ERR_PNPM Command "mocha" not found', "mocha"],
    ["missing-module", "Traceback:\nModuleNotFoundError: No module named 'shop.cart'", "shop.cart"],
    ["missing-module", "Error: Cannot find module 'left-pad'", "left-pad"],
    ["missing-script", 'npm error Missing script: "types"', "types"],
    ["wrong-usage", "error: unrecognized subcommand 'make'", "make"],
    ["wrong-usage", "grep: invalid option -- P", "P"],
    ["wrong-place", "fatal: not a git repository", null],
    ["shell-dialect", "zsh: no matches found: *.md", null],
    ["permission", "mkdir: /opt/x: Permission denied", null],
    ["permission", "fatal: Unable to create '.git/index.lock': Operation not permitted", null],
    ["service", "Cannot connect to the Docker daemon", null],
    ["unknown-name", "<tool_use_error>Unknown skill: deploy</tool_use_error>", "deploy"],
    ["denied", "Permission to use Bash with command cat .env\nls has been denied.", null],
    ["failing-test", "error: thrown on purpose\n 3 pass\n 2 fail", null],
    ["lint", "a.ts(1,2): error TS2345: Argument must be a string", "a.ts"],
    ["code", "./cart.go:3:1: undefined: Total", "cart.go"],
    ["state", "error: Your local changes would be overwritten by merge", null],
    ["state", "bash: line 1: cd: web: No such file or directory", null],
    ["transient", "npm error code ECONNRESET", null],
    ["missing-file", "cat: a: No such file or directory", null],
    ["tool-misuse", "String to replace not found in file.", null],
    ["other", "something odd", null],
  ])("%s: %s", (cause, output, about) => expect(readError(output, 1)).toMatchObject({ cause, about }));

  test("is told by the exit code where words are missing", () => {
    expect(readError("odd", 127).cause).toBe("missing-program");
    expect(readError("odd", 143).cause).toBe("timeout");
    expect(readError("", 1).line).toBe("no reason given");
  });

  test("passes over colours, echoes, log lines and frames", () => {
    const output =
      "Exit code 1\n$ eslint .\n\u001b[31mnpm warn old\u001b[0m\n12:00:01 failed to x\n  at run (a.js:1:2)\n\u001b[1mfatal: no luck\u001b[0m";
    expect(readError(output, 1).line).toBe("fatal: no luck");
  });

  test("prefers the count of failed tests to the failures", () => {
    expect(readError("Task 2 failed\n3 failed, 1 passed\nAssertionError", 1).line).toBe("3 failed, 1 passed");
  });
});

test("a signature has nothing that is used once", () => {
  expect(makeSignature("error: cannot open /home/ana/shop/a.ts:12 at 4f5e6d7c8b")).toBe(
    "cannot open …/a.ts:N at …",
  );
});

it.each([
  ["/a".repeat(50_000)],
  [`${"x".repeat(50_000)}: not found`],
  ["No module named ".repeat(6_000)],
  ["\u001b[1".repeat(25_000)],
])(
  "a long output is read at once (%#)",
  (output) => {
    expect(JSON.stringify(readError(output, 1)).length).toBeLessThan(output.length);
    expect(makeSignature(output).length).toBeLessThan(output.length);
  },
  10_000,
);
