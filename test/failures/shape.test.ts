import { describe, expect, it, test } from "vitest";
import { compareSymptoms, readSymptom } from "../../src/failures/symptom.ts";

type Met = readonly [command: string | null, output: string, files?: readonly string[]];

const read = ([command, output, files = []]: Met) =>
  readSymptom(command, output, 1, { name: command === null ? "Read" : "", files });
const likeness = (a: Met, b: Met): number => compareSymptoms(read(a), read(b));

describe("a trouble of the shell", () => {
  it.each<[string, Met, Met]>([
    [
      "a glob that matches nothing",
      ["git add src/routes/[slug].tsx", "zsh:1: no matches found: src/routes/[slug].tsx"],
      ["curl https://harbor.test/tides?day=3", "(eval):1: no matches found: https://harbor.test/tides?day=3"],
    ],
    [
      "a glob, whatever shell prefix it is told with",
      ["pip install rich[jupyter]", "zsh: no matches found: rich[jupyter]"],
      ["cat src/[id].ts", "Exit code 1\n(eval):4: no matches found: src/[id].ts"],
    ],
    [
      "a pattern that matches no file",
      ["rm build/*.map", "zsh:1: no matches found: build/*.map"],
      ["cat logs/*.log", "(eval):1: no matches found: logs/*.log"],
    ],
    [
      "backticks in double quotes, in zsh and in bash",
      ['git commit -m "Rename `berth` to dock"', "zsh:1: command not found: berth"],
      ['gh pr create --body "Uses `slipway` now"', "bash: line 1: slipway: command not found"],
    ],
    [
      "backticks in double quotes, told as a quote that is not closed",
      ['gh issue comment 8 --body "See `pier`"', "/bin/bash: line 1: pier: command not found"],
      ['rg "a`b" src', 'zsh:1: unmatched "'],
    ],
    [
      "backticks in double quotes, told as a file that cannot be run",
      ['git commit -m "Move `src/dock.ts`"', "(eval):1: permission denied: src/dock.ts"],
      ['git tag -m "Adds `docs/tide.md`" v2', "zsh:1: no such file or directory: docs/tide.md"],
    ],
    [
      "a variable that the shell keeps for itself",
      ["status=$(make probe); echo $status", "zsh:1: read-only variable: status"],
      ["UID=4 ./deploy.sh", "bash: UID: readonly variable"],
    ],
    [
      "a sed that takes the next word for a suffix",
      ["sed -i 's/ebb/tide/' src/dock.ts", 'sed: 1: "src/dock.ts": unterminated substitute pattern'],
      ["cd docs && sed -i -e '/ebb/d' tide.md", 'sed: 1: "tide.md": invalid command code t'],
    ],
    [
      "a word that begins with an equals sign",
      ["echo === docks && ls", "zsh:1: == not found"],
      ["printf ==== && cat a", "(eval):1: === not found"],
    ],
    [
      "a path with round brackets in zsh",
      ["git add app/(shop)/page.tsx", "zsh:1: unknown file attribute: h"],
      ["cat src/(dock)/a.ts", "zsh:1: no matches found: src/(dock)/a.ts"],
    ],
    [
      "a path with round brackets in bash",
      ["git add app/(shop)/page.tsx", "bash: -c: line 1: syntax error near unexpected token `('"],
      ["cat src/(dock)/a.ts", "bash: line 1: syntax error near unexpected token `('"],
    ],
    [
      "a separator that Windows PowerShell does not know",
      [
        "cd docks && npm test",
        "At line:1 char:10\nThe token '&&' is not a valid statement separator in this version.",
      ],
      ["git add . && git commit -m x", "The token '&&' is not a valid statement separator in this version."],
    ],
  ])("is one for all programs: %s", (_, a, b) => {
    expect(likeness(a, b)).toBe(1);
    expect(read(a).cause).toBe("shell-dialect");
  });

  it.each<[string, Met, Met]>([
    [
      "a program that is missing, and a word in backticks",
      ["slipway deploy", "zsh:1: command not found: slipway"],
      ['git commit -m "Call `slipway`"', "zsh:1: command not found: slipway"],
    ],
    [
      "a word in single quotes, which the shell leaves alone",
      ["git commit -m 'Call `slipway`' && slipway", "zsh:1: command not found: slipway"],
      ['git commit -m "Call `slipway`"', "zsh:1: command not found: slipway"],
    ],
    [
      "a word in escaped backticks",
      ['echo "\\`slipway lift\\`" && slipway', "zsh:1: command not found: slipway"],
      ['git commit -m "Call `slipway`"', "zsh:1: command not found: slipway"],
    ],
    [
      "a word in single quotes that have double quotes in them",
      ["git commit -m 'Set x=\"\" in `slipway x`' && slipway", "zsh:1: command not found: slipway"],
      ['git commit -m "Call `slipway`"', "zsh:1: command not found: slipway"],
    ],
    [
      "a glob, and a read-only variable",
      ["ls docks/[a].md", "zsh:1: no matches found: docks/[a].md"],
      ["status=3", "zsh:1: read-only variable: status"],
    ],
    [
      "a pattern for the program, and one for the names of files",
      ["grep -rn tide --include=*.ts", "zsh:1: no matches found: --include=*.ts"],
      ["rm build/*.map", "zsh:1: no matches found: build/*.map"],
    ],
    [
      "a program that says the words of a shell",
      ["ls docks/[a].md", "zsh:1: no matches found: docks/[a].md"],
      ["make seek", "no matches found: docks"],
    ],
    [
      "a script of sed that is wrong, with a suffix or without -i",
      ["sed -i 's/ebb/tide/' a.ts", 'sed: 1: "a.ts": unterminated substitute pattern'],
      ["sed -i '' 's/ebb/tide' a.ts", 'sed: 1: "s/ebb/tide": unterminated substitute pattern'],
    ],
    [
      "brackets in a command that are no path, and brackets in one",
      ["git add app/(shop)/page.tsx", "bash: line 1: syntax error near unexpected token `('"],
      ["foo (x)", "bash: line 1: syntax error near unexpected token `('"],
    ],
    [
      "a program that is missing, and a word that begins with an equals sign",
      ["slipway lift", "zsh:1: command not found: slipway"],
      ["echo === slipway", "zsh:1: == not found"],
    ],
    [
      "a quote that is not closed, without backticks",
      ["echo 'it's", "zsh:1: unmatched '"],
      ['rg "a`b" src', 'zsh:1: unmatched "'],
    ],
  ])("is not another: %s", (_, a, b) => expect(likeness(a, b)).toBeLessThan(0.6));
});

