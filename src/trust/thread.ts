import { Worker } from "node:worker_threads";
import { createRedactor, type Redactor, type TextField } from "./redactor.ts";
import type { ScrubAnswer, ScrubRequest } from "./worker.ts";

/** Fewer characters are redacted inline: not worth the copy to the thread and back. */
const threadChars = 1 << 17;

interface PendingScrub {
  readonly fields: readonly TextField[];
  readonly done: (texts: string[]) => void;
}

/**
 * Redacts large texts on a worker thread and small ones inline. The thread starts on first use and does not keep the
 * process alive when idle; if it fails, everything is redacted inline.
 */
export function createThreadRedactor(script: URL): Redactor {
  const inline = createRedactor();
  const waiting = new Map<number, PendingScrub>();
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
    started.on("message", ({ id, changed }: ScrubAnswer) => {
      const request = waiting.get(id);
      waiting.delete(id);
      const texts = new Map(changed);
      request?.done(request.fields.map(({ text }, at) => texts.get(at) ?? text));
    });
    started.on("error", takeOver);
    started.on("exit", takeOver);
    return started;
  };

  return {
    scrub: (fields) => {
      const size = fields.reduce((sum, { text }) => sum + text.length, 0);
      if (failed || size < threadChars) return inline.scrub(fields);
      worker ??= start();
      const id = ++last;
      const answer = new Promise<string[]>((done) => waiting.set(id, { fields, done }));
      worker.ref();
      worker.postMessage({ id, fields } satisfies ScrubRequest);
      return answer.finally(() => waiting.size === 0 && worker?.unref());
    },
    close: async () => {
      await worker?.terminate();
    },
  };
}
