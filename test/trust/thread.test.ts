import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createThreadRedactor } from "../../src/trust/thread.ts";
import { root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

const secret = `ghp_${"z9Y8x7W6".repeat(5).slice(0, 36)}`;
const much = Array.from({ length: 40 }, (_, at) => ({
  label: "",
  text: `${"word ".repeat(2_000)}${at === 7 ? secret : ""}`,
}));
const little = [{ label: "", text: `token ${secret}` }];

function redactorOn(script: string) {
  const redactor = createThreadRedactor(pathToFileURL(script));
  onTestFinished(() => redactor.close());
  return redactor;
}

async function scrubsWell(redactor: ReturnType<typeof createThreadRedactor>): Promise<void> {
  const [large, again, small] = await Promise.all([
    redactor.scrub(much),
    redactor.scrub(much),
    redactor.scrub(little),
  ]);
  for (const texts of [large, again]) {
    expect(texts).toHaveLength(much.length);
    expect(texts.filter((text, at) => text !== much[at]?.text)).toHaveLength(1);
    expect(texts[7]).toMatch(/word \[redacted:/);
    expect(texts.join("")).not.toContain(secret);
  }
  expect(small.join("")).not.toContain(secret);
}

describe("a redactor on a thread", () => {
  test("answers each request with its own texts, secrets gone", async () => {
    await scrubsWell(redactorOn(join(root, "dist/redaction-thread.js")));
  });

  test.each([
    ["cannot start", null],
    ["throws", "throw new Error('no')"],
    [
      "dies when asked",
      "require('node:worker_threads').parentPort.on('message', () => { throw new Error('no'); })",
    ],
    ["ends when asked", "require('node:worker_threads').parentPort.on('message', () => process.exit(0))"],
  ])("does the work itself when the thread %s", async (_, code) => {
    const script = join(tempFolder(), "thread.cjs");
    if (code !== null) writeFileSync(script, code);
    await scrubsWell(redactorOn(script));
  });
});
