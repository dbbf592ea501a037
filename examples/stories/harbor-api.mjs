// A small Node service, worked on with Claude Code. Every command below really runs when the stories are recorded.
import { allow, pause, refuse } from "./acting.mjs";

const files = {
  "package.json": `{
  "name": "harbor-api",
  "version": "1.4.0",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node scripts/test.mjs",
    "lint": "node scripts/lint.mjs",
    "codegen": "node scripts/codegen.mjs",
    "build": "node scripts/build.mjs"
  }
}
`,
  ".gitignore": ".env\ndist/\n",
  ".env.test": "DATABASE_URL=sqlite::memory:\n",
  ".githooks/commit-msg": `#!/bin/sh
head -n 1 "$1" | grep -qE '^(feat|fix|chore|refactor|docs|test)\\([a-z-]+\\): ' && exit 0
echo "commit-msg: the message needs a type and a scope, for example 'fix(rates): round half up'" >&2
exit 1
`,
  "schema/harbor.json": `{
  "name": "Harbor",
  "fields": { "id": "string", "name": "string", "pilotRequired": "boolean" }
}
`,
  "generated/schema.ts": `export interface Harbor {
  id: string;
  name: string;
  pilotRequired: boolean;
}
`,
  "scripts/codegen.mjs": `import { readFileSync, writeFileSync } from "node:fs";

const { name, fields } = JSON.parse(readFileSync("schema/harbor.json", "utf8"));
const lines = Object.entries(fields).map(([field, type]) => \`  \${field}: \${type};\`);
writeFileSync("generated/schema.ts", [\`export interface \${name} {\`, ...lines, "}", ""].join("\\n"));
console.log(\`generated/schema.ts: \${lines.length} fields\`);
`,
  "scripts/build.mjs": `import { cpSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

console.log("bundling src/ ...");
await pause(5000);
cpSync("src", "dist", { recursive: true });
console.log("dist/ is up to date");
`,
  "scripts/lint.mjs": `import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const fix = process.argv.includes("--fix");
let problems = 0;
for (const name of readdirSync("src")) {
  const text = readFileSync(\`src/\${name}\`, "utf8");
  const clean = text.replace(/[ \\t]+$/gm, "");
  if (clean === text) continue;
  if (fix) writeFileSync(\`src/\${name}\`, clean);
  else problems++;
  console.log(\`src/\${name}: trailing spaces\${fix ? ", fixed" : ""}\`);
}
console.log(problems ? \`\${problems} files need fixing\` : "lint: ok");
process.exitCode = problems ? 1 : 0;
`,
  "scripts/test.mjs": `import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (!process.env.DATABASE_URL && !existsSync(".env")) {
  console.error("DATABASE_URL is not set; copy .env.test to .env");
  process.exit(1);
}
const { status } = spawnSync(process.execPath, ["test/all.mjs"], { stdio: "inherit" });
process.exit(status);
`,
  "test/all.mjs": `import assert from "node:assert/strict";
import { roundRate } from "../src/rates.mjs";
import { describeHarbor } from "../src/harbors.mjs";
import { isValidImo } from "../src/vessels.mjs";

const cases = {
  "rates round half up": () => assert.equal(roundRate(12.345), 12.35),
  "a harbor has a description": () => assert.match(describeHarbor({ id: "bre", name: "Brest" }), /Brest/),
  "an IMO number has a check digit": () => assert.equal(isValidImo("9074729"), true),
};
let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  try {
    run();
    console.log(\`ok   \${name}\`);
  } catch (error) {
    failed++;
    console.log(\`FAIL \${name}: \${error.message.split("\\n")[0]}\`);
  }
}
console.log(\`\${Object.keys(cases).length - failed} passed, \${failed} failed\`);
process.exitCode = failed ? 1 : 0;
`,
  "src/rates.mjs": `/** A berth's rate in cents precision. */
export function roundRate(value) {
  return Math.floor(value * 100) / 100;
}
`,
  "src/harbors.mjs": `/** One line for the list of harbors. */
export function describeHarbor(harbor) {
  return harbor.pilotRequired ? \`\${harbor.name} (pilot required)\` : harbor.name;
}
`,
  "src/vessels.mjs": `/** An IMO number's last digit is the weighted sum of the other six. */
export function isValidImo(number) {
  if (!/^\\d{7}$/.test(number)) return false;
  const sum = [...number.slice(0, 6)].reduce((total, digit, i) => total + Number(digit) * (7 - i), 0);
  return sum % 10 === Number(number[6]);
}
`,
};

