import type { Knack } from "../open.ts";
import type { Html } from "./html.ts";

/** One look at one page: what was asked for, and whom to ask. */
export interface Visit {
  readonly knack: Knack;
  readonly desk: Desk;
  readonly now: number;
  /** The part of the path that names one thing; empty for pages that are about many. */
  readonly id: string;
  /** A value of the address after the question mark; empty where there is none. */
  readonly query: (name: string) => string;
}

/** What all pages share while one Knack is open. */
export interface Desk {
  /** How the person calls Knack. */
  readonly command: string;
  /** No change is offered, and none is made. */
  readonly readOnly: boolean;
  /** A page for a file: nothing in it leads back here. */
  readonly isExport: boolean;
  /** The secret that every form of this process has. */
  readonly formSecret: string;
  /** A path with `~` for the home folder. */
  readonly shorten: (path: string) => string;
  /** Computes something once for as long as nothing in the database changes. */
  readonly once: <Value>(key: string, compute: () => Promise<Value>) => Promise<Value>;
  readonly health: HealthPort;
  /** Replays the person's history, once for as long as the page is open. */
  readonly replay: () => Promise<Replay>;
}

/** What \`knack backtest --json\` says, as far as a page shows it. */
export interface Replay {
  /** It replayed the bundled examples, because the person has no history. */
  readonly examples?: true;
  readonly sessions: number;
  readonly prompts: number;
  readonly failures: number;
  readonly repeats: number;
  readonly answered: number;
  readonly answeredBefore: number;
  readonly wrong: number;
  readonly wrongPer100: number;
  readonly savedCalls: number;
  readonly savedMinutes: number;
  readonly replayed: readonly {
    readonly session: string;
    readonly prompts: number;
    readonly failures: number;
  }[];
  readonly hits: readonly (ReplayAnswer & {
    readonly solvedBy: string | null;
    readonly savedCalls: number;
  })[];
  readonly wrongs: readonly (ReplayAnswer & {
    readonly verdict: "useless" | "wrong";
    readonly because: string;
  })[];
  readonly unanswered: readonly ReplayMoment[];
}

interface ReplaySpot {
  readonly session: string;
  readonly at: string | null;
  readonly key: string;
}

export interface ReplayMoment extends ReplaySpot {
  readonly met: string;
  readonly error: string | null;
}

interface ReplayAnswer extends ReplayMoment {
  readonly occasion: string;
  readonly lesson: string;
  readonly learnedFrom: ReplaySpot;
}

/** What `knack doctor` finds, and the repairs that it makes with --fix. */
export interface HealthPort {
  /** The checks, and the repairs that would be made. */
  readonly look: () => Promise<{
    readonly checks: readonly HealthCheck[];
    readonly planned: readonly string[];
  }>;
  readonly repair: () => Promise<{ readonly done: readonly string[]; readonly failed: readonly string[] }>;
}

interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  readonly repair: string | null;
}

export interface RenderedPage {
  readonly title: string;
  readonly body: Html;
}

/** A page: what it reads, and how that looks. */
export interface Page {
  /** Where it is; a path that ends in `/:id` is about one thing. */
  readonly path: string;
  /** Reads and renders it; null where there is no such thing. */
  readonly show: (visit: Visit) => Promise<RenderedPage | null>;
}

/** Joins the two halves of a page: the model that is read, and how it is drawn. */
export function definePage<Model>(page: {
  readonly path: string;
  readonly read: (visit: Visit) => Promise<Model | null>;
  readonly draw: (model: Model, visit: Visit) => RenderedPage;
}): Page {
  return {
    path: page.path,
    show: async (visit) => {
      const model = await page.read(visit);
      return model === null ? null : page.draw(model, visit);
    },
  };
}
