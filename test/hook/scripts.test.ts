import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../../dist");

test.each([
  ["hook", 11],
  ["hook-turn", 14],
  ["hook-record", 2],
  ["hook-start", 24],
  ["hook-failure", 99],
  ["hook-prompt", 178],
  ["hook-redaction", 103],
  ["hook-shell", 106],
])(
  "%s.cjs, which agents start again and again, is below %i KB and has neither database nor schema code",
  (name, kilobytes) => {
    const script = readFileSync(join(dist, `${name}.cjs`), "utf8");
    expect(script.length).toBeLessThan(kilobytes * 1_000);
    expect(script).not.toMatch(/kysely|OperationNode|libsql|ZodError/);
  },
);