const history = ["feat(harbors): list harbors", "fix(vessels): check the IMO digit"];
// As the first story leaves it; .env is not committed, so each fresh copy of the project lacks it.
const laterFiles = {
  ...files,
  "src/rates.mjs": files["src/rates.mjs"].replace("Math.floor", "Math.round"),
};

const shared = {
  client: "claude-code",
  project: "harbor-api",
  files,
  history,
  executable: [".githooks/commit-msg"],
};
const later = { ...shared, files: laterFiles };
const reading = ["Read", "Grep", "Glob"];

const bash = (command, description) => ({ tool: "Bash", input: { command, description } });
const failingTest = bash("npm test", "Run the tests");
const workingTest = bash("cp .env.test .env && npm test", "Copy the test settings and run the tests");

export const stories = [
  {
    ...shared,
    name: "tests-need-a-database",
    allowed: ["Bash", "Edit", ...reading],
    turns: (project) => [
      [
        { text: "I'll look at how rates are rounded." },
        { tool: "Grep", input: { pattern: "roundRate", output_mode: "content" } },
      ],
      [{ tool: "Read", input: { file_path: `${project}/src/rates.mjs` } }],
      [
        { text: "It cuts off instead of rounding." },
        {
          tool: "Edit",
          input: {
            file_path: `${project}/src/rates.mjs`,
            old_string: "Math.floor(value * 100) / 100",
            new_string: "Math.round(value * 100) / 100",
          },
        },
      ],
      [failingTest],
      [{ text: "The tests want a database address." }, bash("cat .env.test", "Show the test settings")],
      [workingTest],
      [{ text: "Rates are rounded half up now, and all three tests pass." }],
    ],
    async user(terminal) {
      await terminal.says(
        "The rates endpoint turns 12.345 into 12.34, it should be 12.35. Fix it and run the tests.",
      );
      await terminal.sees("all three tests pass");
    },
  },
  {
    ...later,
    name: "generated-schema",
    allowed: ["Bash", ...reading],
    turns: (project) => [
      [
        { text: "Let me find the Harbor type." },
        bash("grep -rn 'interface Harbor' --include=*.ts .", "Find the Harbor type"),
      ],
      [{ tool: "Read", input: { file_path: `${project}/generated/schema.ts` } }],
      [
        { text: "I'll add the field there." },
        {
          tool: "Edit",
          input: {
            file_path: `${project}/generated/schema.ts`,
            old_string: "  pilotRequired: boolean;\n",
            new_string: "  pilotRequired: boolean;\n  berthCount: number;\n",
          },
        },
      ],
      [
        { text: "I see, it is built from the schema." },
        { tool: "Read", input: { file_path: `${project}/schema/harbor.json` } },
      ],
      [
        {
          tool: "Edit",
          input: {
            file_path: `${project}/schema/harbor.json`,
            old_string: '"pilotRequired": "boolean"',
            new_string: '"pilotRequired": "boolean", "berthCount": "number"',
          },
        },
      ],
      [bash("npm run codegen", "Generate the types")],
      [bash("git diff --stat", "See what changed")],
      [{ text: "Harbor has berthCount: the schema has it, and the types were generated from there." }],
    ],
    async user(terminal) {
      await terminal.says("Add a berthCount number to the Harbor type.");
      await terminal.sees(/make this edit to schema.ts/);
      await refuse(
        terminal,
        "no, don't edit generated/schema.ts by hand, change schema/harbor.json and run `npm run codegen`",
      );
      await terminal.sees(/make this edit to harbor.json/);
      await allow(terminal);
      await terminal.sees("types were generated from there");
    },
  },
  {
    ...later,
    name: "generated-again",
    allowed: ["Bash", "Edit", ...reading],
    turns: (project) => [
      [{ tool: "Grep", input: { pattern: "pilotRequired", output_mode: "content" } }],
      [
        { text: "Three places. I'll rename it in all of them and build." },
        bash(
          "sed -i 's/pilotRequired/needsPilot/g' src/harbors.mjs generated/schema.ts && npm run build",
          "Rename and build",
        ),
      ],
      [
        { text: "Right, the schema is the source. I'll undo that file and generate it." },
        bash("git checkout generated/schema.ts", "Undo the generated file"),
      ],
      [{ tool: "Read", input: { file_path: `${project}/schema/harbor.json` } }],
      [
        {
          tool: "Edit",
          input: {
            file_path: `${project}/schema/harbor.json`,
            old_string: "pilotRequired",
            new_string: "needsPilot",
          },
        },
      ],
      [bash("npm run codegen", "Generate the types")],
      [failingTest],
      [workingTest],
      [{ text: "pilotRequired is called needsPilot now, and the tests pass." }],
      [bash('git commit -qam "rename pilotRequired to needsPilot"', "Commit the rename")],
      [
        bash(
          'git commit -qam "refactor(harbors): rename pilotRequired to needsPilot"',
          "Commit with a scope",
        ),
      ],
      [{ text: "Committed with a scope, as the hook wants." }],
    ],
    async user(terminal) {
      await terminal.says("Rename pilotRequired to needsPilot everywhere.");
      await terminal.sees("npm run build");
      await pause(1500);
      await terminal.says(
        "don't edit generated/schema.ts, it is generated: change schema/harbor.json and run `npm run codegen`",
      );
      await terminal.sees("and the tests pass", 40);
      await pause(500);
      await terminal.says("Good. Commit this.");
      await terminal.sees("as the hook wants");
    },
  },
  {
    ...later,
    name: "lint-before-commit",
    allowed: ["Bash", "Edit", ...reading],
    extra: { "src/berths.mjs": "export const berths = [];   \n" },
    turns: (project) => [
      [{ text: "I'll do that each time. Linting first." }, bash("npm run lint -- --fix", "Lint and fix")],
      [bash("git add -A && git commit -qm 'add the list of berths'", "Commit")],
      [{ text: "A hook refused the message." }, bash("git log --format=%s -3", "See how messages look here")],
      [bash("git commit -qm 'feat(berths): add the list of berths'", "Commit with a scope")],
      [{ text: "Linted and committed the berths." }],
      [{ tool: "Read", input: { file_path: `${project}/package.json` } }],
      [
        {
          tool: "Edit",
          input: { file_path: `${project}/package.json`, old_string: '"1.4.0"', new_string: '"1.4.1"' },
        },
      ],
      [bash("npm run lint -- --fix", "Lint and fix")],
      [bash("git commit -qam 'chore(release): 1.4.1' && git log --oneline -1", "Commit the release")],
      [{ text: "Version 1.4.1 is committed, linted before." }],
    ],
    async user(terminal) {
      await terminal.says(
        "From now on always run `npm run lint -- --fix` before you commit. Now commit the new berths file.",
      );
      await terminal.sees("committed the berths");
      await pause(500);
      await terminal.says("Bump the version to 1.4.1 and commit that too.");
      await terminal.sees("linted before");
    },
  },
  {
    ...later,
    name: "questions-only",
    allowed: ["Bash", ...reading],
    turns: (project) => [
      [{ tool: "Grep", input: { pattern: "IMO", output_mode: "files_with_matches" } }],
      [{ tool: "Read", input: { file_path: `${project}/src/vessels.mjs` } }],
      [bash("grep -rn 'isValidMmsi' src", "Look for an MMSI check as well")],
      [
        {
          text: "IMO numbers are checked in src/vessels.mjs by isValidImo. MMSI numbers are not checked anywhere.",
        },
      ],
      [bash("git log --oneline -- src/vessels.mjs", "See the file's history")],
      [
        {
          text: "Each of the first six digits counts 7, 6, 5, 4, 3 and 2 times; the last digit of the sum is the check digit.",
        },
      ],
    ],
    async user(terminal) {
      await terminal.says("Where do we check IMO numbers? And do we check MMSI numbers anywhere?");
      await terminal.sees("not checked anywhere");
      await pause(500);
      await terminal.says("What does the check digit do?");
      await terminal.sees("is the check digit");
    },
  },
];
