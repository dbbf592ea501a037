import { KnackError } from "../core/errors.ts";
import type { Instinct } from "../core/instinct.ts";
import { overlap } from "../core/words.ts";
import type { Shelved } from "../engine/shelf.ts";
import type { Knack } from "../open.ts";

/** What a word of the person means: things that are kept, and the lessons behind them. */
export interface Named {
  /** As it is called; the word itself where only a lesson is meant. */
  readonly name: string;
  readonly kept: readonly Shelved[];
  readonly instinct: Instinct | null;
}

/** Finds something by its name, with or without the prefix of learned skills, or by the id of its instinct. */
export async function named(knack: Knack, word: string): Promise<Named> {
  const shelf = await knack.shelf();
  const instincts = await knack.instincts();
  const kept = shelf.filter(({ name }) => isCalled(name, word));
  const byId = instincts.filter(({ id }) => id === word || (word.length > 3 && id.startsWith(word)));
  if (byId.length > 1)
    throw new KnackError("UNKNOWN_NAME", `"${word}" is the beginning of ${byId.length} ids.`, {
      hint: byId.map(({ id, name }) => `${id} ${name}`).join("; "),
    });
  const [first] = kept;
  const instinct =
    instincts.find(({ id }) => id === first?.instinct) ??
    byId[0] ??
    instincts.find(({ name }) => isCalled(name, word)) ??
    (await onceKept(knack, word, instincts));
  const own = first ? kept : shelf.filter((one) => one.instinct === instinct?.id);
  if (!instinct && own.length === 0)
    throw unknown(
      word,
      [...shelf, ...instincts].map(({ name }) => name),
    );
  return { name: own[0]?.name ?? instinct?.name ?? word, kept: own, instinct: instinct ?? null };
}

/** The lesson behind something that is gone. */
async function onceKept(
  knack: Knack,
  word: string,
  instincts: readonly Instinct[],
): Promise<Instinct | undefined> {
  const change = (await knack.changes()).findLast((one) => isCalled(one.change.name, word))?.change;
  return instincts.find(({ id }) => id === change?.instinct);
}

/** Prefixes end with a hyphen: `npm-test` means `rl-npm-test`. */
export function isCalled(name: string, word: string): boolean {
  return (
    name === word || (name.endsWith(`-${word}`) && /^[a-z0-9]{1,15}-$/.test(name.slice(0, -word.length)))
  );
}

function unknown(word: string, names: readonly string[]): KnackError {
  const parts = new Set(word.split("-"));
  const near = [...new Set(names)]
    .map((name) => ({ name, likeness: name.includes(word) ? 1 : overlap(parts, new Set(name.split("-"))) }))
    .filter(({ likeness }) => likeness > 0.2)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, 3);
  return new KnackError("UNKNOWN_NAME", `Nothing is called "${word}".`, {
    hint:
      near.length > 0
        ? `Perhaps ${near.map(({ name }) => name).join(", ")}?`
        : "knack skills list and knack instincts show what there is.",
  });
}
