import { placeOf } from "../core/dossier.ts";
import { numberOf } from "../core/event.ts";
import { redact } from "../core/redact.ts";
import type { Dossier, Lead, OmittedSpan, ReviewedSkill, TimelineEntry } from "../core/review.ts";
import type { Signal } from "../core/signal.ts";
import { several } from "../core/words.ts";
import { onLines, onOneLine, type Paint } from "./terminal.ts";

/** Everything that a reviewer would be given, for a person to read: nothing is left out, and nothing cut. */
export function tellDossier(dossier: Dossier, paint: Paint): string[] {
  const { scope, leads, signals, skills, included, whole } = dossier;
  const part = (title: string, lines: readonly string[]) => [
    paint.bold(title),
    ...(lines.length > 0 ? lines : ["  none"]),
    "",
  ];
  return [
    paint.bold(`What a review of ${all(scope.project)} would be given`),
    `From ${scope.startedAt ?? "no known time"} to ${scope.finishedAt ?? "no known time"}; ${
      whole ? "all of it" : `${several(included.length, "event")} in full, the rest as counts`
    }.`,
    ...scope.sessions.map(({ name, run, from, to }) => `  ${name}  session ${all(run)}, ${from} to ${to}`),
    "",
    ...part("What it may come to", leads.flatMap(leadLines)),
    ...part("Signals", signals.flatMap(signalLines)),
    ...part("What happened", eventLines(dossier, paint)),
    ...part("Skills that exist", skills.flatMap(skillLines)),
  ];
}

/** Text from elsewhere on one line, however long. */
function all(text: string): string {
  return onOneLine(redact(text), Number.POSITIVE_INFINITY);
}

function leadLines(lead: Lead): string[] {
  const what = lead.do === "create" ? `new: ${lead.hint}` : `a change of ${lead.skill}`;
  return [`  ${all(what)}  (${lead.refs.join(" ")})`, `    ${all(lead.why)}`];
}

function signalLines(signal: Signal): string[] {
  const { kind, deferred, refs } = signal;
  const [what, codes, words] =
    kind === "create"
      ? [`new: ${signal.nameHint}`, [signal.trigger, deferred], signal.summary]
      : [`wrong: ${signal.skill}`, [signal.issue, signal.effect, deferred], signal.hint];
  return [`  ${all(what)}, ${codes.join(", ")}  (${refs.join(" ")})`, `    ${all(words)}`];
}

function skillLines({ name, owner, draft, description, text, files }: ReviewedSkill): string[] {
  const marks = [owner, ...(draft ? ["draft"] : []), ...(text === null ? [] : ["in full"])].join(", ");
  const paths = files.map(({ path, characters }) => `${all(path)} (${several(characters, "character")})`);
  return [
    `  ${all(name)} (${marks}): ${all(description)}`,
    ...(text === null ? [] : indented(text)),
    ...(paths.length === 0 ? [] : [`      To be shown if asked for: ${paths.join(", ")}`]),
  ];
}

/** What is told, what is only named and what is left out, in the order in which it happened. */
function eventLines({ included, omitted, timeline }: Dossier, paint: Paint): string[] {
  const told = new Map(included.map((event) => [event.id, event]));
  const named = timeline.map((entry) => {
    const event = told.get(entry.id);
    return {
      at: orderOf(entry.id),
      lines: [
        `  ${headOf(entry)} ${paint.dim(`(${event?.reason ?? "named only"})`)}`,
        ...(event === undefined ? [] : indented(event.detail)),
      ],
    };
  });
  const left = omitted.map((span) => ({
    at: orderOf(span.range[0]),
    lines: [paint.dim(`  ${omission(span)}`)],
  }));
  // What is left out is told before those of it that are named.
  return [...left, ...named].sort((a, b) => a.at - b.at).flatMap(({ lines }) => lines);
}

function headOf({ id, kind, tool, outcome }: TimelineEntry): string {
  const came = outcome === null || outcome === "ok" ? [] : [outcome];
  return [id, all(tool ?? kind), ...came].join(" ");
}

function omission({ range: [from, to], count, summary }: OmittedSpan): string {
  return `… ${from === to ? from : `${from} to ${to}`}, ${several(count, "event")} left out: ${all(summary)}`;
}

function indented(text: string): string[] {
  return onLines(redact(text), Number.POSITIVE_INFINITY).map((line) => `      ${line}`);
}

/** Room for the events of one session between two of a dossier's. */
const perSession = 2 ** 24;

function orderOf(id: string): number {
  const place = placeOf(id);
  return place === null ? Number.POSITIVE_INFINITY : place.stretch * perSession + numberOf(place.ref);
}
