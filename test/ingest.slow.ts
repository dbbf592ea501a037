import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dump } from "./helpers/dump.ts";
import { seeded, writeHistory } from "./helpers/history.ts";
import { knack } from "./helpers/knack.ts";
import { tempFolder } from "./helpers/temp.ts";

describe("for longer: many and killed processes", () => {
  test.each([1, 2, 3])(
    "eight at once, each killed now and then, end in the state of one alone (round %i)",
    async (seed) => {
      const [together, alone] = [tempFolder(), tempFolder()];
      writeHistory(alone, { sessions: 24, turns: 60 });
      const paths = [join(alone, ".claude"), join(alone, ".codex")];
      const random = seeded(seed);
      const worker = async () => {
        for (let run = 0; run < 8; run++)
          await knack(["sessions", ...paths, "--json"], { home: together, killAfter: 80 + random() * 500 });
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      expect((await knack(["sessions", ...paths, "--json"], { home: together })).code).toBe(0);
      await knack(["sessions", ...paths, "--json"], { home: alone });
      const [one, other] = [dump(join(together, ".knack/knack.db")), dump(join(alone, ".knack/knack.db"))];
      for (const table of Object.keys(one))
        expect(one[table]?.join("\n") === other[table]?.join("\n"), table).toBe(true);
      expect((await knack(["doctor"], { home: together })).code).toBe(0);
    },
    300_000,
  );
});
