import fc from "fast-check";

/** Whoever reads an object back by assigning to its names would lose this one. */
export const isPlain = (value: unknown) => !JSON.stringify(value).includes("__proto__");

/** Objects such as settings are, the ones that Knack writes to among them. */
export const anyDocument: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
    fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }), { nil: undefined }),
    fc.option(fc.dictionary(fc.constantFrom("knack@knack", "other@place"), fc.boolean()), { nil: undefined }),
  )
  .map(([own, extraKnownMarketplaces, enabledPlugins]) =>
    JSON.parse(JSON.stringify({ ...own, extraKnownMarketplaces, enabledPlugins })),
  )
  .filter(isPlain);

/** What stands between two tokens; taken in turn, for a text as no program would print it. */
export interface Gaps {
  readonly gaps: readonly string[];
  readonly mark: boolean;
}

const space = fc.constantFrom("", "", " ", "  ", "\t", "\n", "\n  ", "\r\n", "\r\n\t");
const comment = fc.constantFrom(' // a note, with "a": 1,\n', "/* {} */", "\r\n// ]\r\n");
const gapsOf = (gap: fc.Arbitrary<string>): fc.Arbitrary<Gaps> =>
  fc.record({ gaps: fc.array(gap, { minLength: 1, maxLength: 12 }), mark: fc.boolean() });

export const gapsOfSpace = gapsOf(space);
export const gapsWithComments = gapsOf(
  fc.oneof({ weight: 5, arbitrary: space }, { weight: 1, arbitrary: comment }),
);

export function printedWith(value: unknown, { gaps, mark }: Gaps): string {
  let at = 0;
  const gap = () => gaps[at++ % gaps.length] as string;
  const print = (one: unknown): string => {
    if (typeof one !== "object" || one === null) return JSON.stringify(one);
    const isList = Array.isArray(one);
    const parts = isList
      ? one.map((item) => gap() + print(item) + gap())
      : Object.entries(one).map(
          ([key, item]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${print(item)}${gap()}`,
        );
    return `${isList ? "[" : "{"}${parts.length === 0 ? gap() : parts.join(",")}${isList ? "]" : "}"}`;
  };
  return `${mark ? "\ufeff" : ""}${gap()}${print(value)}${gap()}`;
}
