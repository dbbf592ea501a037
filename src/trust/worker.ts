import { parentPort } from "node:worker_threads";
import { createRedactor, type TextField } from "./redactor.ts";

export interface ScrubRequest {
  readonly id: number;
  readonly fields: readonly TextField[];
}

export interface ScrubAnswer {
  readonly id: number;
  /** The texts that changed, by index. */
  readonly changed: readonly (readonly [number, string])[];
}

const redactor = createRedactor();

parentPort?.on("message", async ({ id, fields }: ScrubRequest) => {
  const texts = await redactor.scrub(fields);
  const changed = texts.flatMap((text, at) => (text === fields[at]?.text ? [] : [[at, text] as const]));
  parentPort?.postMessage({ id, changed } satisfies ScrubAnswer);
});
