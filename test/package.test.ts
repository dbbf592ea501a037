import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { root } from "./helpers/knack.ts";
import { sharedFolder, tempFolder } from "./helpers/temp.ts";

const folder = sharedFolder();
const own = join(folder, "node_modules/knack-cli");

/** The package as npm packs it, laid into a consumer's folder as npm would, with nothing else to compile against. */
beforeAll(() => {
  mkdirSync(own, { recursive: true });
  const packed = run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], root);
  run("tar", ["-xzf", join(folder, packed.stdout.trim()), "-C", own, "--strip-components=1"], folder);
  const { dependencies } = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

function run(program: string, words: readonly string[], cwd: string, env = process.env) {
  const ran = spawnSync(program, words, { cwd, env, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`${program} ${words.join(" ")}\n${ran.stdout}${ran.stderr}`);
  return ran;
}

/** Compiles a program against the packed types, with every declaration file checked. */
function compile(name: string, source: string): void {
  writeFileSync(join(folder, `${name}.ts`), source);
  const options = {
    ...{ strict: true, skipLibCheck: false, module: "nodenext", target: "es2022" },
    ...{ lib: ["es2022", "dom"], types: [] },
  };
  const config = join(folder, `${name}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files: [`${name}.ts`] }));
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config], folder);
}

describe("The packed library", () => {
  test("compiles and runs as docs/api.md shows it, without skipLibCheck or another package's types", () => {
    const page = readFileSync(join(root, "docs/api.md"), "utf8");
    const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    compile("example", example);
    const home = tempFolder();
    const env = { PATH: process.env.PATH, HOME: home };
    const { stdout } = run(process.execPath, [join(folder, "example.js")], folder, env);
    expect(stdout).toBe("1 sessions read, 1 lessons known\n");
    expect(existsSync(join(home, ".knack/knack.db"))).toBe(true);
  });

  test("refuses what it does not have", () => {
    const wrong = 'import { openKnack } from "knack-cli";\n(await openKnack()).recall({ command: 5 });\n';
    expect(() => compile("wrong", wrong)).toThrow(/Type 'number' is not assignable/);
  });

  test("has few declarations, all its own", () => {
    const types = readFileSync(join(own, "dist/types/program.d.ts"), "utf8");
    expect(types).not.toMatch(/^import/m);
    expect(existsSync(join(own, "dist/types/open.d.ts"))).toBe(false);
  });
});
