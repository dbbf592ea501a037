import { describe, expect, it, test } from "vitest";
import { judge } from "../../src/search/decide.ts";
import type { LibraryIndex } from "../../src/search/library-index.ts";
import { rank } from "../../src/search/rank.ts";
import { libraryOf, others, skill } from "./helpers.ts";

const description = "Migrate Postgres tables without downtime, with a plan to roll back.";
const prompt = "migrate our postgres tables without downtime";
const migration = (more = {}) => skill("postgres-migration", description, more);

const decided = (library: LibraryIndex, text: string, size = library.size, asked = false) => {
  const { query, entries } = rank(library, text);
  const judged = judge(entries, size);
  const { load, offers } = judged.decide(asked);
  const told = (match: (typeof offers)[number]) => ({ ...match, because: judged.explain(match, query.text) });
  return { load: load && told(load), offers: offers.map(told) };
};

describe("what was found", () => {
  test("is loaded where it clearly fits", () => {
    const { load, offers } = decided(libraryOf(...others, migration()), prompt);
    expect(load?.card.id).toBe("postgres-migration");
    expect(load?.chance).toBeGreaterThanOrEqual(0.68);
    expect(offers).toEqual([]);
  });

  it.each(["what is the capital of France?", "thanks, that looks good", "继续", "report"])(
    "is not loaded for a prompt that fits nothing: %s",
    (text) => expect(decided(libraryOf(...others, migration()), text).load).toBeNull(),
  );

  test("is nothing where nothing is found", () => {
    expect(decided(libraryOf(...others), "zeppelin")).toEqual({ load: null, offers: [] });
    expect(decided(libraryOf(), "zeppelin")).toEqual({ load: null, offers: [] });
  });

  test("is offered, not loaded, where two fit as well", () => {
    const library = libraryOf(...others, migration(), skill("postgres-migrations", description));
    const { load, offers } = decided(library, prompt);
    expect(load).toBeNull();
    expect(offers.map(({ card }) => card.id).sort()).toEqual(["postgres-migration", "postgres-migrations"]);
  });

  test("is offered, not loaded, as the runner-up, however likely", () => {
    const quoting = `${description} Use for "${prompt}".`;
    const behindNever = libraryOf(
      ...others,
      skill("postgres-migration", quoting, { load: "never" }),
      skill("postgres-migrations", quoting),
    );
    expect(decided(behindNever, prompt).load).toBeNull();
    // Behind a skill that is about the prompt and has too little of it, one that only helped in such prompts.
    const behindUnlikely = libraryOf(
      ...others,
      skill("pg-moves", "Migrate tables.", {
        body: "Migrate the tables with no downtime at all. ".repeat(3),
      }),
      skill("harbour-log", "Keeps a diary of berths.", { prompts: [prompt, prompt] }),
    );
    expect(rank(behindUnlikely, prompt).entries[0]?.card.id).toBe("pg-moves");
    const { load, offers } = decided(behindUnlikely, prompt);
    expect(load).toBeNull();
    expect(offers.map(({ card }) => card.id)).toEqual(["harbour-log"]);
    expect(offers[0]?.chance).toBeGreaterThanOrEqual(0.7);
  });

  test("is never loaded against a person's word", () => {
    const { load, offers } = decided(libraryOf(...others, migration({ load: "never" })), prompt);
    expect(load).toBeNull();
    expect(offers.map(({ card }) => card.id)).toEqual(["postgres-migration"]);
  });

  test("is always loaded on a person's word where it would be offered", () => {
    const twins = (load: "always" | "fit") =>
      libraryOf(...others, migration({ load }), skill("postgres-migrations", description));
    expect(decided(twins("fit"), prompt).load).toBeNull();
    expect(decided(twins("always"), prompt).load?.card.id).toBe("postgres-migration");
    expect(decided(twins("always"), "what is the capital of France?").load).toBeNull();
  });

  test("is offered of a large library, and loaded if it was of use before", () => {
    const large = 3_001;
    const of = (uses: number) => decided(libraryOf(...others, migration({ uses })), prompt, large);
    expect(of(0).load).toBeNull();
    expect(of(0).offers.map(({ card }) => card.id)).toEqual(["postgres-migration"]);
    expect(of(2).load?.card.id).toBe("postgres-migration");
  });

  test("is judged less likely the larger the library", () => {
    const at = (size: number) => {
      const { load, offers } = decided(libraryOf(...others, migration()), prompt, size);
      return (load ?? offers[0])?.chance ?? 0;
    };
    expect(at(20_000)).toBeLessThan(at(2_000));
    expect(at(2_000)).toBe(at(200));
  });

  test("says why", () => {
    const { load } = decided(libraryOf(...others, migration()), prompt);
    expect(load?.because).toMatch(
      /^"postgres".* in its name; .*"downtime".* in its description; covers 100 % of what you asked$/,
    );
  });

  test("is loaded where a prompt without spaces says several words in a row, not where it says one", () => {
    const about = "リリースノートを作成する。リリースノートを書いてと頼まれたときに使う。";
    const library = libraryOf(...others, skill("kiroku", about));
    expect(decided(library, "リリースノートを作成してください").load?.card.id).toBe("kiroku");
    expect(decided(library, "リリース")).toEqual({ load: null, offers: [] });
    const database = libraryOf(...others, skill("sql", "数据库迁移，可以回滚"));
    expect(decided(database, "数据库迁移").load?.card.id).toBe("sql");
    expect(decided(database, "迁移")).toEqual({ load: null, offers: [] });
  });

  test("says why in the words of a script without spaces", () => {
    const library = libraryOf(...others, skill("sql", "优化数据库查询"));
    const { load, offers } = decided(library, "优化数据库查询");
    expect((load ?? offers[0])?.because).toContain('"优化数据库查询" in its description');
  });

  test("is at most three offers, however many would fit", () => {
    const unrelated = Array.from({ length: 200 }, (_, n) => skill(`other-${n}`, `Does thing number ${n}.`));
    const twins = Array.from({ length: 6 }, (_, n) => skill(`postgres-migration-${n}`, description));
    for (const asked of [true, false]) {
      const { load, offers } = decided(libraryOf(...others, ...unrelated, ...twins), prompt, 200, asked);
      expect(load).toBeNull();
      expect(offers).toHaveLength(3);
    }
  });
});