/** A command, what a tool says of a file, and the name of its rule in that. */
const ruleLines: readonly [command: string, said: string, rule: string][] = [
  ["npx tsc", "src/dock.ts(3,10): error TS6133: 'ebb' is declared but its value is never read.", "TS6133"],
  [
    "npx tsc",
    "src/dock.ts(3,10): error TS1484: 'Ebb' is a type and must be imported using a type-only import.",
    "TS1484",
  ],
  [
    "dotnet build",
    "/w/Dock.cs(10,19): error CS8618: Non-nullable property 'Ebb' must contain a value. [/w/H.csproj]",
    "CS8618",
  ],
  ["mypy .", "dock.py:3: error: Function is missing a type annotation  [no-untyped-def]", "no-untyped-def"],
  ["pyright", 'dock.py:3:1 - error: Import "ebb" is not accessed (reportUnusedImport)', "reportUnusedImport"],
  [
    "rubocop",
    "dock.rb:1:1: C: Style/FrozenStringLiteralComment: Missing comment.",
    "Style/FrozenStringLiteralComment",
  ],
  [
    "npx markdownlint .",
    "dock.md:3 MD040/fenced-code-language Fenced code blocks should have a language",
    "MD040",
  ],
  [
    "npx stylelint .",
    "dock.css\n  3:1  ✖  Expected empty line before rule  rule-empty-line-before",
    "rule-empty-line-before",
  ],
  [
    "swiftlint",
    "/w/Dock.swift:3:1: error: Line should be 120 characters or less (line_length)",
    "line_length",
  ],
  [
    "mvn verify",
    "[ERROR] src/Dock.java:[3,1] x\n/w/src/Dock.java:3:1: Missing a Javadoc comment. [JavadocMethod]",
    "JavadocMethod",
  ],
  ["hadolint Dockerfile", "dock/Dockerfile:3 DL3008 warning: Pin versions in apt get install", "DL3008"],
  [
    "dart analyze",
    "error • Prefer const • lib/dock.dart:3:1 • prefer_const_constructors",
    "prefer_const_constructors",
  ],
  ["make", "dock.c:3:1: error: unused variable 'ebb' [-Werror=unused-variable]", "unused-variable"],
  [
    "cargo build",
    "error: unused import: `ebb`\n --> src/dock.rs:3:5\n = note: `-D unused-imports` implied by `-D warnings`",
    "unused_imports",
  ],
  ["npx oxlint", "x eslint(no-debugger): `debugger` is not allowed in dock.js", "no-debugger"],
  ["git commit -m Ebb", "✖   subject may not be empty in dock [subject-empty]", "subject-empty"],
];

