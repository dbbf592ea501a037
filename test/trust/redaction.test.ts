import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { secretUnder } from "../../src/trust/assignments.ts";
import { findSecrets, redact } from "../../src/trust/redact.ts";
import { createRedactor, type TextField } from "../../src/trust/redactor.ts";
import { mayHoldSecret } from "../../src/trust/telling.ts";
import { mask } from "../../src/trust/values.ts";
import { runs } from "../helpers/runs.ts";
import { sampled, scaled } from "../helpers/sampled.ts";
import { innocents } from "./lookalike-classes.ts";
import { lookalikes as older } from "./lookalikes.ts";
import { classes } from "./secret-classes.ts";
import { secrets as former, type Planted } from "./secrets.ts";

const secrets = [...former, ...classes];
const lookalikes = [...older, ...innocents];
const redactor = createRedactor();
const asField = (text: string): TextField => ({ label: "", text });
const scrub = async (...texts: string[]) => redactor.scrub(texts.map(asField));
const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

describe("the signs of a secret", () => {
  test("are in every text from which the patterns take one", () => {
    const changed = [...secrets.map(({ text }) => text), ...lookalikes].filter(
      (text) => redact(text) !== text,
    );
    expect(changed.length).toBeGreaterThanOrEqual(700);
    expect(changed.filter((text) => !mayHoldSecret(text))).toEqual([]);
  });

  test.each([
    "error: unknown option --topic",
    "src/lib/session.ts:12:7 - error TS2304: Cannot find name 'Reader'.",
    "ERR_PACKAGE_PATH_NOT_EXPORTED in some_long_snake_case_name_for_tests",
    "Please see to it that the importer reads IllegalArgumentException again",
  ])("are not in %j", (text) => expect(mayHoldSecret(text)).toBe(false));
});

describe("redaction of planted secrets and look-alikes", () => {
  test("takes out at least 97 of 100 secrets and touches at most 1 of 200 look-alikes", async () => {
    const scrubbed = await scrub(...secrets.map(({ text }) => text));
    const left = secrets.filter(({ secret }, i) => scrubbed[i]?.includes(secret));
    const leftByOwn = secrets.filter(({ text, secret }) => redact(text).includes(secret));
    const kept = await scrub(...lookalikes);
    const touched = lookalikes.filter((text, i) => kept[i] !== text);
    const touchedByOwn = lookalikes.filter((text) => redact(text) !== text);

    const gone = (missed: readonly Planted[]) =>
      `${secrets.length - missed.length} of ${secrets.length} (${percent(secrets.length - missed.length, secrets.length)})`;
    const kinds = new Set(secrets.map(({ kind }) => kind)).size;
    console.log(
      `redaction: ${gone(left)} secrets of ${kinds} kinds gone, own patterns alone ${gone(leftByOwn)}; ` +
        `${touched.length} of ${lookalikes.length} look-alikes touched (${percent(touched.length, lookalikes.length)}), ` +
        `own patterns alone ${touchedByOwn.length}`,
    );

    expect(secrets.length).toBeGreaterThanOrEqual(700);
    expect(kinds).toBeGreaterThanOrEqual(30);
    expect(lookalikes.length).toBeGreaterThanOrEqual(500);
    expect(left.length / secrets.length, left.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(0.03);
    expect(touched.length / lookalikes.length, touched.join("\n")).toBeLessThanOrEqual(0.005);
    expect(leftByOwn.length / secrets.length).toBeLessThanOrEqual(0.03);
  });

  it.each<[string, string, string]>([
    ["keeps the name", 'export DB_PASSWORD="hunter2!"', 'export DB_PASSWORD="[redacted:password]"'],
    [
      "keeps host and path of a URL",
      "postgres://app:hunter2@db:5432/x?y=1",
      "postgres://app:[redacted:url-password]@db:5432/x?y=1",
    ],
    [
      "keeps the scheme of a header",
      `Authorization: Bearer ${"a1B2".repeat(8)}`,
      "Authorization: Bearer [redacted:bearer]",
    ],
    [
      "keeps the quotes of escaped JSON",
      '{\\"password\\":\\"hunter2!\\",\\"n\\":1}',
      '{\\"password\\":\\"[redacted:password]\\",\\"n\\":1}',
    ],
    [
      "keeps the other cookies",
      "Cookie: theme=dark; sid=a1b2c3d4e5f6; lang=en",
      "Cookie: theme=dark; sid=[redacted:cookie]; lang=en",
    ],
    [
      "keeps what follows a value",
      "mysql --password=hunter2! app && echo done",
      "mysql --password=[redacted:password] app && echo done",
    ],
  ])("%s", (_, text, expected) => expect(redact(text)).toBe(expected));
});

describe("a mask", () => {
  it("is one for spans that overlap, named after the first", () => {
    const spans = [
      { start: 6, end: 9, kind: "inner" },
      { start: 2, end: 8, kind: "outer" },
      { start: 12, end: 13, kind: "other" },
    ];
    expect(mask("0123456789abcdef", spans)).toBe("01[redacted:outer]9ab[redacted:other]def");
  });

  it("leaves a text without spans as it is", () => expect(mask("text", [])).toBe("text"));
});

describe("a name", () => {
  it.each<[string, string, boolean]>([
    ["password", "swordfish", true],
    ["client_secret", "a1b2c3d4e5", true],
    ["Authorization", `token ${"0123456789abcdef".repeat(2)}`, false],
    ["token", "keyword.control", false],
    ["max_tokens", "4096a4096b", false],
    ["command", "ls -la", false],
    ["password", "[redacted:password]", false],
  ])("%s with the value %s makes all of it a secret: %s", (name, value, expected) =>
    expect(secretUnder(name, value) !== undefined).toBe(expected),
  );
});

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(...secrets.map(({ text }) => text), ...lookalikes),
  fc.constantFrom(
    "password",
    "token=",
    "Bearer ",
    "://",
    "a:b@c",
    "\\",
    '\\"',
    '"',
    "'",
    "\n",
    "-----",
    "=",
    ":",
    " ",
  ),
);
const mixedText = fc.array(anyText, { maxLength: 8 }).map((parts) => parts.join(""));

