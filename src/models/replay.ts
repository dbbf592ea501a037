import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestId } from "../core/model.ts";
import type { Model, ModelReply, ModelRequest } from "../engine/ports.ts";
import { noReply, replyIn, unserved } from "./reply.ts";

export interface ReplayOptions {
  /** Where requests are written; null for nowhere. */
  readonly dump: string | null;
  /** Where answers are; null for nowhere. */
  readonly answers: string | null;
  /** Is told the name of each request that was written. */
  readonly onWritten: (id: string) => void;
  /** Who would be asked, and where. */
  readonly instead: Pick<Model, "name" | "to">;
}

/**
 * Requests and answers as files, and nothing sent anywhere: a person sees what would leave the machine, and whoever
 * they like answers. A request is `<id>.request.md`, its answer `<id>.answer.json`.
 */
export function replayModel({ dump, answers, onWritten, instead }: ReplayOptions): Model {
  return {
    name: "replay",
    to: `files, instead of ${instead.to}`,
    isLive: false,
    isAgent: false,
    unset: null,
    ask: async (request) => {
      const id = requestId(request);
      if (dump !== null) {
        mkdirSync(dump, { recursive: true, mode: 0o700 });
        writeFileSync(join(dump, `${id}.request.md`), readable(id, request, instead), { mode: 0o600 });
        onWritten(id);
      }
      return answers === null
        ? noReply("not-asked", "the request was written to a file", 0)
        : answerAt(join(answers, `${id}.answer.json`), id);
    },
  };
}

function answerAt(path: string, id: string): ModelReply {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return noReply(
      "not-asked",
      code === "ENOENT" ? `there is no ${id}.answer.json` : `${id}.answer.json cannot be read`,
      0,
    );
  }
  return replyIn(text, 0, unserved);
}

/** A request as a person reads it: where it would go, and every word of it. */
function readable(id: string, request: ModelRequest, { name, to }: ReplayOptions["instead"]): string {
  const { purpose, system, prompt, schema, maxOutputTokens, timeoutMs } = request;
  return `# ${id}: ${purpose}

- model: ${name}
- sent to: ${to}
- answer: at most ${maxOutputTokens} tokens, within ${timeoutMs} ms; put one into ${id}.answer.json

## System

${system}

## Prompt

${prompt}

## Schema of the answer

\`\`\`json
${JSON.stringify(schema, null, 2)}
\`\`\`
`;
}