const elsewhere = (said: string) =>
  said.replaceAll("ock.", "uay.").replaceAll(":3", ":91").replaceAll("bb", "gg");

describe("a finding of a linter", () => {
  it.each<[string, Met, Met]>([
    [
      "eslint",
      ["npx eslint src", "/w/src/dock.ts\n  3:7  error  'crane' is never reassigned  prefer-const"],
      ["npm run lint", "/w/src/tide.ts\n  91:3  error  'ebb' is never reassigned  prefer-const"],
    ],
    [
      "biome",
      ["npx biome check .", "src/dock.ts:4:9 lint/style/useConst ━━━━━━"],
      ["npx biome lint src", "src/tide.ts:80:1 lint/style/useConst ━━━━━━"],
    ],
    [
      "golangci-lint",
      ["golangci-lint run", "dock.go:8:9: error returned from external package is unwrapped (wrapcheck)"],
      ["make lint", "pkg/tide.go:77:9: error returned from interface method is unwrapped (wrapcheck)"],
    ],
    [
      "clippy",
      ["cargo clippy", "error: needless borrow\n  = note: `#[deny(clippy::needless_borrow)]`"],
      [
        "cargo clippy --all",
        "error: this borrow is needless\n  = note: `-D clippy::needless-borrow` implied by `-D warnings`",
      ],
    ],
    ...ruleLines.map(([command, said, rule]): [string, Met, Met] => [
      rule,
      [command, said],
      [command, elsewhere(said)],
    ]),
    [
      "ruff",
      ["ruff check .", "dock.py:1:1: UP035 `typing.List` is deprecated"],
      ["uv run ruff check src", "src/tide.py:9:1: UP035 `typing.Dict` is deprecated"],
    ],
  ])("is known by its rule in another file: %s", (_, a, b) => {
    expect(likeness(a, b)).toBeGreaterThanOrEqual(0.9);
  });

  it.each(ruleLines)("has the rule's own name: %s", (command, said, rule) => {
    expect(read([command, said]).about).toMatch(new RegExp(`^[a-z ]+ ${rule}$`));
  });

  it.each<[string, Met, Met]>([
    [
      "the same name of an analyser, where code does not fit",
      ["dart analyze", "error • The getter 'ebb' isn't defined • lib/dock.dart:3:1 • undefined_getter"],
      ["dart analyze", "error • The getter 'flow' isn't defined • lib/tide.dart:9:4 • undefined_getter"],
    ],
    [
      "types that do not agree",
      ["mypy .", 'dock.py:3: error: Argument 1 to "ebb" has incompatible type "str"  [arg-type]'],
      ["mypy .", 'tide.py:9: error: Argument 2 to "flow" has incompatible type "int"  [arg-type]'],
    ],
    [
      "another rule in the same file",
      ["npx eslint src", "/w/src/dock.ts\n  3:7  error  'crane' is never reassigned  prefer-const"],
      ["npx eslint src", "/w/src/dock.ts\n  3:7  error  'crane' is never used  no-unused-vars"],
    ],
    [
      "the layout of another formatter",
      ["npm run check", "[warn] src/dock.ts\n[warn] Code style issues found in the above file."],
      ["npm run check", "src/dock.ts format ━━━━━\n  × Formatter would have printed the following content:"],
    ],
    [
      "the same number of a compiler, about something else",
      ["npx tsc", "src/dock.ts(3,1): error TS2304: Cannot find name 'crane'."],
      ["npx tsc", "src/tide.ts(9,4): error TS2304: Cannot find name 'ebb'."],
    ],
  ])("is not %s", (_, a, b) => expect(likeness(a, b)).toBeLessThan(0.6));
});

test("layout is what a check is about only where it finds nothing else, because a tool puts only that right", () => {
  const findings =
    "src/dock.ts:4:9 lint/style/useConst ━━━━\n\nsrc/dock.ts format ━━━━\n  × Formatter would have printed:";
  expect(read(["npx biome check .", findings]).about).toBe("biome lint/style/useConst");
  const layout = findings.split("\n").slice(2).join("\n");
  expect(read(["npx biome check .", layout]).about).toBe("biome format");
});