describe("a redactor", () => {
  test("changes nothing that it has scrubbed before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ label: fc.constantFrom("", "text", "password"), text: mixedText })),
        async (fields) => {
          const once = await redactor.scrub(fields);
          const again = await redactor.scrub(fields.map(({ label }, i) => ({ label, text: once[i] ?? "" })));
          expect(again).toEqual(once);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test("changes nothing twice with own patterns alone", () => {
    fc.assert(
      fc.property(mixedText, (text) => {
        const once = redact(text);
        expect(redact(once)).toBe(once);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test("answers with one text for each field, in order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 3_000 }), { maxLength: 60 }), async (sizes) => {
        const fields = sizes.map((size, i) => ({ label: "", text: `${i}:${"word ".repeat(size)}` }));
        expect(await redactor.scrub(fields)).toEqual(fields.map(({ text }) => text));
      }),
      { numRuns: 30 },
    );
    expect(await redactor.scrub([])).toEqual([]);
  });

  test("leaves lines without secrets alone, whatever their company", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...lookalikes), { maxLength: 20 }), async (lines) => {
        const text = lines.join("\n\n");
        expect(await scrub(text)).toEqual([text]);
      }),
      { numRuns: runs(300) },
    );
  });

  test("finds a secret in any field at any place", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...secrets),
        fc.array(fc.constantFrom(...lookalikes), { maxLength: 12 }),
        fc.nat({ max: 12 }),
        async ({ text, secret }, others, place) => {
          const texts = [...others];
          texts.splice(place, 0, text);
          expect((await scrub(...texts)).join("\n")).not.toContain(secret);
          expect((await scrub(texts.join("\n\n")))[0]).not.toContain(secret);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test("finds a secret wherever the border between batches falls", async () => {
    // Secretlint alone knows this one, so it is found by the part of the text that secretlint was given.
    const token = `np${"m_"}${"a1B2c3D4e_".repeat(4).slice(0, 36)}`;
    expect(redact(token)).toBe(token);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -60, max: 60 }), fc.boolean(), async (shift, inOneField) => {
        const filler = "some words ".repeat(100_000).slice(0, (1 << 20) + shift - 40);
        const texts = inOneField ? [`${filler} ${token} and on`] : [filler, token, "and on"];
        const scrubbed = await scrub(...texts);
        expect(scrubbed.join("")).not.toContain(token);
        expect(scrubbed.at(-1)).toMatch(/and on$/);
      }),
      { numRuns: scaled(12, 6) },
    );
  });

  test("keeps a key that is cut off from reaching into the next field", async () => {
    const [key] = secrets.filter(({ kind }) => kind === "private-key-cut");
    const next = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3";
    expect(await scrub(key?.text ?? "", next)).toEqual(["[redacted:private-key]", next]);
    expect(await scrub("password=", "hunter2!", 'password: "', 'hunter2!"')).toEqual([
      "password=",
      "hunter2!",
      'password: "',
      'hunter2!"',
    ]);
  });

  test("lets the label decide and leaves it out of the answer", async () => {
    const fields = [
      { label: "password", text: "swordfish" },
      { label: "note", text: "swordfish" },
      { label: "Authorization", text: `Bearer ${"a1B2".repeat(8)}` },
      { label: "aws_secret_access_key", text: "aB3/".repeat(10) },
    ];
    expect(await redactor.scrub(fields)).toEqual([
      "[redacted:password]",
      "swordfish",
      "Bearer [redacted:bearer]",
      "[redacted:secret]",
    ]);
  });

  test("does not let comments in a text switch rules off", async () => {
    const token = `np${"m_"}${"a1B2c3D4e_".repeat(4).slice(0, 36)}`;
    expect(await scrub(`// secretlint-disable\n${token}`)).toEqual(["// secretlint-disable\n[redacted:npm]"]);
  });

  test("may be called many times at once", async () => {
    const texts = secrets.slice(0, 20).map(({ text }) => text);
    const alone = await Promise.all(texts.map(async (text) => (await scrub(text))[0]));
    expect(await scrub(...texts)).toEqual(alone);
  });

  test("keeps its place after a byte order mark", async () => {
    expect(await scrub("\uFEFFDB_PASSWORD=hunter2!")).toEqual(["\uFEFFDB_PASSWORD=[redacted:password]"]);
  });
});

