import {
  type Dossier,
  type OmittedSpan,
  parseDossierRef,
  type ReviewedSkill,
  type TimelineEntry,
} from "../../../authoring/index.ts";
import { parseRef, type ReviewLead, type Signal } from "../../../records/index.ts";
import { several } from "../../../text/index.ts";
import type { Screen } from "../../screen/screen.ts";
import { oneLine, textLines } from "../../screen/text.ts";

/** Everything that a reviewer would be given, for a person to read: complete, and nothing cut short. */
export function describeDossier(dossier: Dossier, screen: Screen): string[] {
  const { scope, leads, signals, skills, included, whole } = dossier;
  const part = (title: string, lines: readonly string[]) => [
    screen.bold(title),
    ...(lines.length > 0 ? lines : ["  none"]),
    "",
  ];
  return [
    screen.bold(`A review of ${all(scope.project)} would be given this`),
    `From ${scope.startedAt ?? "an unknown time"} to ${scope.finishedAt ?? "an unknown time"}; ${
      whole ? "all events in full" : `${several(included.length, "event")} in full, the rest as counts`
    }.`,
    ...scope.sessions.map(({ name, run, from, to }) => `  ${name}  session ${all(run)}, ${from} to ${to}`),
    "",
    ...part("Possible lessons", leads.flatMap(describeLead)),
    ...part("Signals", signals.flatMap(describeSignal)),
    ...part("What happened", describeEvents(dossier, screen)),
    ...part("Existing skills", skills.flatMap(describeSkill)),
  ];
}

/** Text from elsewhere on one line, however long. */
function all(text: string): string {
  return oneLine(text, Number.POSITIVE_INFINITY);
}

function describeLead(lead: ReviewLead): string[] {
  const what = lead.do === "create" ? `new: ${lead.hint}` : `change ${lead.skill}`;
  return [`  ${all(what)}  (${lead.refs.join(" ")})`, `    ${all(lead.why)}`];
}

function describeSignal(signal: Signal): string[] {
  const { kind, deferred, refs } = signal;
  const [what, codes, words] =
    kind === "create"
      ? [`new: ${signal.nameHint}`, [signal.trigger, deferred], signal.summary]
      : [`wrong: ${signal.skill}`, [signal.issue, signal.effect, deferred], signal.hint];
  return [`  ${all(what)}, ${codes.join(", ")}  (${refs.join(" ")})`, `    ${all(words)}`];
}

function describeSkill({ name, owner, draft, description, text, files }: ReviewedSkill): string[] {
  const marks = [owner, ...(draft ? ["draft"] : []), ...(text === null ? [] : ["in full"])].join(", ");
  const paths = files.map(({ path, characters }) => `${all(path)} (${several(characters, "character")})`);
  return [
    `  ${all(name)} (${marks}): ${all(description)}`,
    ...(text === null ? [] : indentText(text)),
    ...(paths.length === 0 ? [] : [`      Shown to the reviewer on request: ${paths.join(", ")}`]),
  ];
}

/** Events in full, events that are only named, and what is left out, in the order in which they happened. */
function describeEvents({ included, omitted, timeline }: Dossier, screen: Screen): string[] {
  const inFull = new Map(included.map((event) => [event.id, event]));
  const named = timeline.map((entry) => {
    const event = inFull.get(entry.id);
    return {
      at: eventOrder(entry.id),
      lines: [
        `  ${describeHead(entry)} ${screen.dim(`(${event?.reason ?? "named only"})`)}`,
        ...(event === undefined ? [] : indentText(event.detail)),
      ],
    };
  });
  const left = omitted.map((span) => ({
    at: eventOrder(span.range[0]),
    lines: [screen.dim(`  ${describeOmission(span)}`)],
  }));
  // A span that is left out comes before the events in it that are named.
  return [...left, ...named].sort((a, b) => a.at - b.at).flatMap(({ lines }) => lines);
}

function describeHead({ id, kind, tool, outcome }: TimelineEntry): string {
  const came = outcome === null || outcome === "ok" ? [] : [outcome];
  return [id, all(tool ?? kind), ...came].join(" ");
}

function describeOmission({ range: [from, to], count, summary }: OmittedSpan): string {
  return `… ${from === to ? from : `${from} to ${to}`}, ${several(count, "event")} left out: ${all(summary)}`;
}

function indentText(text: string): string[] {
  return textLines(text, "", Number.POSITIVE_INFINITY).map((line) => `      ${line}`);
}

/** More than the events of one session, so that sessions keep their order. */
const perSession = 2 ** 24;

function eventOrder(id: string): number {
  const place = parseDossierRef(id);
  return place === null ? Number.POSITIVE_INFINITY : place.stretch * perSession + parseRef(place.ref);
}
