import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { openConfigText } from "../../src/text/config-text.ts";

const open = (text: string) => openConfigText("toml", text);
const server = { command: "node", args: ["a b", "mcp"], env: { HOME: "/x" } };
const path = ["mcp_servers", "knack"] as const;

describe("a TOML text", () => {
  test.each([
    ["that is empty", ""],
    ["without an end of the last line", 'a = "b"'],
    ["that ends with an empty line", "a = 1\n\n"],
    ["with another table of the kind", '[mcp_servers.other]\ncommand = "x" # [mcp_servers.knack]\n'],
    [
      "with lists that look like tables",
      'a = [\n  ["mcp_servers.knack"],\n  [1]\n]\n\n[[b]]\nc = 1\n[[b]]\nc = 2\n',
    ],
    ["with text that looks like a table", 'a = """\n[mcp_servers.knack]\ncommand = 1\n"""\n'],
    ["with the line ends of Windows", "# mine\r\na = 1\r\n\r\n[b] # c\r\nd = 2\r\n"],
    ["with a byte order mark", "\ufeffa = 1\n"],
  ])("%s gets a table, and is as before without it", (_, text) => {
    const set = open(text).set(path, server);
    if (!set.ok || set.edit === null) throw new Error("nothing was set");
    const without = parse(text.replace(/^\ufeff/, "")) as { mcp_servers?: object };
    expect(parse(set.text.replace(/^\ufeff/, ""))).toEqual({
      ...without,
      mcp_servers: { ...without.mcp_servers, knack: server },
    });
    const { offset, removed, inserted } = set.edit;
    expect(text.slice(0, offset) + inserted + text.slice(offset + removed.length)).toBe(set.text);
    expect(open(set.text).set(path, server)).toEqual({ ok: true, text: set.text, edit: null });
    // An end of the last line stays: more may have been written after it.
    expect(open(set.text).remove(path)).toBe(text === "" || /\n$/.test(text) ? text : `${text}\n`);
    expect(/[^\r]\n/.test(set.text)).toBe(!text.includes("\r\n"));
  });

  test("has a table replaced in its place, and its comments kept around it", () => {
    const text = '# one\n[mcp_servers.knack]\ncommand = "old"\n\n# two\n[tui]\na = 1\n';
    const set = open(text).set(path, { command: "new" });
    expect(set).toMatchObject({ ok: true, text: text.replace('"old"', '"new"') });
    expect(open(text).readWritten(path)).toBe('[mcp_servers.knack]\ncommand = "old"\n');
    expect(
      open(text.replace('"old"', '"new"')).setWritten(path, '[mcp_servers.knack]\ncommand = "old"\n'),
    ).toBe(text);
    expect(open(text).remove(path)).toBe("# one\n\n# two\n[tui]\na = 1\n");
  });

  test("loses a table with those below it, wherever they stand", () => {
    const text = '[hooks.state]\n\n[hooks.state."a b:0"]\nx = 1\n\n[tui]\na = 1\n\n[hooks.state.c]\nx = 2\n';
    expect(open(text).remove(["hooks", "state"])).toBe("\n[tui]\na = 1\n".slice(0));
    expect(open(text).remove(["hooks", "state", "a b:0"])).toBe(
      "[hooks.state]\n\n[tui]\na = 1\n\n[hooks.state.c]\nx = 2\n",
    );
  });

  test.each([
    ["as an inline table", 'mcp_servers = { knack = { command = "x" } }\n'],
    ["with dotted keys", 'mcp_servers.knack.command = "x"\n'],
  ])("that says it %s is left alone", (_, text) => {
    expect(open(text).set(path, server).ok).toBe(false);
    expect(open(text).remove(path)).toBe(text);
  });

  test("that is none names the line", () => {
    expect(open("a = 1\nb =\n").problem).toBe("it is no TOML (line 2)");
  });
});

describe("a list in a JSON text", () => {
  const at = ["hooks", "Stop"] as const;
  test.each([
    ["{}", '{\n  "hooks": {\n    "Stop": [\n      1\n    ]\n  }\n}'],
    ['{"hooks":{"Stop":[]}}', '{"hooks":{"Stop":[1]}}'],
    ['{"hooks":{"Stop":[7]}}', '{"hooks":{"Stop":[7,1]}}'],
    ['{ "hooks": { "Stop": [ 7 ] } }', '{ "hooks": { "Stop": [ 7, 1 ] } }'],
    [
      '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t7\n\t\t]\n\t}\n}\n',
      '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t7,\n\t\t\t1\n\t\t]\n\t}\n}\n',
    ],
  ])("%j gets one more value at its end", (text, expected) => {
    const set = openConfigText("json", text).setItem(at, 1, null);
    expect(set).toMatchObject({ ok: true, text: expected });
    const json = openConfigText("json", expected);
    const before = (openConfigText("json", text).read(at) ?? []) as unknown[];
    expect(JSON.parse(json.removeItem(at, before.length)).hooks.Stop).toEqual(before);
    if (before.length > 0) expect(json.removeItem(at, before.length)).toBe(text);
  });

  test("has one value replaced, and the others stay as they are", () => {
    const json = openConfigText("json", '{"hooks": {"Stop": [ 1, 2 /* b */, 3,]}}');
    expect(json.setItem(at, 9, 1)).toMatchObject({ text: '{"hooks": {"Stop": [ 1, 9 /* b */, 3,]}}' });
    expect(json.removeItem(at, 0)).toBe('{"hooks": {"Stop": [ 2 /* b */, 3,]}}'.replace("[ 2", "[ 2"));
    expect(json.setItem(["hooks"], 9, null)).toEqual({ ok: false, because: "hooks is no list" });
  });
});
