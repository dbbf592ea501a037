import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultIn, layOut } from "../../src/core/table.ts";

function bytesOf(entries: readonly (readonly [string, unknown])[]): Uint8Array {
  return Buffer.concat(layOut({ madeAt: 1 }, new Map(entries)));
}

describe("a table's bytes", () => {
  test("are without fault as they were laid out, and with one byte changed are not", () => {
    const entries = fc.array(fc.tuple(fc.string(), fc.jsonValue()), { maxLength: 20 });
    fc.assert(
      fc.property(entries, fc.nat(), fc.integer({ min: 1, max: 255 }), (some, place, change) => {
        const bytes = bytesOf(some);
        expect(faultIn(bytes)).toBe(null);
        const at = place % bytes.length;
        bytes[at] = (bytes[at] as number) ^ change;
        expect(faultIn(bytes)).not.toBe(null);
      }),
    );
  });

  test.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(), "it is no table"],
    ["another file", Buffer.from("{}\n".repeat(20)), "it is no table"],
    ["half of it", bytesOf([["a", 1]]).subarray(0, 40), "its bytes are not those that were written"],
  ])("that are %s have a fault", (_, bytes, says) => expect(faultIn(bytes)).toBe(says));
});
