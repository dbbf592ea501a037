import { bandOf, promotableIn } from "../core/band.ts";
import { type Domain, domainOf, domains } from "../core/domain.ts";
import { KnackError } from "../core/errors.ts";
import { type Instinct, type InstinctStatus, standingAt } from "../core/instinct.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { InstinctEvidence } from "../engine/evidence.ts";
import type { Knack } from "../open.ts";
import { decideImport, listImported, restore } from "./decide-instincts.ts";
import { judgedOnWire } from "./judged.ts";
import { instinctOnWire } from "./learned-on-wire.ts";
import { defineVerb, type Env } from "./main.ts";
import { named } from "./named.ts";
import { withKnack } from "./opening.ts";
import { oneOf } from "./selection.ts";
import { calledAs, day, iso, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";

const statuses: readonly InstinctStatus[] = [
  "pending",
  "active",
  "conflict-hold",
  "promoted",
  "superseded",
  "rejected",
  "retired",
];

export const instincts = defineVerb({
  about: "What Knack noticed, how sure it is, and why.",
  args: {
    words: {
      type: "positional",
      required: false,
      description:
        "show <id>: everything about one; restore <id>: let a retired one wait again; accept <id>, reject <id>: what was imported",
    },
    imported: { type: "boolean", description: "what came from elsewhere and waits for your yes" },
    domain: { type: "string", description: `only lessons about this: ${domains.join(", ")}` },
    project: { type: "string", description: "only projects whose name or id contains this" },
    status: { type: "string", description: `only these: ${statuses.join(", ")}` },
    all: { type: "boolean", description: "also what is retired, superseded or refused" },
    dropped: { type: "boolean", description: "what a model judged not to be worth keeping, and why" },
    "dry-run": { type: "boolean", description: "with restore, accept and reject: note nothing" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env }) => {
    if (args.dropped) return withKnack(env, {}, (knack) => listDropped(knack, args.json === true));
    const [action, id, ...more] = args._;
    const deciding = { json: args.json === true, dryRun: args["dry-run"] === true };
    if (action === "restore" && id && more.length === 0) return restore(id, deciding, env);
    if ((action === "accept" || action === "reject") && id && more.length === 0)
      return decideImport(id, action === "accept" ? "accepted" : "rejected", deciding, env);
    if (action === undefined && args.imported) return listImported(args.all === true, deciding.json, env);
    if (action === "show" && id && more.length === 0)
      return withKnack(env, {}, (knack) => show(knack, id, args.json === true, env));
    if (action !== undefined)
      throw new KnackError("WRONG_USAGE", `knack instincts takes no "${args._.join(" ")}".`, {
        hint: "knack instincts, or knack instincts show|restore|accept|reject <id>",
      });
    const status = statuses.find((one) => one === args.status);
    if (args.status !== undefined && !status)
      throw new KnackError("WRONG_USAGE", `There is no status "${args.status}".`, {
        hint: `Known: ${statuses.join(", ")}`,
      });
    return withKnack(env, {}, (knack) =>
      list(
        knack,
        {
          status,
          project: args.project,
          domain: oneOf("domain", args.domain, domains),
          all: args.all === true,
          json: args.json === true,
        },
        env,
      ),
    );
  },
});

/** What models thought was not worth keeping, and where none could be asked. */
async function listDropped(knack: Knack, json: boolean): Promise<number> {
  const told = judgedOnWire(await knack.judged(), (session) => session);
  if (json) {
    printJson(told);
    return 0;
  }
  printLines([
    ...(told.dropped.length > 0 ? [] : ["No model has dropped anything."]),
    ...told.dropped.flatMap(({ session, kind, lesson, because }) => [
      `${kind}: ${onOneLine(lesson, 200)}`,
      `  ${onOneLine(because, 200)}  (${onOneLine(session, 200)})`,
    ]),
  ]);
  return 0;
}

interface Filter {
  readonly status: InstinctStatus | undefined;
  readonly project: string | undefined;
  readonly domain: Domain | null;
  readonly all: boolean;
  readonly json: boolean;
}

const past: readonly InstinctStatus[] = ["retired", "superseded", "rejected"];

async function list(knack: Knack, filter: Filter, env: Env): Promise<number> {
  const now = Date.now();
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  const every = await knack.instincts();
  const part = filter.project?.toLowerCase();
  const meant = every.filter((instinct) => {
    const { project, standing } = instinct;
    const { status } = standingAt(standing, now);
    return (
      (filter.domain === null || domainOf(instinct) === filter.domain) &&
      (filter.status === undefined ? filter.all || !past.includes(status) : status === filter.status) &&
      (part === undefined || `${names.get(project) ?? ""}\n${project}`.toLowerCase().includes(part))
    );
  });
  if (filter.json) {
    const promotable = promotableIn(await knack.sharedLessons());
    printJson({ instincts: meant.map((instinct) => fullyOnWire(instinct, now, promotable)) });
    return 0;
  }
  const paint = paintFor(process.stdout, env);
  const [head = "", ...rows] = table([
    ["id", "status", "sure", "sessions", "last", "for", "lesson"],
    ...meant.map((instinct) => row(instinct, names, now)),
  ]);
  const hidden = every.length - meant.length;
  printLines([
    ...(meant.length > 0
      ? [paint.dim(head), ...rows]
      : ["Nothing was noticed yet, or nothing that is meant."]),
    ...(hidden > 0
      ? ["", `${several(hidden, "more")} with --all or other filters.`.replace("mores", "more")]
      : []),
    ...(meant.length > 0 ? ["", `Why: ${calledAs(env)} instincts show <id>`] : []),
  ]);
  return 0;
}

function row(
  { id, scope, project, lesson, standing }: Instinct,
  names: ReadonlyMap<string, string>,
  now: number,
) {
  const { status, confidence } = standingAt(standing, now);
  return [
    id,
    status,
    confidence.toFixed(2),
    String(standing.sessions),
    day(standing.lastAt),
    scope === "user" ? "you" : onOneLine(redact(names.get(project) ?? project), 24),
    onOneLine(redact(lesson), 80),
  ];
}

async function show(knack: Knack, word: string, json: boolean, env: Env): Promise<number> {
  const { instinct, kept } = await named(knack, word);
  if (!instinct) throw new KnackError("UNKNOWN_NAME", `No instinct is called "${word}".`);
  const evidence = await knack.evidence(instinct);
  if (json) {
    const promotable = promotableIn([await knack.sharedBy(instinct)]);
    printJson({ instinct: fullyOnWire(instinct, Date.now(), promotable), ...evidenceOnWire(evidence) });
    return 0;
  }
  const paint = paintFor(process.stdout, env);
  const { status, confidence } = standingAt(instinct.standing, Date.now());
  const all = new Map((await knack.instincts()).map((one) => [one.id, one]));
  printLines([
    `${paint.bold(instinct.name)}  ${paint.dim(`${instinct.id}, ${instinct.artifact}`)}`,
    `  ${onOneLine(redact(instinct.lesson), 400)}`,
    `  when: ${onOneLine(redact(instinct.trigger), 200)}`,
    `  then: ${onOneLine(redact(instinct.action), 200)}`,
    `  ${status}, ${confidence.toFixed(2)} sure, ${several(instinct.standing.sessions, "session")}, ${day(instinct.standing.firstAt)} to ${day(instinct.standing.lastAt)}`,
    ...kept.map(({ name, path, state }) => `  kept as ${name} (${state}): ${path}`),
    ...evidenceLines(evidence, all),
  ]);
  return 0;
}

/** An instinct with the band it is in and what it is about. */
function fullyOnWire(instinct: Instinct, now: number, promotable: ReadonlySet<string>) {
  return {
    ...instinctOnWire(instinct, now),
    band: bandOf(instinct, { now, promotable }),
    domain: domainOf(instinct),
    promotedAs: instinct.standing.promotion?.lesson ?? null,
  };
}

/** What speaks for and against an instinct, for a person to read. */
export function evidenceLines(evidence: InstinctEvidence, all?: ReadonlyMap<string, Instinct>): string[] {
  const { findings, against, uses, decisions } = evidence;
  const some = (title: string, lines: readonly string[]) => (lines.length > 0 ? [title, ...lines] : []);
  return [
    ...some(
      "For it:",
      findings.flatMap(({ finding, session, at: when }) => {
        const { failed, error, worked, said, replied } = finding.excerpt;
        const told = { failed, error, worked, said, replied };
        return [
          `  ${day(when)}  ${onOneLine(session, 200)}  ${finding.refs.join(" ")}  (${finding.confidence.toFixed(2)} sure)`,
          ...Object.entries(told).flatMap(([label, text]) =>
            text === null ? [] : [`    ${label}: ${onOneLine(redact(text), 200)}`],
          ),
        ];
      }),
    ),
    ...some(
      "Against it:",
      against.map(
        ({ instinct, run, at: when }) =>
          `  ${day(when)}  session ${onOneLine(run, 40)}: ${onOneLine(redact(all?.get(instinct)?.lesson ?? instinct), 200)} (${instinct})`,
      ),
    ),
    ...some(
      "Its advice in later sessions:",
      uses.map(
        ({ run, at: when, ok, failed }) =>
          `  ${day(when)}  session ${onOneLine(run, 40)}: ${ok} ok, ${failed} failed`,
      ),
    ),
    ...(["person", "knack"] as const).flatMap((who) =>
      some(
        who === "person" ? "Decided by you:" : "Decided by Knack:",
        decisions.flatMap(({ at: when, decision, actor }) =>
          (actor === "person") === (who === "person") ? `  ${day(when)}  ${decision}` : [],
        ),
      ),
    ),
  ];
}

/** The same for a program. */
export function evidenceOnWire({ findings, against, uses, decisions }: InstinctEvidence) {
  return {
    findings: findings.map(({ id, session, at: when, finding }) => ({
      id,
      kind: finding.kind,
      session,
      at: iso(when || null),
      refs: finding.refs,
      events: finding.keys,
      confidence: finding.confidence,
      excerpt: Object.fromEntries(
        Object.entries(finding.excerpt).map(([key, text]) => [key, text === null ? null : redact(text)]),
      ),
    })),
    against: against.map(({ instinct, run, at: when }) => ({ instinct, run, at: iso(when || null) })),
    uses: uses.map((use) => ({ ...use, at: iso(use.at || null) })),
    decisions: decisions.map(({ at: when, decision, actor }) => ({ at: iso(when || null), decision, actor })),
  };
}
