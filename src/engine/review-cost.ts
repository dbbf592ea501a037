import type { Prospect, Window } from "../core/nudge.ts";
import { policy as defaults } from "../core/policy.ts";
import type { Dossier } from "../core/review.ts";
import { gateInquiry } from "../core/review-gate.ts";
import { reviewInquiry } from "../core/reviewer.ts";
import { type AskDeps, mostUsd } from "./ask.ts";
import { dossierFor, type Ground, type GroundDeps, groundOf, ruledIn } from "./review-ground.ts";

/** Who is asked in a review, and for how much. */
export interface Askable extends Pick<AskDeps, "model" | "price"> {
  /** Who is asked first whether there is anything to review; null where a person wants nobody asked. */
  readonly gate: Pick<AskDeps, "model" | "price"> | null;
}

/** What a review of a window would meet: set aside is what the gate costs and, since that alone is no use, one look of the reviewer. */
export async function prospectOf(
  deps: GroundDeps & Askable,
  project: string,
  window: Window,
): Promise<Prospect> {
  const ground = await groundOf(deps, project, window);
  if (typeof ground === "string") return { unread: ground, least: 0, call: 0 };
  const ruled = await ruledIn(deps, ground);
  if ("skip" in ruled) return { unread: null, least: 0, call: 0 };
  const dossier = await dossierFor(deps, project, window, ground, ruled.leads);
  return sumOf(callsFor(deps, dossier, ground));
}

/** The same without looking at anything: what no review is cheaper than. */
export function prospectAtLeast(deps: Askable): Prospect {
  return sumOf(callsFor(deps, noEvents, { work: [], baseline: null }));
}

const noEvents: Dossier = {
  scope: { kind: "foreground", project: "", sessions: [], startedAt: null, finishedAt: null },
  ...{ leads: [], signals: [], timeline: [], included: [], omitted: [], skills: [], whole: true },
};

/** What calls come to. */
export function sumOf(calls: readonly { readonly usd: number }[]): Prospect {
  const each = calls.map(({ usd }) => usd);
  return { unread: null, least: each.reduce((sum, usd) => sum + usd, 0), call: Math.max(0, ...each) };
}

/**
 * What a review may cost beyond its first looks. Each further one has all of the first, what was asked for before and
 * what is asked for now; and the gate puts its own words in, and any skill's text and files where no signal binds it.
 */
export function furtherUsd(dossier: Dossier, price: AskDeps["price"]): number {
  const { expansions, expanded, outputTokens: maxOutputTokens, ...review } = defaults.review;
  const { pathChars } = defaults.protocol;
  const { shown: _, ...inquiry } = reviewInquiry(dossier, { more: new Map(), left: expansions });
  const usdWith = (chars: number) =>
    mostUsd({ ...inquiry, prompt: inquiry.prompt + " ".repeat(chars), maxOutputTokens }, price);
  const isBound = dossier.signals.length > 0;
  const text = isBound ? 0 : review.textChars + Math.floor(review.chars * review.shares.files);
  const gated = text + review.hintChars + review.whyChars;
  // An event has its words, its tool, and what stands around them.
  const event = review.expandedChars + review.toolChars + review.spanChars;
  // A file has its words and its name, twice, and takes an event's place.
  const file = review.expandedFileChars + 3 * review.nameChars + 2 * pathChars + review.spanChars;
  const files = isBound && dossier.skills.every((one) => one.files.length === 0) ? 0 : review.expandedFiles;
  const look = (expanded - files) * event + files * file;
  const looks = Array.from({ length: expansions }, (_, n) => usdWith(gated + (n + 1) * look));
  return looks.reduce((sum, usd) => sum + usd, usdWith(gated) - usdWith(0));
}

/** What agents' programs may cost in a review beyond what is reckoned: the gate once, the reviewer at each look. */
export function agentsUsd({ gate, model }: Askable): number {
  const asked = [gate?.model, ...Array<AskDeps["model"]>(1 + defaults.review.expansions).fill(model)];
  return asked.filter((one) => one?.isAgent).length * defaults.model.agentUsd;
}

/** What a review sends if the reviewer asks for nothing more: to the gate, and to the reviewer. */
export function callsFor(deps: Askable, dossier: Dossier, ground: Pick<Ground, "work" | "baseline">) {
  const { shown: _, ...first } = gateInquiry(dossier, ground);
  const { gateTokens, outputTokens, expansions } = defaults.review;
  const { shown: __, ...second } = reviewInquiry(dossier, { more: new Map(), left: expansions });
  const all = [
    ...(deps.gate ? [{ ...first, maxOutputTokens: gateTokens, ...deps.gate }] : []),
    { ...second, maxOutputTokens: outputTokens, model: deps.model, price: deps.price },
  ];
  return all.map(({ price, model, ...inquiry }) => ({
    ...{ model: model.name, system: inquiry.system, prompt: inquiry.prompt },
    usd: mostUsd(inquiry, price),
  }));
}
