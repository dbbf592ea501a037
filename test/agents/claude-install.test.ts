import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, it, test } from "vitest";
import { openInstaller } from "../../src/agents/install/installer.ts";
import { createLibrary } from "../../src/library/files/packages.ts";
import { JsonText } from "../../src/text/edits.ts";
import { root } from "../helpers/knack.ts";
import { filesIn } from "../helpers/machine.ts";
import { runs } from "../helpers/runs.ts";
import { tempFolder } from "../helpers/temp.ts";
import { anyDocument, type Gaps, gapsOfSpace, gapsWithComments, isPlain, printedWith } from "./documents.ts";

type InstallDeps = Parameters<typeof openInstaller>[0];
const install = (deps: InstallDeps, root: string | null, options?: { dryRun?: boolean }) =>
  openInstaller(deps, "claude").install(root, options);
const uninstall = (deps: InstallDeps, root: string | null, options?: { dryRun?: boolean }) =>
  openInstaller(deps, "claude").uninstall(root, options);

/** A person's home, with spaces and letters of other languages in its name, and Claude Code's folder in it. */
function person(): InstallDeps & { readonly settings: string } {
  const home = join(tempFolder(), "Zoë's 家");
  mkdirSync(join(home, ".claude"), { recursive: true });
  return {
    library: createLibrary(),
    home,
    env: {},
    knackHome: join(home, ".knäck home"),
    program: {
      version: "1.2.3",
      node: "/opt/some node/bin/node",
      cli: "/opt/knack/dist/cli.js",
      hook: "/opt/knack/dist/hook.cjs",
      template: join(root, "plugin"),
    },
    settings: join(home, ".claude/settings.json"),
  };
}

/** Everything below a folder: files with text, mode and time, links with their target, and folders. */
function traceOf(folder: string): unknown {
  return Object.fromEntries(
    Object.entries(filesIn(folder)).map(([path, text]) => {
      const { mode, mtimeMs } = statSync(join(folder, path));
      return [path, { text, mode, mtimeMs }];
    }),
  );
}

/** What settings say, read as leniently as Claude Code's files are written. */
function said(text: string): unknown {
  return text.replace(/^\ufeff/, "").trim() === "" ? {} : parse(text.replace(/^\ufeff/, ""));
}

