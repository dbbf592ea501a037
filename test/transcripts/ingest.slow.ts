import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dump } from "../helpers/dump.ts";
import { seeded, writeHistory } from "../helpers/history.ts";
import { knack } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

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

describe("a database with forty bytes overwritten anywhere", () => {
  test("is told of or read, never crashed on", async () => {
    const home = tempFolder();
    writeHistory(home, { sessions: 6, turns: 20 });
    await knack(["sessions"], { home });
    const path = join(home, ".knack/knack.db");
    const good = readFileSync(path);
    const random = seeded(7);
    for (let round = 0; round < 30; round++) {
      const damaged = Buffer.from(good);
      for (let byte = 0; byte < 40; byte++)
        damaged[Math.floor(random() * damaged.length)] = Math.floor(random() * 256);
      rmSync(join(home, ".knack"), { recursive: true });
      mkdirSync(join(home, ".knack"));
      writeFileSync(path, damaged);
      const events = await knack(["sessions", "--events"], { home });
      expect([0, 3], events.stderr).toContain(events.code);
      const doctor = await knack(["doctor"], { home });
      expect([0, 1, 3], doctor.stderr).toContain(doctor.code);
    }
  });
});
