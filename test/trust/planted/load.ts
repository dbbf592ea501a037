import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { jsonLines } from "../../helpers/knack.ts";

/*
 * Sets written by somebody who saw neither the patterns nor the rules. Every long run of characters in them is cut by
 * marks, so that the repository holds nothing that a secret scanner would report. KNACK_SET names a folder with another
 * set to measure instead, as `npm run quality` describes it.
 */

const set = process.env.KNACK_SET ?? "";

/** Something said or done in a session. */
export interface PlantedEvent {
  readonly where: "prompt" | "reply" | "command" | "output" | "file-read" | "edit" | "hook";
  readonly text: string;
}

/** One event, or all of a short session. */
type Planted = PlantedEvent | { readonly events: readonly PlantedEvent[] };

export type PlantedSecret = Planted & {
  readonly id: number;
  readonly class: string;
  readonly kind: string;
  /** None of these may be left. */
  readonly secret: readonly string[];
};

export type Lookalike = Planted & {
  readonly id: number;
  readonly class?: string;
  readonly kind: string;
  /** All of these must be left. */
  readonly keep: readonly string[];
};

/** A malicious package, and why it is one. */
export interface PlantedPackage {
  readonly id: string;
  readonly reason: string;
  /** Reasons that hold as well. */
  readonly also: readonly string[];
  readonly note: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Of two authors; of the second every third case, which keeps the suite short. */
export const plantedSecrets: readonly PlantedSecret[] = set
  ? readSet("secrets.jsonl").map((one, at) => ({ ...toSession(one, at), secret: [one.secret ?? []].flat() }))
  : [...load<PlantedSecret>("secrets.jsonl"), ...load<PlantedSecret>("more-secrets.jsonl")];
export const plantedLookalikes: readonly Lookalike[] = set
  ? readSet("lookalikes.jsonl").map((one, at) => ({ ...toSession(one, at), keep: [one.text ?? ""] }))
  : [...load<Lookalike>("lookalikes.jsonl"), ...load<Lookalike>("more-lookalikes.jsonl")];
export const plantedPackages: readonly PlantedPackage[] = set
  ? readSet("packages.jsonl").map(({ id, reason = "", words = "", also = [] }) => ({
      ...{ id, reason, also: also.map((other) => other.reason), note: words },
      files: readFolder(join(set, "packages", id)),
    }))
  : load("packages.jsonl");

/** Innocent packages of a set; the repository has none, because public skills are measured instead. */
export const benignPackages: readonly Pick<PlantedPackage, "id" | "files">[] = set
  ? readdirSync(join(set, "benign"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name: id }) => ({ id, files: readFolder(join(set, "benign", id)) }))
  : [];

export function listEvents(planted: Planted): readonly PlantedEvent[] {
  return "events" in planted ? planted.events : [planted];
}

function load<Value>(name: string): Value[] {
  return jsonLines<Value>(readFileSync(join(import.meta.dirname, name), "utf8").replaceAll("¦", ""));
}

/** A line of a set in a folder. */
interface SetLine {
  readonly id: string;
  readonly class?: string;
  readonly secret?: string | readonly string[];
  readonly text?: string;
  readonly events?: readonly SetEvent[];
  readonly reason?: string;
  readonly words?: string;
  readonly also?: readonly { readonly reason: string }[];
}

type SetEvent =
  | { readonly kind: "prompt" | "reply"; readonly text: string }
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly command?: string;
      readonly input?: object;
      readonly output?: string;
    };

function readSet(name: string): SetLine[] {
  return jsonLines<SetLine>(readFileSync(join(set, name), "utf8"));
}

function toSession({ id, class: kind = "", events = [] }: SetLine, at: number) {
  return { id: at + 1, class: kind, kind: id, events: events.flatMap(toEvents) };
}

function toEvents(event: SetEvent): PlantedEvent[] {
  if (event.kind !== "call") return [{ where: event.kind, text: event.text }];
  const { tool, command, input, output } = event;
  const call: PlantedEvent =
    command === undefined
      ? { where: "hook", text: JSON.stringify({ tool_name: tool, tool_input: input }) }
      : { where: "command", text: command };
  return [call, ...(output === undefined ? [] : [{ where: "output" as const, text: output }])];
}

function readFolder(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const files = paths.filter((path) => statSync(path).isFile());
  return Object.fromEntries(files.map((path) => [relative(folder, path), readFileSync(path, "utf8")]));
}
