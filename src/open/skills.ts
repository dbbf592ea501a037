import type { Kept } from "../core/change.ts";
import type { Instinct } from "../core/instinct.ts";
import { redact } from "../core/redact.ts";
import {
  type Evolution,
  type EvolveOptions,
  type Evolving,
  evolutions,
  evolve,
  evolveOwn,
} from "../engine/evolve.ts";
import type { AdvanceOptions } from "../engine/gap-advance.ts";
import {
  decidedOn,
  type Keeping,
  keep,
  type LeftOut,
  type OwnPlan,
  perform,
  planOwn,
  type Suggestion,
  type SuggestOptions,
  suggest,
} from "../engine/keep.ts";
import { plan } from "../engine/plan.ts";
import type { KeptChange, Redactor } from "../engine/ports.ts";
import { promoteDue } from "../engine/promote.ts";
import type { Settled } from "../engine/publish.ts";
import {
  decidedByUndo,
  planAccepts,
  planAdopt,
  planRemoval,
  planTakeBack,
  type Shelved,
  shelf,
} from "../engine/shelf.ts";
import type { Choice, Plan } from "../engine/step.ts";
import { settingsFor, whyNotLearn } from "../settings.ts";
import type { GapVerbs } from "./gaps.ts";
import type { Parts } from "./parts.ts";
import type { ShowingVerbs } from "./showing.ts";

/** What instincts become: skills, commands, agents and rules, written, changed and taken back. */
export interface SkillVerbs {
  /** The lessons worth asking a person about, best first. */
  suggest(
    options?: Partial<Omit<SuggestOptions, "refuses">>,
  ): Promise<{ suggestions: Suggestion[]; leftOut: LeftOut[] }>;
  /** What keeping a lesson would write. */
  plan(instinct: Instinct, choice: Choice): Promise<Plan>;
  /** Keeps a lesson: the files are there when this returns. */
  keep(instinct: Instinct, choice: Choice): Promise<Keeping>;
  /** What Knack would write without being asked: new evidence, and drafts. */
  planOwn(options?: OwnOptions): Promise<OwnPlan[]>;
  /**
   * Writes what needs nobody's yes: drafts of lessons and of what these sessions asked for in vain, new evidence in
   * what is kept; and lets drafts go live that have earned it, and back what did harm.
   */
  publishOwn(options?: OwnOptions & Pick<Partial<AdvanceOptions>, "sessions" | "until">): Promise<Settled[]>;
  /** What instincts have grown into together, and what would be done about it. */
  evolutions(options: Pick<EvolveOptions, "choice" | "kind">): Promise<Evolution[]>;
  /** Does that, all of it or for these names. */
  evolve(
    options: Pick<EvolveOptions, "choice" | "kind"> & { readonly only?: ReadonlySet<string> | null },
  ): Promise<Evolving[]>;
  /** Everything that is kept, and how it is on disk. */
  shelf(): Promise<Shelved[]>;
  planAccept(drafts: readonly Kept[], reach: Kept["reach"]): Promise<Plan>;
  accept(drafts: readonly Kept[], reach: Kept["reach"]): Promise<Keeping>;
  planAdopt(edited: readonly Shelved[]): Promise<Plan>;
  /** Takes over what a person changed by hand: from now on it is what is kept. */
  adopt(edited: readonly Shelved[]): Promise<Keeping>;
  planReject(kept: readonly Shelved[]): Promise<Plan>;
  /** Takes things away, and never suggests them again. */
  reject(kept: readonly Shelved[]): Promise<Keeping>;
  planUndo(name: string | null): Promise<Plan>;
  /** Takes back the latest change, of this name or of all. */
  undo(name: string | null): Promise<Keeping>;
  /** Every change that was meant, made or dropped. */
  changes(): Promise<KeptChange[]>;
}

interface OwnOptions {
  only?: ReadonlySet<string>;
  now?: number;
  asked?: ReadonlySet<string>;
}

export function skillVerbs(parts: Parts, verbs: GapVerbs & ShowingVerbs): SkillVerbs {
  const { home, store, clock, checkouts, publishing, refuses } = parts;
  const looking = { ...publishing, redactor: lightly };
  const growing = { library: parts.stock.catalog, refuses };
  const ownOf = (options?: OwnOptions) =>
    planOwn(publishing, { now: clock.now(), asked: new Set(), refuses, ...options });
  const byPerson = (plan: () => Promise<Plan>, decided: Parameters<typeof perform>[3] = () => []) =>
    perform(publishing, plan, "person", decided);
  /** What is refused or taken back in one project is not told in the others. */
  const thenPromote = async (keeping: Promise<Keeping>) => {
    const kept = await keeping;
    await promoteDue(publishing);
    return kept;
  };
  return {
    suggest: async (options) => {
      const here = (await checkouts.of(process.cwd()))?.root ?? null;
      // A project whose settings cannot be read is passed over; the others are not its concern.
      const readable = here !== null && whyNotLearn(home, here, here) === null;
      const most = options?.most ?? settingsFor(home, readable ? here : null).suggestions;
      return suggest(looking, { now: clock.now(), refuses, ...options, most });
    },
    plan: (instinct, choice) => plan(publishing, instinct, choice),
    keep: (instinct, choice) => keep(publishing, instinct, choice),
    planOwn: ownOf,
    publishOwn: async ({ sessions = [], until = () => false, ...options } = {}) => {
      // First what lessons have grown into together: those need no drafts of their own.
      const outcomes = await evolveOwn(publishing, growing);
      for (const { instinct, choice } of await ownOf(options)) {
        const keeping = await keep(publishing, instinct, choice);
        if (keeping.kept) outcomes.push(...keeping.outcomes);
      }
      outcomes.push(...(await verbs.advanceGaps({ sessions, until })).outcomes);
      await verbs.probation();
      return outcomes.filter(({ done, already }) => done && !already);
    },
    evolutions: (options) => evolutions(looking, { ...growing, ...options }),
    evolve: (options) => evolve(publishing, { ...growing, ...options }),
    shelf: () => shelf(publishing),
    planAccept: (drafts, reach) => planAccepts(publishing, drafts, reach),
    accept: (drafts, reach) =>
      byPerson(
        () => planAccepts(publishing, drafts, reach),
        () => idsOf(drafts).map((id) => decidedOn(id, "accepted", clock.now(), reach === "everywhere")),
      ),
    planAdopt: (edited) => planAdopt(publishing, edited),
    adopt: (edited) => byPerson(() => planAdopt(publishing, edited)),
    planReject: (kept) => planRemoval(publishing, kept),
    reject: (kept) =>
      thenPromote(
        byPerson(
          () => planRemoval(publishing, kept),
          () => idsOf(kept).map((id) => decidedOn(id, "rejected", clock.now())),
        ),
      ),
    planUndo: (name) => planTakeBack(publishing, name),
    undo: (name) =>
      thenPromote(
        byPerson(
          () => planTakeBack(publishing, name),
          (steps) => decidedByUndo(steps, clock.now()),
        ),
      ),
    changes: () => store.learning.changes.list(),
  };
}

function idsOf(kept: readonly Kept[]): string[] {
  return [...new Set(kept.map(({ instinct }) => instinct))];
}

/** For what is only shown, of what was scrubbed when it was read: the patterns alone, without waiting for secretlint. */
const lightly: Redactor = {
  scrub: async (fields) => fields.map(({ text }) => redact(text)),
  close: async () => {},
};
