import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knack } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

const examples = join(import.meta.dirname, "../../examples/sessions");

/** A Node whose files may not grow beyond so many blocks of 512 bytes: to a program, much like a full disk. */
function makeLimitedNode(home: string, blocks: number): string {
  const path = join(mkdtempSync(join(home, "limited-")), "node");
  writeFileSync(path, `#!/bin/sh\nulimit -f ${blocks}\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
  return path;
}

describe.skipIf(process.platform === "win32")("on a disk that takes no more", () => {
  test.each<[blocks: number, words: string[]]>([
    [100, ["learn", examples]],
    [700, ["learn", examples]],
    [1, ["learn", examples, "--dry-run"]],
    [0, ["config", "set", "review", "off"]],
  ])(
    "with %i blocks, knack %j ends with a sentence and the next step, and all is well afterwards",
    async (blocks, words) => {
      const home = tempFolder();
      const full = await knack(words, { home, node: makeLimitedNode(home, blocks) });
      expect([full.code, full.signal]).toEqual([3, null]);
      expect(full.stderr).toMatch(/^knack: .+\.\n {2}(?:Make room|Set KNACK_HOME) .+\.\n$/m);
      expect(full.stderr).not.toMatch(/^\s+at .+:\d+/m);
      const again = await knack(words, { home });
      expect([again.code, again.stderr.includes("damaged")]).toEqual([0, false]);
    },
  );
});
