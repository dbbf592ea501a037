import { placeOf } from "../core/dossier.ts";
import { numberOf } from "../core/event.ts";
import { redact } from "../core/redact.ts";
import type { Dossier, ListedFile, OmittedSpan } from "../core/review.ts";
import { counted, onLines, onOneLine, type Paint } from "./terminal.ts";

/** Everything that a reviewer would be given, for a person to read. */
export function tellDossier(dossier: Dossier, paint: Paint): string[] {
  const { scope, leads, skills, included, whole } = dossier;
  return [
    paint.bold(`What a review of ${onOneLine(redact(scope.project), 60)} would be given`),
    `From ${scope.startedAt ?? "no known time"} to ${scope.finishedAt ?? "no known time"}; ${
      whole ? "all of it" : `${counted(included.length, "event")} in full, the rest as counts`
    }.`,
    ...scope.sessions.map(
      ({ name, run, from, to }) => `  ${name}  session ${onOneLine(run, 60)}, ${from} to ${to}`,
    ),
    "",
    paint.bold("What it may come to"),
    ...leads.map((one) => {
      const what = one.do === "create" ? `new: ${one.hint}` : `a change of ${one.skill}`;
      return `  ${onOneLine(what, 100)}  (${one.refs.join(" ")})\n    ${onOneLine(redact(one.why), 300)}`;
    }),
    "",
    paint.bold("What happened"),
    ...eventLines(dossier, paint),
    "",
    paint.bold("Skills that exist"),
    ...skills.flatMap(({ name, owner, description, text, files }) => [
      `  ${onOneLine(name, 64)} (${owner}${text === null ? "" : ", in full"}): ${onOneLine(redact(description), 160)}`,
      ...(text === null ? [] : indented(text)),
      ...(files.length === 0 ? [] : [`      To be shown if asked for: ${pathsOf(files)}`]),
    ]),
    ...(skills.length === 0 ? ["  none"] : []),
    "",
  ];
}

function pathsOf(files: readonly ListedFile[]): string {
  return files.map(({ path }) => onOneLine(redact(path), 120)).join(", ");
}

/** What is told and what is left out, in the order in which it happened. */
function eventLines({ included, omitted, timeline }: Dossier, paint: Paint): string[] {
  const known = new Map(timeline.map((entry) => [entry.id, entry]));
  const told = included.map(({ id, reason, detail }) => {
    const { kind, tool, outcome } = known.get(id) ?? { kind: "", tool: null, outcome: null };
    const head = [id, tool ?? kind, outcome === null || outcome === "ok" ? "" : outcome].filter(
      (word) => word !== "",
    );
    return {
      at: orderOf(id),
      lines: [`  ${head.join(" ")} ${paint.dim(`(${reason})`)}`, ...indented(detail)],
    };
  });
  const left = omitted.map((span) => ({
    at: orderOf(span.range[0]),
    lines: [paint.dim(`  ${omission(span)}`)],
  }));
  return [...told, ...left].sort((a, b) => a.at - b.at).flatMap(({ lines }) => lines);
}

function omission({ range: [from, to], count, summary }: OmittedSpan): string {
  return `… ${from === to ? from : `${from} to ${to}`}, ${counted(count, "event")} left out: ${onOneLine(summary, 160)}`;
}

function indented(text: string): string[] {
  return onLines(redact(text)).map((line) => `      ${line}`);
}

/** Room for the events of one session between two of a dossier's. */
const perSession = 2 ** 24;

function orderOf(id: string): number {
  const place = placeOf(id);
  return place === null ? Number.POSITIVE_INFINITY : place.stretch * perSession + numberOf(place.ref);
}
