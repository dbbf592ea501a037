import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { claudeCode } from "../../src/transcripts/readers/claude-code.ts";
import { codex } from "../../src/transcripts/readers/codex.ts";
import { dropPrivate } from "../../src/trust/index.ts";
import { claudeLines } from "../helpers/claude.ts";
import { codexLines } from "../helpers/codex.ts";
import { aHome, hook, payloads, withKnack } from "../helpers/hook.ts";
import { readAll, story } from "../helpers/lines.ts";

const hidden = "Kestrel-Otter";
const typed = `always use pnpm <private>our codename is ${hidden}</private> from now on`;

/** Everything below a folder, as text. */
function readBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
}

describe("what a person marks as private", () => {
  it.each([
    ["a <private>b</private> c", "a  c"],
    ["a <PRIVATE>b\nb</Private>c", "a c"],
    ["a <private>b", "a"],
    ["<private>b</private>", ""],
    ["a <private>b <private>b</private> b</private> c", "a  c"],
    ["a <private>b</private> c <private>b", "a  c"],
    ["a <private reason='x'>b</private>c", "a c"],
    ["a private road, <b>c</b>, `private: true`", "a private road, <b>c</b>, `private: true`"],
  ])("is cut out of %j", (text, kept) => {
    expect(dropPrivate(text)).toBe(kept);
  });

  it("is in no event of any reader", () => {
    const claude = claudeLines();
    const events = [
      claude.user(typed),
      claude.user(`<command-name>/plan</command-name><command-args>${typed}</command-args>`),
      claude.attachment({ type: "queued_command", prompt: typed, commandMode: "prompt" }),
      claude.user(`<private>${hidden}`),
    ];
    const kept = 'prompt "always use pnpm  from now on"';
    expect(story(readAll(claudeCode, events))).toEqual([kept, kept, kept]);
    const { meta, typed: types } = codexLines();
    expect(story(readAll(codex, [meta(), types(typed)]))).toEqual([kept]);
  });

  test("is nowhere below Knack's home, whichever way it came", async () => {
    const home = aHome();
    const { transcript, prompt } = payloads(home);
    const { user, says, queue } = claudeLines();
    mkdirSync(dirname(transcript), { recursive: true });
    const records = [user(typed), says("ok"), user(typed), says("ok"), queue("enqueue", typed)];
    writeFileSync(transcript, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    for (const path of [transcript, null]) {
      const payload = { ...prompt(`remember: ${typed}`), transcript_path: path };
      expect((await hook(payload, home)).code).toBe(0);
    }
    await withKnack(home, async (opened) => {
      await opened.learn([transcript, join(home.knackHome, "spool")]);
    });
    expect(readBelow(home.knackHome)).toContain("always use pnpm");
    expect(readBelow(home.knackHome)).not.toContain(hidden);
  });
});