describe("hostile texts", () => {
  // Where time grew with the square of the length, it would not be over before the test is ended.
  const long = (piece: string) => piece.repeat(Math.ceil(scaled(2e6, 5e5) / piece.length));
  const texts = [
    "a",
    '"password":',
    "password=a",
    "=",
    "\\",
    "://a:",
    "-----BEGIN PRIV".concat("ATE KEY-----\n"),
    "-----END PRIV".concat("ATE KEY-----"),
    "Cookie: a=b",
    "eyJ",
    "a_key=",
    " -p",
    "AKIA",
    "SG.",
    "sk-proj-",
  ].map(long);

  it.each(sampled(texts, 12).map((text) => [text.slice(0, 30), text] as const))(
    "come to an end: %j",
    (_, text) => {
      expect(findSecrets(text).every(({ start, end }) => start < end && end <= text.length)).toBe(true);
    },
  );

  // Each word can be read as a word in two ways: together they must not be tried in every combination.
  const sentence = `${"every word of this sentence ".repeat(20)}x1y2z3`;
  test.each([
    `name | token | note\n---|---|---\nci | ${sentence} | -\n`,
    `$ gh auth token\n${sentence}\n`,
    `password: "${sentence}"`,
    `${"a".repeat(90)}123`,
    `password_${"base64".repeat(20)}x = hunter2-of-the-north`,
  ])("of many words come to an end: %j", (text) => {
    expect(mayHoldSecret(text)).toBe(true);
    expect(findSecrets(text).every(({ start, end }) => start < end && end <= text.length)).toBe(true);
  });

  test.each([
    ["Exit code 2\nnpm error code ENOENT\nprocess exited with code 127", false],
    ["the source code of it is in a file", false],
    ["your code 481022 is valid for ten minutes", true],
  ])("with the word code are searched where it may be a secret: %j", (text, isSearched) => {
    expect(mayHoldSecret(text)).toBe(isSearched);
  });

  test("come to an end through secretlint, in one line of megabytes", async () => {
    const times = scaled(1 << 17, 1 << 15);
    const [text] = await scrub("sk-proj-postgres://a:b xoxb-1-a-".repeat(times));
    expect(text?.length).toBeGreaterThan(8 * times);
  });
});
