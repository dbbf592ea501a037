import { parentPort } from "node:worker_threads";
import type { Field } from "../engine/ports.ts";
import { createRedactor } from "./secretlint.ts";

/** What the thread is asked, and what it answers: only the texts that changed, by their place. */
export interface Request {
  readonly id: number;
  readonly fields: readonly Field[];
}

export interface Answer {
  readonly id: number;
  readonly changed: readonly (readonly [number, string])[];
}

const redactor = createRedactor();

parentPort?.on("message", async ({ id, fields }: Request) => {
  const texts = await redactor.scrub(fields);
  const changed = texts.flatMap((text, at) => (text === fields[at]?.text ? [] : [[at, text] as const]));
  parentPort?.postMessage({ id, changed } satisfies Answer);
});
