import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonLines } from "../../helpers/knack.ts";

/*
 * Sets written by somebody who saw neither the patterns nor the rules. Every long run of characters in them is cut by
 * marks, so that the repository holds nothing that a secret scanner would report.
 */

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
export const plantedSecrets: readonly PlantedSecret[] = [
  ...load<PlantedSecret>("secrets.jsonl"),
  ...load<PlantedSecret>("more-secrets.jsonl"),
];
export const plantedLookalikes: readonly Lookalike[] = [
  ...load<Lookalike>("lookalikes.jsonl"),
  ...load<Lookalike>("more-lookalikes.jsonl"),
];
export const plantedPackages: readonly PlantedPackage[] = load("packages.jsonl");

export function listEvents(planted: Planted): readonly PlantedEvent[] {
  return "events" in planted ? planted.events : [planted];
}

function load<Value>(name: string): Value[] {
  return jsonLines<Value>(readFileSync(join(import.meta.dirname, name), "utf8").replaceAll("¦", ""));
}