describe("a file that is not there", () => {
  const missing = (path: string): Met => [`cat ${path}`, `cat: ${path}: No such file or directory`];

  test("is known by its name, in whatever folder it was looked for and by whatever tool", () => {
    expect(likeness(missing("docs/tide-table.md"), missing("/w/harbor/tide-table.md"))).toBe(0.9);
    const read: Met = [null, "File does not exist. Did you mean docs?", ["/w/tide-table.md"]];
    expect(likeness(missing("docs/tide-table.md"), read)).toBe(0.9);
    const python: Met = [
      "python3 tools/tide.py",
      "python3: can't open file '/w/tools/tide.py': [Errno 2] No such file or directory",
    ];
    expect(likeness(python, ["wc tools/tide.py", "wc: tools/tide.py: No such file or directory"])).toBe(0.9);
  });

  test("is not a file of another name", () => {
    expect(likeness(missing("docs/tide-table.md"), missing("docs/tide-tables.md"))).toBe(0);
    expect(likeness(missing("docs/tide-table.md"), missing("docs/tide-table.mdx"))).toBe(0);
  });
});

describe("what a call names and is not there", () => {
  test("is one branch, in whatever words of Git and in whatever range", () => {
    const a: Met = ["git checkout main", "error: pathspec 'main' did not match any file(s) known to git"];
    const b: Met = ["git log main..HEAD", "fatal: ambiguous argument 'main..HEAD': unknown revision or path"];
    expect(likeness(a, b)).toBe(0.8);
    expect(likeness(a, ["git rebase trunk", "fatal: invalid upstream 'trunk'"])).toBe(0);
  });

  test("is a file, where Git looks for one", () => {
    const a: Met = [
      "git diff quay/tide.ts",
      "fatal: ambiguous argument 'quay/tide.ts': unknown revision or path",
    ];
    expect(read(a)).toMatchObject({ cause: "missing-file", about: "tide.ts" });
  });

  test("is one module that lacks something, whatever it lacks; one of one's own is a fault of the code", () => {
    const lacks = (what: string, from: string): Met => [
      "node pier.js",
      `SyntaxError: The requested module '${from}' does not provide an export named '${what}'`,
    ];
    expect(likeness(lacks("ebb", "@harbor/core"), lacks("flow", "@harbor/core"))).toBe(1);
    expect(likeness(lacks("ebb", "@harbor/core"), lacks("ebb", "@harbor/tide"))).toBe(0);
    expect(read(lacks("ebb", "./core.js")).cause).toBe("code");
  });

  test("is any value that stands where a subcommand should", () => {
    const a: Met = ["ruff src/", "error: unrecognized subcommand 'src/'"];
    expect(likeness(a, ["ruff tools/dock.py", "error: unrecognized subcommand 'tools/dock.py'"])).toBe(1);
    expect(likeness(a, ["ruff chek", "error: unrecognized subcommand 'chek'"])).toBe(0);
  });
});

describe("an option that is refused", () => {
  test("is one, however many dashes are told", () => {
    const a: Met = ["tide send -P note.md", "error: unexpected argument '-P' found"];
    const b: Met = ["tide send --note P -P x.md", "tide: unrecognized option 'P'"];
    expect(likeness(a, b)).toBeGreaterThanOrEqual(0.6);
  });

  test("is not another option of the same program", () => {
    const a: Met = ["tide send --fast", "error: unexpected argument '--fast' found"];
    const b: Met = ["tide send --quick", "error: unexpected argument '--quick' found"];
    expect(likeness(a, b)).toBe(0);
  });

  test("is read above the usage that follows it", () => {
    const [a, b] = ["--fast", "--quick"].map((flag): Met => {
      const usage = "usage: tide [--reuse]\n  --reuse  take the folder where it already exists";
      return [`tide ${flag}`, `tide: error: unrecognized arguments: ${flag}\n${usage}`];
    }) as [Met, Met];
    expect(read(a).about).toBe("fast");
    expect(likeness(a, b)).toBe(0);
  });
});

test.each<[Met, string, string | null]>([
  [["make dock", "/bin/sh: 1: crane: not found"], "missing-program", "crane"],
  [["make dock", "crane: command not found"], "missing-program", "crane"],
  [
    ["crane lift", "The term 'crane' is not recognized as the name of a cmdlet, function"],
    "missing-program",
    "crane",
  ],
  [["make dock", "crane: not found"], "other", null],
  [["quay check && npx crane lift || make dock", "Error: crane: no load at pier 4"], "other", null],
])("a program is missing only where a shell says so: %j", (met, cause, about) => {
  expect(read(met)).toMatchObject({ cause, about });
});

test("the part that failed is the one that the error names, also through a launcher", () => {
  expect(read(["quay check && npx crane lift || make dock", "Error: crane: no load at pier 4"]).head).toBe(
    "npx crane",
  );
});