describe("settings", () => {
  it.each<[string, string | null]>([
    ["that are missing", null],
    ["that are empty", ""],
    ["that hold only a byte order mark", "\ufeff"],
    ["that are an empty object", "{}"],
    ["without an end of the last line", '{\n  "model": "x"\n}'],
    ["with tabs and the line ends of Windows", '\ufeff{\r\n\t"model": "x"\r\n}\r\n'],
    ["on one line", '{"env":{"A":"1"},"enabledPlugins":{"other@place":true}}'],
    ["with other marketplaces", '{\n    "extraKnownMarketplaces": {\n        "b": {}\n    }\n}\n'],
    [
      "with another marketplace of this name",
      '{"extraKnownMarketplaces": {"knack": {"source": {"source": "github", "repo": "a/b"}}}}',
    ],
    ["with the plugin switched off", '{"enabledPlugins": {"knack@knack": false}}\n'],
  ])("%s come back byte for byte", async (_, before) => {
    const own = person();
    if (before !== null) writeFileSync(own.settings, before, { mode: 0o640 });
    const first = filesIn(own.home);
    await install(own, null);
    expect(said(readFileSync(own.settings, "utf8"))).toEqual({
      ...(said(before ?? "") as object),
      extraKnownMarketplaces: {
        ...(said(before ?? "") as { extraKnownMarketplaces?: object }).extraKnownMarketplaces,
        knack: { source: { source: "directory", path: join(own.knackHome, "agents/claude") } },
      },
      enabledPlugins: {
        ...(said(before ?? "") as { enabledPlugins?: object }).enabledPlugins,
        "knack@knack": true,
      },
    });
    if (before !== null) expect(statSync(own.settings).mode & 0o777).toBe(0o640);
    await uninstall(own, null);
    expect(filesIn(own.home)).toEqual(first);
    expect(existsSync(own.knackHome)).toBe(false);
    if (before !== null) expect(statSync(own.settings).mode & 0o777).toBe(0o640);
  });

  test.each(['{\n  // mine\n  "model": "x"\n}\n', '{"model": "x",}'])(
    "that Claude Code does not read are refused, and stay: %j",
    async (before) => {
      const own = person();
      writeFileSync(own.settings, before);
      await expect(install(own, null)).rejects.toThrow(/Claude Code does not read it either/);
      expect(readFileSync(own.settings, "utf8")).toBe(before);
      expect(existsSync(own.knackHome)).toBe(false);
    },
  );

  test("of any kind come back byte for byte", async () => {
    const own = person();
    await fc.assert(
      fc.asyncProperty(anyDocument, gapsOfSpace, async (document, gaps) => {
        writeFileSync(own.settings, printedWith(document, gaps));
        const before = readFileSync(own.settings);
        await install(own, null);
        expect(readFileSync(own.settings).equals(before)).toBe(false);
        await uninstall(own, null);
        expect(readFileSync(own.settings).equals(before)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });

  test("that somebody else has changed since lose Knack's keys alone", async () => {
    const own = person();
    const foreign = fc.oneof(
      fc.record({ how: fc.constant("a key more" as const), value: fc.jsonValue().filter(isPlain) }),
      fc.record({ how: fc.constant("printed anew" as const), gaps: gapsWithComments }),
    );
    await fc.assert(
      fc.asyncProperty(anyDocument, gapsOfSpace, foreign, async (document, gaps, change) => {
        writeFileSync(own.settings, printedWith(document, gaps));
        await install(own, null);
        const installed = readFileSync(own.settings, "utf8");
        const text = changed(installed, change);
        writeFileSync(own.settings, text);
        await uninstall(own, null);
        const more =
          change.how === "a key more" ? { "their own": JSON.parse(JSON.stringify(change.value)) } : {};
        expect(said(readFileSync(own.settings, "utf8"))).toEqual({ ...document, ...more });
      }),
      { numRuns: runs(60) },
    );
  });

  function changed(
    text: string,
    change: { how: "a key more"; value: unknown } | { how: "printed anew"; gaps: Gaps },
  ): string {
    if (change.how === "printed anew") return `${printedWith(said(text), change.gaps)} `;
    const setting = new JsonText(text).set(["their own"], change.value);
    return setting.ok ? setting.text : text;
  }

  test("that were made by Knack go, also when Claude Code has written them anew; not when more is in them", async () => {
    for (const [rewrite, left] of [
      [(text: string) => JSON.stringify(JSON.parse(text)), null],
      [(text: string) => JSON.stringify({ ...JSON.parse(text), model: "x" }), '{"model":"x"}'],
    ] as const) {
      const own = person();
      await install(own, null);
      writeFileSync(own.settings, rewrite(readFileSync(own.settings, "utf8")));
      await uninstall(own, null);
      expect(existsSync(own.settings) ? readFileSync(own.settings, "utf8") : null).toBe(left);
    }
  });

  test("that are a link are written through it", async () => {
    const own = person();
    const real = join(own.home, "dotfiles/claude.json");
    mkdirSync(dirname(real));
    writeFileSync(real, "{}\n");
    symlinkSync(real, own.settings);
    await install(own, null);
    expect(lstatSync(own.settings).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain("knack@knack");
    await uninstall(own, null);
    expect(lstatSync(own.settings).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toBe("{}\n");
  });

  it.each<[string, (settings: string) => void, RegExp, RegExp]>([
    [
      "are no JSON",
      (path) => writeFileSync(path, '{"model": '),
      /settings\.json cannot be changed: it is no JSON/,
      /Fix the file; nothing was changed/,
    ],
    ["are a list", (path) => writeFileSync(path, "[1]"), /it is no JSON object/, /Fix/],
    [
      "have a text where plugins belong",
      (path) => writeFileSync(path, '{"enabledPlugins": "all"}'),
      /enabledPlugins is no JSON object/,
      /Fix/,
    ],
    [
      "are not UTF-8",
      (path) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])),
      /cannot be read: .*settings\.json/,
      /Fix/,
    ],
    [
      "are read-only",
      (path) => {
        writeFileSync(path, "{}");
        chmodSync(path, 0o444);
      },
      /settings\.json is read-only/,
      /chmod u\+w/,
    ],
    [
      "are a link to nothing",
      (path) => symlinkSync("/nowhere/at/all", path),
      /is a link to a file that is not there/,
      /remove the link/,
    ],
  ])("that %s are refused, and nothing is changed", async (_, make, says, hint) => {
    const own = person();
    make(own.settings);
    const before = lstatSync(own.settings);
    for (const dryRun of [true, false]) {
      const error = await install(own, null, { dryRun }).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({
        message: expect.stringMatching(says),
        hint: expect.stringMatching(hint),
      });
    }
    expect(existsSync(own.knackHome)).toBe(false);
    const { mtimeMs, mode, size } = lstatSync(own.settings);
    expect({ mtimeMs, mode, size }).toEqual({
      mtimeMs: before.mtimeMs,
      mode: before.mode,
      size: before.size,
    });
  });

  test("that are broken since the install are left alone, and uninstalling says so", async () => {
    const own = person();
    await install(own, null);
    writeFileSync(own.settings, "{");
    await expect(uninstall(own, null)).rejects.toMatchObject({
      hint: expect.stringContaining("remove knack@knack by hand"),
    });
    expect(readFileSync(own.settings, "utf8")).toBe("{");
  });
});

describe("a person's own word", () => {
  test("that the plugin is off is told, overruled, and put back, also in a file that has changed since", async () => {
    const own = person();
    writeFileSync(own.settings, '{"enabledPlugins": {"knack@knack": false}}');
    expect((await install(own, null, { dryRun: true })).overrules).toBe(true);
    await install(own, null);
    expect((await install(own, null, { dryRun: true })).overrules).toBe(false);
    writeFileSync(
      own.settings,
      JSON.stringify({ ...JSON.parse(readFileSync(own.settings, "utf8")), model: "x" }),
    );
    await uninstall(own, null);
    expect(JSON.parse(readFileSync(own.settings, "utf8"))).toEqual({
      enabledPlugins: { "knack@knack": false },
      model: "x",
    });
  });

  test("after the install is overruled by the next one, which still knows how it was before the first", async () => {
    const own = person();
    writeFileSync(own.settings, '{"model": "x"}');
    await install(own, null);
    writeFileSync(
      own.settings,
      readFileSync(own.settings, "utf8").replace('"knack@knack":true', '"knack@knack":false'),
    );
    expect((await install(own, null)).overrules).toBe(true);
    await uninstall(own, null);
    expect(JSON.parse(readFileSync(own.settings, "utf8"))).toEqual({ model: "x" });
  });

  test("that a marketplace of this name is another one stands", async () => {
    const own = person();
    await install(own, null);
    const theirs =
      '{"extraKnownMarketplaces":{"knack":{"source":{"source":"github","repo":"a/b"}}},"enabledPlugins":{"knack@knack":true}}';
    writeFileSync(own.settings, theirs);
    await uninstall(own, null);
    expect(readFileSync(own.settings, "utf8")).toBe(theirs);
    expect(existsSync(own.knackHome)).toBe(false);
  });
});

describe("an install", () => {
  test("names this node and this hook in full, and passes the home on", async () => {
    const own = person();
    await install(own, null);
    const folder = join(own.knackHome, "agents/claude");
    const { hooks } = JSON.parse(readFileSync(join(folder, "knack/hooks/hooks.json"), "utf8"));
    expect(
      Object.fromEntries(
        Object.entries(hooks).map(([event, groups]) => [
          event,
          (groups as { hooks: { timeout: number }[] }[])[0]?.hooks[0]?.timeout,
        ]),
      ),
    ).toEqual({
      SessionStart: 5,
      UserPromptSubmit: 10,
      PostToolUseFailure: 5,
      Stop: 5,
      SubagentStop: 5,
      PreCompact: 5,
      SessionEnd: 5,
    });
    for (const groups of Object.values(hooks) as { hooks: object[] }[][])
      expect(groups[0]?.hooks[0]).toMatchObject({
        type: "command",
        command: own.program.node,
        args: expect.arrayContaining([own.program.hook, "--home", own.knackHome]),
      });
    // The end of a turn is answered at once; what starts the worker is not waited for.
    const [first, second] =
      (hooks as Record<string, { hooks: { args: string[]; async?: true }[] }[]>).Stop?.[0]?.hooks ?? [];
    expect([first?.args.slice(3), first?.async]).toEqual([["--part", "answer"], undefined]);
    expect([second?.args.slice(3), second?.async]).toEqual([["--part", "wake"], true]);
    const { version, node, hook, cli } = own.program;
    expect(JSON.parse(readFileSync(join(folder, "paths.json"), "utf8"))).toEqual({
      version,
      node,
      hook,
      cli,
    });
    expect(existsSync(join(folder, "knack/hooks/knack.cjs"))).toBe(false);
  });

  test("that is there already changes nothing: not a byte, not a time", async () => {
    const own = person();
    writeFileSync(own.settings, "{}");
    await install(own, null);
    const before = traceOf(own.home);
    const again = await install(own, null);
    expect(again.acts).toEqual([]);
    expect(traceOf(own.home)).toEqual(before);
  });

  test("of another version writes the plugin anew, leaves the settings, and takes away what is not in it any more", async () => {
    const own = person();
    await install(own, null);
    const folder = join(own.knackHome, "agents/claude");
    writeFileSync(join(folder, "knack/commands/old.md"), "old");
    const past = new Date(Date.now() - 60_000);
    utimesSync(own.settings, past, past);
    const { acts } = await install({ ...own, program: { ...own.program, version: "1.3.0" } }, null);
    expect(acts.map(({ path }) => path)).toEqual([folder]);
    expect(existsSync(join(folder, "knack/commands/old.md"))).toBe(false);
    expect(JSON.parse(readFileSync(join(folder, "knack/.claude-plugin/plugin.json"), "utf8")).version).toBe(
      "1.3.0",
    );
    expect(statSync(own.settings).mtimeMs).toBeCloseTo(past.getTime(), -1);
    await uninstall(own, null);
    expect(existsSync(own.settings)).toBe(false);
  });

  test("that could not write the settings leaves no trace", async () => {
    const own = person();
    const library: typeof own.library = {
      ...own.library,
      writeText: async (path, text, options) =>
        path === own.settings
          ? { written: false, because: "changed", found: null }
          : own.library.writeText(path, text, options),
    };
    await expect(install({ ...own, library }, null)).rejects.toMatchObject({ hint: "Try again." });
    expect(existsSync(own.knackHome)).toBe(false);
  });

  test("that was killed before it wrote the settings is taken back, or made good, all the same", async () => {
    for (const next of [uninstall, install]) {
      const own = person();
      writeFileSync(own.settings, '{"model": "x"}');
      await install(own, null);
      const installed = readFileSync(own.settings, "utf8");
      writeFileSync(own.settings, '{"model": "x"}');
      await next(own, null);
      expect(readFileSync(own.settings, "utf8")).toBe(next === install ? installed : '{"model": "x"}');
      await uninstall(own, null);
      expect(readFileSync(own.settings, "utf8")).toBe('{"model": "x"}');
      expect(existsSync(own.knackHome)).toBe(false);
    }
  });

  test("without its notes is still found by its marketplace and taken out", async () => {
    const own = person();
    writeFileSync(own.settings, '{"model": "x"}');
    await install(own, null);
    rmSync(join(own.knackHome, "agents/claude/installed.json"));
    await uninstall(own, null);
    expect(JSON.parse(readFileSync(own.settings, "utf8"))).toEqual({
      model: "x",
      enabledPlugins: {},
      extraKnownMarketplaces: {},
    });
    expect(existsSync(own.knackHome)).toBe(false);
  });

  test("in a repository is one person's: the local settings, kept out of git; what was there comes back", async () => {
    const own = person();
    const repository = join(own.home, "work/harbor api");
    mkdirSync(join(repository, ".git"), { recursive: true });
    writeFileSync(join(repository, ".git/HEAD"), "ref: refs/heads/main\n");
    const before = filesIn(own.home);
    await install(own, repository);
    const local = join(repository, ".claude/settings.local.json");
    expect(JSON.parse(readFileSync(local, "utf8")).enabledPlugins).toEqual({ "knack@knack": true });
    expect(readFileSync(join(repository, ".git/info/exclude"), "utf8")).toContain(
      "/.claude/settings.local.json",
    );
    expect(existsSync(own.settings)).toBe(false);
    expect((await install(own, repository)).acts).toEqual([]);
    await install(own, null);
    expect((await uninstall(own, null)).remaining).toEqual([local]);
    expect(existsSync(join(own.knackHome, "agents/claude/knack"))).toBe(true);
    await uninstall(own, repository);
    expect(filesIn(own.home)).toEqual(before);
    expect(existsSync(join(repository, ".claude"))).toBe(false);
    expect(existsSync(join(repository, ".git/info"))).toBe(false);
  });

  test("in a repository with local settings of its own leaves git alone", async () => {
    const own = person();
    const repository = join(own.home, "work");
    mkdirSync(join(repository, ".git"), { recursive: true });
    mkdirSync(join(repository, ".claude"));
    writeFileSync(join(repository, ".claude/settings.local.json"), '{"model": "x"}');
    await install(own, repository);
    expect(existsSync(join(repository, ".git/info"))).toBe(false);
    await uninstall(own, repository);
    expect(readFileSync(join(repository, ".claude/settings.local.json"), "utf8")).toBe('{"model": "x"}');
  });
});

describe("Claude Code's own notes", () => {
  const marketplaces = "plugins/known_marketplaces.json";
  const plugins = "plugins/installed_plugins.json";

  function note(own: InstallDeps, path: string, value: object): void {
    const full = join(own.home, ".claude", path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, JSON.stringify(value, null, 2));
  }
  const known = (own: InstallDeps) => ({
    knack: { source: {}, installLocation: join(own.knackHome, "agents/claude"), lastUpdated: "2026-05-03" },
  });

  test("about Knack go with it, and files and folders that were not there before", async () => {
    const own = person();
    writeFileSync(own.settings, "{}");
    const before = filesIn(own.home);
    await install(own, null);
    note(own, marketplaces, known(own));
    note(own, plugins, { version: 2, plugins: { "knack@knack": [{ scope: "user" }] } });
    note(own, "plugins/cache/knack/knack/1.2.3/x.json", {});
    mkdirSync(join(own.home, ".claude/plugins/data/knack-knack"), { recursive: true });
    mkdirSync(join(own.home, ".claude/plugins/marketplaces"));
    const planned = await uninstall(own, null, { dryRun: true });
    expect(existsSync(join(own.home, ".claude", marketplaces))).toBe(true);
    expect(await uninstall(own, null)).toEqual(planned);
    expect(filesIn(own.home)).toEqual(before);
    expect(existsSync(join(own.home, ".claude/plugins"))).toBe(false);
  });

  test("about other plugins stay, byte for byte", async () => {
    const own = person();
    note(own, marketplaces, { other: { installLocation: "/x" } });
    note(own, plugins, { version: 2, plugins: { "a@other": [] } });
    const before = filesIn(own.home);
    await install(own, null);
    note(own, marketplaces, { other: { installLocation: "/x" }, ...known(own) });
    note(own, plugins, { version: 2, plugins: { "a@other": [], "knack@knack": [{ scope: "user" }] } });
    await uninstall(own, null);
    expect(filesIn(own.home)).toEqual(before);
  });

  test("about a Knack from elsewhere stay: from before, or from since", async () => {
    const own = person();
    note(own, plugins, { version: 2, plugins: { "knack@knack": [{ scope: "user" }] } });
    await install(own, null);
    note(own, marketplaces, { knack: { installLocation: "/clone" } });
    await uninstall(own, null);
    expect(Object.keys(filesIn(join(own.home, ".claude"))).sort()).toEqual([plugins, marketplaces]);
  });
});

describe("a Knack from a marketplace", () => {
  test("gives way to an install, and is back when that goes", async () => {
    const own = person();
    const source = { source: "directory", path: "/clone" };
    const settings = {
      extraKnownMarketplaces: { knack: { source } },
      enabledPlugins: { "knack@knack": true },
    };
    writeFileSync(own.settings, JSON.stringify(settings, null, 2));
    const notes = join(own.home, ".claude/plugins/known_marketplaces.json");
    mkdirSync(dirname(notes));
    const theirs = JSON.stringify({ knack: { source, installLocation: "/clone" }, other: {} }, null, 2);
    writeFileSync(notes, theirs);
    const before = filesIn(own.home);
    const { acts } = await install(own, null);
    expect(acts.at(-1)?.says).toMatch(
      /^switches Knack's plugin on: sets extraKnownMarketplaces\.knack, which was \{ "source"/,
    );
    // What Claude Code makes of it at its next start.
    const ours = {
      ...settings.extraKnownMarketplaces.knack,
      installLocation: join(own.knackHome, "agents/claude"),
    };
    writeFileSync(notes, JSON.stringify({ knack: ours, other: {} }, null, 2));
    await uninstall(own, null);
    expect(filesIn(own.home)).toEqual(before);
  });
});

test("an install in a project whose folder is gone goes with the next uninstall", async () => {
  const own = person();
  const project = join(own.home, "gone");
  mkdirSync(project);
  await install(own, project);
  rmSync(project, { recursive: true });
  await uninstall(own, null);
  expect(existsSync(own.knackHome)).toBe(false);
});

describe("a Knack that npx runs", () => {
  function fromNpx(own: InstallDeps, version: string): InstallDeps {
    const modules = join(own.home, ".npm/_npx/0a1b2c", "node_modules");
    const dist = join(modules, "knack-cli/dist");
    mkdirSync(dist, { recursive: true });
    for (const name of ["cli.js", "hook.cjs"]) writeFileSync(join(dist, name), `// ${name} ${version}`);
    mkdirSync(join(modules, ".bin"), { recursive: true });
    if (!existsSync(join(modules, ".bin/knack")))
      symlinkSync("../knack-cli/dist/cli.js", join(modules, ".bin/knack"));
    mkdirSync(join(modules, "libsql"), { recursive: true });
    writeFileSync(join(modules, "libsql/index.js"), "// native");
    const program = { ...own.program, version, cli: join(dist, "cli.js"), hook: join(dist, "hook.cjs") };
    return { ...own, program };
  }

  test("is copied whole to where it stays, once; an older copy goes; uninstalling removes it", async () => {
    const own = person();
    const first = fromNpx(own, "1.0.0");
    const planned = await install(first, null, { dryRun: true });
    expect(existsSync(own.knackHome)).toBe(false);
    expect(await install(first, null)).toEqual(planned);
    const app = join(own.knackHome, "app");
    const copied = join(app, "1.0.0/node_modules/knack-cli/dist/hook.cjs");
    expect(readFileSync(copied, "utf8")).toBe("// hook.cjs 1.0.0");
    expect(existsSync(join(app, "1.0.0/node_modules/libsql/index.js"))).toBe(true);
    expect(readFileSync(join(app, "1.0.0/node_modules/.bin/knack"), "utf8")).toBe("// cli.js 1.0.0");
    const paths = () => JSON.parse(readFileSync(join(own.knackHome, "agents/claude/paths.json"), "utf8"));
    expect(paths().hook).toBe(copied);
    expect((await install(first, null)).acts).toEqual([]);

    await install(fromNpx(own, "1.1.0"), null);
    expect(paths().hook).toContain("/app/1.1.0/");
    // A session that is still open was started with it.
    expect(existsSync(join(app, "1.0.0"))).toBe(true);
    const old = Date.now() / 1_000 - 8 * 86_400;
    for (const version of ["1.0.0", "1.1.0"]) utimesSync(join(app, version), old, old);
    await install(fromNpx(own, "1.1.0"), null);
    expect(existsSync(join(app, "1.0.0"))).toBe(false);

    // Installed for good since: the copy is not needed any more.
    await install(own, null);
    expect(existsSync(join(app, "1.1.0"))).toBe(false);
    expect(paths().hook).toBe(own.program.hook);
    await install(first, null);
    await uninstall(first, null);
    expect(existsSync(own.knackHome)).toBe(false);
  });
});
