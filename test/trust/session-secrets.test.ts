import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { record } from "../../src/hook/record.ts";
import { recordEntries } from "../../src/lessons/index.ts";
import { openKnack } from "../../src/open.ts";
import { openSqlite } from "../../src/store/index.ts";
import { SessionSecrets } from "../../src/trust/known.ts";
import { redactJson } from "../../src/trust/redactor.ts";
import { claudeLines } from "../helpers/claude.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { tempFolder } from "../helpers/temp.ts";

const jsonl = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");
const { user, runs, result, says } = claudeLines();

/** Reads a transcript that grows in steps, each with a process of its own, and answers with all that is on disk. */
async function readGrowing(...steps: readonly (readonly unknown[])[]): Promise<string> {
  const home = tempFolder();
  const path = join(home, "a.jsonl");
  for (const records of steps) {
    appendFileSync(path, jsonl(records));
    const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, "knack") } });
    await knack.sessions([path]);
    await knack.close();
  }
  const files = readdirSync(join(home, "knack"), { recursive: true, encoding: "utf8" });
  const whole = files.map((name) => join(home, "knack", name)).filter((file) => statSync(file).isFile());
  return whole.map((file) => readFileSync(file, "latin1")).join("\n");
}

const word = `Marble${"-"}77-quay`;
const plainUse = says(`I will try ${word} on the other host too.`);
const shown = [runs("t1", "sudo ls"), result("t1", `[sudo] password for bob: ${word}\nREADME.md`)];

describe("a secret that a session shows once", () => {
  test("is not recognised without what shows it", async () => {
    expect(await readGrowing([user("go"), plainUse])).toContain(word);
  });

  test.each([
    ["after it, in one reading", [[user("go"), ...shown, plainUse]]],
    ["before it, in one reading", [[user("go"), plainUse, ...shown]]],
    ["after it, in a later reading", [[user("go"), ...shown], [plainUse]]],
    ["before it, in an earlier reading", [[user("go"), plainUse], shown]],
    ["long before it", [[user("go"), plainUse], [says("and on")], [says("on")], shown]],
  ] as const)("is masked %s", async (_, steps) => {
    const disk = await readGrowing(...steps);
    expect(disk).not.toContain(word);
    expect(disk).toContain("on the other host too");
    expect(disk).toContain("README.md");
  });

  test.each([
    ["HTML entities", '<input type="password" value="Tom&amp;Jerry&lt;42x">', "Tom&Jerry<42x"],
    ["a header", "Authorization: Basic YWRtaW46TWFyYmxlLTg4LXF1YXk=", "Marble-88-quay"],
    ["hex", "The login password in hex: 4d6172626c652d38392d71756179", "Marble-89-quay"],
    ["percent signs", "POST /login user=bob&password=Marble%2D90%2Dquay%21", "Marble-90-quay!"],
  ])("is masked as it is, once it was shown in %s", async (_, text, value) => {
    const disk = await readGrowing([
      user("go"),
      runs("t1", "./show"),
      result("t1", text),
      says(`I tried ${value} too.`),
    ]);
    expect(disk).toContain("I tried ");
    expect(disk).not.toContain(value);
    expect(await readGrowing([user("go"), says(`I tried ${value} too.`)])).toContain(value);
  });

  test("is masked in the encodings that programs print", async () => {
    const forms = [btoa(`${word}\n`).slice(0, 16), Buffer.from(word).toString("hex")];
    const disk = await readGrowing([user("go"), ...shown, says(`${btoa(`${word}\n`)} and ${forms[1]}`)]);
    for (const form of forms) expect(disk).not.toContain(form);
  });

  test("is masked in an input's keys and values", async () => {
    const disk = await readGrowing([
      user("go"),
      ...shown,
      runs("t2", `echo ${word}`),
      result("t2", `{"${word}": "${word}"}`),
    ]);
    expect(disk).not.toContain(word);
  });

  test("is masked in a lesson that was learned before it", async () => {
    const home = tempFolder();
    const path = join(home, "a.jsonl");
    const read = async (records: readonly unknown[]) => {
      appendFileSync(path, jsonl(records));
      const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, "knack") } });
      await knack.sessions([path]);
      await knack.close();
    };
    const openStore = () => openSqlite({ path: join(home, "knack", "knack.db"), clock: { now: Date.now } });
    await read([user("go"), plainUse]);
    const store = await openStore();
    const finding = aFinding({ lesson: `Try ${word} on the other host` });
    await store.transaction((tx) => recordEntries(tx, [made(path, finding)]));
    await store.close();
    await read(shown);
    const after = await openStore();
    const lessons = await after.learning.lessons.list();
    const { faults } = await after.ledger.inspect();
    await after.close();
    expect(lessons.map(({ lesson }) => lesson)).toEqual(["Try [redacted:secret] on the other host"]);
    expect(faults).toEqual([]);
  });

  test("leaves words alone that are no more than words", async () => {
    const disk = await readGrowing([
      user("go"),
      runs("t1", "PGPASSWORD=postgres psql -U postgres"),
      result("t1", "ok"),
      says("The postgres container runs."),
    ]);
    expect(disk).toContain("The postgres container runs.");
  });

  test("is kept as a mark that does not tell it, and that later words are known by", () => {
    const first = new SessionSecrets("salt");
    first.learn([word]);
    expect(first.marks.join()).not.toContain(word);
    const later = new SessionSecrets("salt", first.marks);
    expect(later.cleanText(`url=https://bob:${word}@host/x`)).toBe(
      "url=https://bob:[redacted:secret]@host/x",
    );
    expect(later.cleanText("nothing of it here, 12 words-or-so")).toBe("nothing of it here, 12 words-or-so");
    expect(new SessionSecrets("other salt", first.marks).cleanText(word)).toBe(word);
  });
});

describe("a recorded hook payload", () => {
  const token = `${"Q7w".repeat(3)}zX41vB${"e8R".repeat(5)}`;
  test("has no secret in keys or values", () => {
    const home = tempFolder();
    const spool = join(home, "spool");
    mkdirSync(spool);
    writeFileSync(join(spool, "x"), "");
    const payload = {
      hook_event_name: "PostToolUse",
      tool_input: { command: `cypher-shell -u neo4j -p ${word}` },
      tool_response: { api_keys: { [token]: { user: "bob" } }, keys: { "page-up": "Scroll up" } },
    };
    const redaction = () => ({ redactJson });
    record({ payload, session: "s1", home: { spool } as never, now: 0, redaction } as never);
    const [file = ""] = readdirSync(spool).filter((name) => name.startsWith("hook-"));
    const written = readFileSync(join(spool, file), "utf8");
    expect(written).not.toContain(word);
    expect(written).not.toContain(token);
    expect(written).toContain("page-up");
  });

  test.each([
    [{ tokens: { [token]: 1 } }, { tokens: { "[redacted:key]": 1 } }],
    [{ [`https://bob:${word}@host/`]: 1 }, { "https://bob:[redacted:url-password]@host/": 1 }],
    [{ keys: { ArrowDown: "next" } }, { keys: { ArrowDown: "next" } }],
    [{ dependencies: { "left-pad": "1.3.0" } }, { dependencies: { "left-pad": "1.3.0" } }],
  ])("%j becomes %j", (value, expected) => expect(redactJson(value, 1_000)).toEqual(expected));
});
