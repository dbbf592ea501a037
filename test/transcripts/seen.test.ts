import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeenIds } from "../../src/transcripts/session-builder.ts";

describe("the records seen", () => {
  test("are told from new ones like a set of strings would", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 3_000 }), (ids) => {
        const [seen, set] = [new SeenIds(), new Set<string>()];
        for (const id of ids) {
          expect(seen.add(id)).toBe(!set.has(id));
          set.add(id);
        }
      }),
    );
  });

  test("are told apart by the hundred thousand, also when ids differ in one digit", () => {
    const seen = new SeenIds();
    for (let n = 0; n < 200_000; n++) {
      if (!seen.add(randomUUID()) || !seen.add(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}`))
        expect.fail(`lost ${n}`);
    }
    expect(seen.add("00000000-0000-4000-8000-000000000007")).toBe(false);
  });
});
