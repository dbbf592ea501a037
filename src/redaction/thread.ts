import { Worker } from "node:worker_threads";
import type { Field, Redactor } from "../engine/ports.ts";
import { createRedactor } from "./secretlint.ts";
import type { Answer, Request } from "./worker.ts";

/** Characters from which on a text is worth the way to a thread and back. */
const worthwhile = 1 << 17;

interface Waiting {
  readonly fields: readonly Field[];
  readonly done: (texts: string[]) => void;
}

/**
 * A redactor that scrubs much text on a thread of its own, so that reading goes on meanwhile, and little text itself.
 * The thread starts when it is first needed; when it fails, everything is scrubbed here, because no secret may depend
 * on a thread's health. It never keeps the process alive once nothing is asked of it.
 */
export function createThreadRedactor(script: URL): Redactor {
  const inline = createRedactor();
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let failed = false;
  let last = 0;

  const takeOver = (): void => {
    failed = true;
    for (const { fields, done } of waiting.values()) void inline.scrub(fields).then(done);
    waiting.clear();
  };

  const start = (): Worker => {
    const started = new Worker(script);
    started.unref();
    started.on("message", ({ id, changed }: Answer) => {
      const request = waiting.get(id);
      waiting.delete(id);
      request?.done(withChanges(request.fields, changed));
    });
    started.on("error", takeOver);
    started.on("exit", takeOver);
    return started;
  };

  return {
    scrub: (fields) => {
      const size = fields.reduce((sum, { text }) => sum + text.length, 0);
      if (failed || size < worthwhile) return inline.scrub(fields);
      worker ??= start();
      const id = ++last;
      const answer = new Promise<string[]>((done) => waiting.set(id, { fields, done }));
      worker.ref();
      worker.postMessage({ id, fields } satisfies Request);
      return answer.finally(() => waiting.size === 0 && worker?.unref());
    },
    close: async () => {
      await worker?.terminate();
    },
  };
}

function withChanges(fields: readonly Field[], changed: Answer["changed"]): string[] {
  const texts = fields.map(({ text }) => text);
  for (const [at, text] of changed) texts[at] = text;
  return texts;
}
