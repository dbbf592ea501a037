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

/** The page, made by asking the command line: the built one, or another way to run it. */
export async function renderCommands(run = runBuilt) {
  const help = async (words) => {
    const env = { HOME: "/nonexistent", NO_COLOR: "1", COLUMNS: "100" };
    const { code, stdout, stderr } = await run([...words, "--help"], env);
    if (code !== 0) throw new Error(`knack ${words.join(" ")} --help ended with ${code}: ${stderr}`);
    return stdout;
  };
  const names = [...(await help([])).matchAll(/^ {2}knack (\S+)/gm)].map(([, name]) => name);
  const sections = [];
  for (const name of new Set(names)) {
    const text = (await help([name]))
      .replace(/ +$/gm, "")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    sections.push(`## knack ${name}\n\n\`\`\`text\n${text}\n\`\`\`\n`);
  }
  return [head, ...sections].join("\n");
}

function runBuilt(words, env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "dist/cli.js"), ...words], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
  return { code: status, stdout, stderr };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await setUp();
  writeFileSync(join(root, "docs/commands.md"), await renderCommands());
}
