import { describe, expect, test } from "vitest";
import { createScreen } from "../../src/cli/screen/screen.ts";
import { oneLine, textLines } from "../../src/cli/screen/text.ts";

const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;

/** What a screen writes to standard output. */
function printed(work: (screen: ReturnType<typeof createScreen>) => void): string {
  const { write } = process.stdout;
  let text = "";
  process.stdout.write = ((part: string) => {
    text += part;
    return true;
  }) as typeof write;
  try {
    work(createScreen({ NO_COLOR: "1" }));
  } finally {
    process.stdout.write = write;
  }
  return text;
}

describe("the screen", () => {
  test("prints no secret, even where one had got past the reader", () => {
    const value = { hits: [{ met: `curl -H "token: ${secret}"`, session: { path: `/x/${secret}` } }] };
    const texts = [
      printed((screen) => screen.json(value)),
      printed((screen) => screen.print(["fine", [false, `export TOKEN=${secret}`], null])),
      ...[20, 40, 80].map((width) => oneLine(`token ${secret} and more`, width)),
      textLines(`one\ntoken ${secret}\n`).join("\n"),
    ];
    for (const text of texts) {
      expect(text).toContain("[redact");
      expect(text).not.toContain(secret.slice(0, 12));
    }
  });

  test("prints times as text in JSON, and no time as null", () => {
    const json = printed((screen) => screen.json({ at: 1_700_000_000_000, lastAt: 0, sessions: 0, that: 5 }));
    expect(JSON.parse(json)).toEqual({
      ...{ at: "2023-11-14T22:13:20.000Z", lastAt: null, sessions: 0, that: 5 },
    });
  });

  test("leaves out what there is not, and prints nothing for nothing", () => {
    expect(printed((screen) => screen.print(["a", false, ["b", [null, "c"]], undefined, ""]))).toBe(
      "a\nb\nc\n\n",
    );
    expect(printed((screen) => screen.print([false, []]))).toBe("");
  });
});
