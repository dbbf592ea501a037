import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestId } from "./ask.ts";
import { type Model, type ModelReply, type ModelRequest, noReply, parseReply, unserved } from "./model.ts";

export interface FileModelOptions {
  /** Where requests are written; null for nowhere. */
  readonly dump: string | null;
  /** Where answers are; null for nowhere. */
  readonly answers: string | null;
  /** Is told the id of each request that was written. */
  readonly onWritten: (id: string) => void;
  /** The model that would be asked. */
  readonly instead: Pick<Model, "name" | "to">;
}

/**
 * Requests and answers as files, with nothing sent anywhere: people see what would leave the machine, and answer with
 * whatever they like. A request is `<id>.request.md`, its answer `<id>.answer.json`.
 */
export function createFileModel({ dump, answers, onWritten, instead }: FileModelOptions): Model {
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
        writeFileSync(join(dump, `${id}.request.md`), renderRequest(id, request, instead), { mode: 0o600 });
        onWritten(id);
      }
      return answers === null
        ? noReply("not-asked", "the request was written to a file", 0)
        : readAnswerFile(answers, `${id}.answer.json`);
    },
  };
}

function readAnswerFile(folder: string, name: string): ModelReply {
  try {
    return parseReply(readFileSync(join(folder, name), "utf8"), 0, unserved);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return noReply("not-asked", isMissing ? `there is no ${name}` : `${name} cannot be read`, 0);
  }
}

function renderRequest(id: string, request: ModelRequest, { name, to }: FileModelOptions["instead"]): string {
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
