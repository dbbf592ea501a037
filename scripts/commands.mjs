// npm run commands: writes docs/commands.md from each command's own help, so that it cannot be out of date;
// test/docs.test.ts fails when it is.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, setUp } from "./setup.mjs";

const head = `# Commands

Made from \`knack <command> --help\` by \`npm run commands\`. What to use when: [daily-use.md](daily-use.md).

- Results go to standard output, progress and warnings to standard error. \`--json\` prints one object and nothing else.
- \`--dry-run\` shows what would change and changes nothing.
- Exit codes: 0 done; 1 the answer is no; 2 wrong usage or unreadable input; 3 Knack's own state is damaged.
- \`KNACK_HOME\` says where Knack keeps its files (default \`~/.knack\`); \`KNACK_DISABLE=1\` turns everything off.
`;

/** The page, made by asking the built command line. */
export function renderCommands() {
  const names = [...help([]).matchAll(/^ {2}knack (\S+)/gm)].map(([, name]) => name);
  const sections = [...new Set(names)].map((name) => {
    const text = help([name])
      .replace(/ +$/gm, "")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    return `## knack ${name}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
  });
  return [head, ...sections].join("\n");
}

function help(words) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "dist/cli.js"), ...words, "--help"],
    {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: "/nonexistent", NO_COLOR: "1", COLUMNS: "100" },
    },
  );
  if (status !== 0) throw new Error(`knack ${words.join(" ")} --help ended with ${status}: ${stderr}`);
  return stdout;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await setUp();
  writeFileSync(join(root, "docs/commands.md"), renderCommands());
}
