import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { encodeTable, findTableFault, openTable } from "../../src/search/table.ts";

const bytesOf = (head: unknown, entries: ReadonlyMap<string, unknown>): Uint8Array =>
  Buffer.concat(encodeTable(head, entries));
const at =
  (bytes: Uint8Array): Parameters<typeof openTable>[0] =>
  (from, length) =>
    bytes.subarray(from, Math.min(bytes.length, from + length));

const anything = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { maxKeys: 40 });

describe("a table", () => {
  test("gives back what was put in, and nothing else", () => {
    fc.assert(
      fc.property(anything, fc.jsonValue(), fc.string(), (values, head, other) => {
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
        const table = openTable(at(bytesOf(head, new Map(Object.entries(values)))));
        expect(table.head).toEqual(plain(head));
        for (const [key, value] of Object.entries(values)) expect(table.get(key)).toEqual(plain(value));
        if (!Object.hasOwn(values, other)) expect(table.get(other)).toBeUndefined();
      }),
    );
  });

  test("tells keys apart that have one hash", () => {
    // FNV-1a of both is the same.
    const values = new Map([
      ["costarring", 1],
      ["liquid", 2],
      ["declinate", 3],
      ["macallums", 4],
    ]);
    const table = openTable(at(bytesOf(null, values)));
    for (const [key, value] of values) expect(table.get(key)).toBe(value);
  });

  test("looks at its index and at what is asked for", () => {
    const values = new Map(Array.from({ length: 20_000 }, (_, n) => [`key ${n}`, { n }]));
    const bytes = bytesOf({ some: "head" }, values);
    let read = 0;
    const table = openTable((from, length) => {
      read += length;
      return at(bytes)(from, length);
    });
    expect(table.get("key 12345")).toEqual({ n: 12_345 });
    // The index, and one value of twenty thousand.
    expect(read).toBeLessThan(16 * 20_000 + 1_000);
  });

  const values = new Map<string, unknown>([
    ["a", { text: "rm -i", list: [1, 2] }],
    ["b", "日本 🙂"],
    ["c", null],
    ["d", 12],
  ]);
  const head = { mark: "m", silent: [] };
  const good = bytesOf(head, values);

  /** What a damaged table says: for each thing the truth, nothing, or that it is damaged. */
  function isHonest(bytes: Uint8Array): boolean {
    const honest = (say: () => unknown, truth: unknown) => {
      try {
        const said = say();
        return said === undefined || JSON.stringify(said) === JSON.stringify(truth);
      } catch {
        return true;
      }
    };
    return (
      honest(() => openTable(at(bytes)).head, head) &&
      [...values].every(([key, value]) => honest(() => openTable(at(bytes)).get(key), value))
    );
  }

  test("says the truth or that it is damaged, whichever byte is changed to what", () => {
    for (let place = 0; place < good.length; place++)
      for (const change of [0x01, 0x80, 0xff, 0x20]) {
        const bytes = Uint8Array.from(good);
        bytes[place] = (bytes[place] ?? 0) ^ change;
        expect(isHonest(bytes), `byte ${place} ^ ${change}`).toBe(true);
      }
  });

  test("does the same where many bytes are changed", () => {
    const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(changes, (all) => {
        const bytes = Uint8Array.from(good);
        for (const [place, byte] of all) bytes[place] = byte;
        return isHonest(bytes);
      }),
    );
  });

  test("throws where it is cut, or says the truth", () => {
    for (let length = 0; length < good.length; length++)
      expect(isHonest(good.subarray(0, length)), `${length} bytes`).toBe(true);
    expect(() => openTable(at(good.subarray(0, 20)))).toThrow(/cut short/);
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["another kind of file", Buffer.from("SQLite format 3\0".repeat(10))],
    ["only ones", new Uint8Array(400).fill(0xff)],
  ])("is not %s", (_, bytes) => {
    expect(() => openTable(at(bytes))).toThrow(/no table|cut short/);
  });

  test("asks for no more than it is told by damaged sizes, and ends", () => {
    const bytes = Uint8Array.from(good);
    bytes.fill(0xff, 14, 26);
    expect(() => openTable(at(bytes))).toThrow(/cut short/);
  });

  test("has no fault as it was laid out, and one where any byte is another", () => {
    fc.assert(
      fc.property(anything, fc.nat(), fc.integer({ min: 1, max: 255 }), (some, place, change) => {
        const bytes = Uint8Array.from(bytesOf(head, new Map(Object.entries(some))));
        expect(findTableFault(bytes)).toBe(null);
        const at = place % bytes.length;
        bytes[at] = (bytes[at] as number) ^ change;
        expect(findTableFault(bytes)).not.toBe(null);
      }),
    );
    expect(findTableFault(good.subarray(0, 60))).not.toBe(null);
    expect(findTableFault(Buffer.concat([good, Buffer.from("x")]))).not.toBe(null);
  });
});
