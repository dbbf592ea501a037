import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contextOf, type Home, hook, noPython, payloads, taughtHome } from "../helpers/hook.ts";

async function failIn(home: Home, session: string): Promise<string> {
  return contextOf(
    await hook(payloads(home, session).failure("python manage.py migrate", noPython), { home: home.home }),
  );
}

describe("A hook in a repository", () => {
  const config = ".knack/config.json";

  test("is not held up by pipes, devices and links where files are looked for, and says no more than it is asked to", async () => {
    const home = await taughtHome();
    const at = (path: string) => join(home.project, path);
    mkdirSync(at(".knack"));
    const elsewhere = join(home.home, "elsewhere.json");
    writeFileSync(elsewhere, "{}");
    const tried: [name: string, make: () => unknown, isTold: boolean][] = [
      ["nothing", () => {}, true],
      ["settings that ask for nothing", () => writeFileSync(at(config), "{}"), true],
      ["settings that ask for more", () => writeFileSync(at(config), '{"show":true,"learn":true}'), true],
      ["settings that ask for less", () => writeFileSync(at(config), '{"show":false}'), false],
      ["settings that are a pipe", () => spawnSync("mkfifo", [at(config)]), false],
      ["settings without an end", () => symlinkSync("/dev/zero", at(config)), false],
      ["settings of 8 GB", () => truncate(at(config)), false],
      ["settings elsewhere", () => symlinkSync(elsewhere, at(config)), false],
      ["a circle", () => symlinkSync("config.json", at(config)), true],
    ];
    const told: [string, boolean][] = [];
    for (const [number, [name, make]] of tried.entries()) {
      make();
      told.push([name, (await failIn(home, `s${number}`)).includes("python3")]);
      spawnSync("rm", ["-f", at(config)]);
    }
    expect(told).toEqual(tried.map(([name, , isTold]) => [name, isTold]));
  });

  test("is not held up by git's files", async () => {
    const home = await taughtHome();
    const git = join(home.project, ".git");
    const tried: [name: string, make: () => unknown][] = [
      ["a pipe", () => spawnSync("mkfifo", [git])],
      ["a device", () => symlinkSync("/dev/zero", git)],
      ["a pipe for its settings", () => mkdirSync(git) ?? spawnSync("mkfifo", [join(git, "config")])],
      ["a device for its settings", () => mkdirSync(git) ?? symlinkSync("/dev/zero", join(git, "config"))],
      ["a pipe for its worktree", () => mkdirSync(git) ?? spawnSync("mkfifo", [join(git, "commondir")])],
    ];
    for (const [number, [name, make]] of tried.entries()) {
      make();
      expect([name, await failIn(home, `g${number}`)]).toEqual([name, expect.stringContaining("python3")]);
      spawnSync("rm", ["-rf", git]);
    }
  });

  test("does not overrule the person's no", async () => {
    const home = await taughtHome();
    const cli = join(import.meta.dirname, "../../dist/cli.js");
    const env = { PATH: process.env.PATH, HOME: home.home, KNACK_HOME: home.knackHome };
    spawnSync(process.execPath, [cli, "config", "set", "show", "false"], { env });
    mkdirSync(join(home.project, ".knack"));
    writeFileSync(join(home.project, config), '{"show":true}');
    expect(await failIn(home, "n1")).toBe("");
  });
});

function truncate(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, 8 * 2 ** 30);
}

describe("The compiled code that a hook keeps", () => {
  test("is made anew where it is damaged, and the hook answers as before", async () => {
    const home = await taughtHome();
    const told = await failIn(home, "c0");
    expect(told).toContain("python3");
    const [name = ""] = readdirSync(join(home.knackHome, "cache")).filter((one) =>
      one.startsWith("failure-"),
    );
    const path = join(home.knackHome, "cache", name);
    const good = readFileSync(path);
    const damages: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => bytes.fill(0, 4_096, 8_192),
      (bytes) => bytes.fill(0, bytes.length - 12_288, bytes.length - 8_192),
      (bytes) => bytes.subarray(0, bytes.length >> 1),
      (bytes) => Buffer.concat([bytes, Buffer.alloc(4_096)]),
      (bytes) => bytes.fill(255, 1_000, 1_001),
      (bytes) => bytes.fill(7, bytes.length - 1),
      () => Buffer.alloc(0),
      () => Buffer.alloc(good.length),
    ];
    for (const [number, damage] of damages.entries()) {
      const damaged = damage(Buffer.from(good));
      writeFileSync(path, damaged);
      expect([number, await failIn(home, `c1${number}`)]).toEqual([number, told]);
      // Made anew, and as good as the first.
      expect([number, readFileSync(path).equals(damaged)]).toEqual([number, false]);
      expect([number, await failIn(home, `c2${number}`)]).toEqual([number, told]);
    }
  });
});
