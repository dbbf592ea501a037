import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findDeciders, parseCommand } from "../../src/failures/command.ts";
import { readExit } from "../../src/failures/exit.ts";

describe("the programs that decide a command's exit", () => {
  it.each<[string, string[]]>([
    ["npm test", ["npm"]],
    ["cd app && npm test", ["cd", "npm"]],
    ["npm ci; npm test", ["npm"]],
    ["cat a | grep b | sort", ["sort"]],
    ["FOO=1 sudo -n timeout 30s /usr/bin/grep -q a b", ["grep"]],
    ["env A=1 B=2 rg x", ["rg"]],
    ["(cd x; grep a b)", ["grep"]],
    ["{ grep a b; } 2>&1", ["grep"]],
    ["[[ -f x ]]", ["[["]],
    ["for f in *; do grep a $f; done", ["grep"]],
    ["if [ -f a ]; then git diff --no-index a b; else grep x c; fi", ["git", "grep"]],
    ['bash -lc "cd x && rg foo"', ["cd", "rg"]],
    ["case $x in a) ls;; esac", ["Case"]],
    ["", []],
    ["'unclosed", []],
  ])("%s", (command, names) => {
    const found = findDeciders(command).map(({ name }) => name);
    if (command === "'unclosed") expect(found.length).toBeLessThanOrEqual(1);
    else expect(found).toEqual(names);
  });
});

describe("a script that is handed to a program", () => {
  it.each<[string, string[]]>([
    ['bash -lc "cd x && make tide"', ["make tide"]],
    ["bash -s <<'EOF'\nmake tide\nmake ebb\nEOF", ["make tide", "make ebb"]],
    ["bash run.sh <<'EOF'\nmake tide\nEOF", ["bash run.sh"]],
    ["cat > run.sh <<'EOF'\nmake tide\nEOF", ["cat"]],
    ["python - <<EOF\nimport os\nos.system('make tide -j 4')\nEOF", ["python -", "make tide -j 4"]],
    [
      'python3 - <<\'EOF\'\nimport subprocess\nsubprocess.run(["git", "commit", "-m", "ebb tide"], check=True)\nEOF',
      ["python3 -", "git commit -m ebb tide"],
    ],
    ["python3 - <<'EOF'\nimport subprocess\nsubprocess.run([tool, 'x'])\nEOF", ["python3 -"]],
    ["python3 - <<'EOF'\nprint('os.system is not called')\nEOF", ["python3 -"]],
  ])("%j runs %j", (command, runs) => {
    expect(parseCommand(command).map(({ name, args }) => [name, ...args].join(" "))).toEqual(runs);
  });
});

describe("a non-zero exit that is an answer", () => {
  it.each<[string, number, boolean]>([
    ["grep foo a", 1, true],
    ["grep foo a", 2, false],
    ["rg foo", 1, true],
    ["git grep foo", 1, true],
    ["git diff --exit-code", 1, true],
    ["git -C x diff --quiet", 1, false],
    ["git diff", 1, false],
    ["diff a b", 1, true],
    ["test -f x", 1, true],
    ["[ -d x ] && echo yes", 1, true],
    ["which pnpm", 1, true],
    ["gh pr checks 12", 8, true],
    ["gh pr checks 12", 1, false],
    ["pnpm audit", 1, true],
    ["find . -name x | xargs grep foo", 123, true],
    ["find . | xargs grep foo", 1, true],
    ["xargs rm", 123, false],
    ["for f in a b; do grep x $f; done", 1, true],
    ["npm test | grep fail", 1, true],
    ["npm test && grep fail log", 1, false],
    ["npm test", 1, false],
    ["grep foo a || npm test", 1, false],
    ["echo a && grep b c", 1, true],
  ])("%s, exit %i: %s", (command, exitCode, expected) =>
    expect(readExit(command, exitCode, "") === null).toBe(expected),
  );
});

describe("a command of plain words", () => {
  const plain = fc
    .tuple(
      fc.constantFrom(
        "npm",
        "./run.sh",
        "git",
        "if",
        "export",
        "time",
        "sudo",
        "cd",
        "echo",
        "a.b-c+d",
        "env",
      ),
      fc.array(fc.constantFrom("-x", "--a-b=c/d", "A=b", "x:y@z", "50%", "1", ".", "a,b", "fi", "-"), {
        maxLength: 4,
      }),
    )
    .map(([name, args]) => [name, ...args]);
  // The parser is asked for the one with two blanks, which is the same command.
  it("is read as the parser reads it", () => {
    fc.assert(
      fc.property(plain, (words) => {
        expect(parseCommand(words.join(" "))).toEqual(parseCommand(words.join("  ")));
        expect(findDeciders(words.join(" "))).toEqual(findDeciders(words.join("  ")));
      }),
      { numRuns: 300 },
    );
  });
});
