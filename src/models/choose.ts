import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPlainFile } from "../base/index.ts";
import type { JudgeChoice } from "../settings/index.ts";
import { type Model, type ModelReply, type ModelRequest, noReply, parseReply, unserved } from "./model.ts";
import { createProgramModel } from "./programs.ts";
import { isOnPath } from "./run-program.ts";

interface ModelOptions {
  readonly choice: JudgeChoice;
  /** The model's address, where it is not its maker's. */
  readonly url: string | null;
  /** The environment variable with the key, where it is not the usual one. */
  readonly keyEnv: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where agents' programs work. */
  readonly folder: string;
}

/** The model that a person chose; one that cannot be asked says why. */
export function chooseModel(options: ModelOptions): Model {
  const { choice, env } = options;
  if (choice.via === "off") return unsetModel("off", "nowhere", "no judge is set");
  if (choice.via === "anthropic" || choice.via === "openai") return chooseApi(options, choice.via, choice.id);
  const { via, id } = choice;
  const model = createProgramModel(via, { id, folder: options.folder, env });
  return isOnPath(env, via) ? model : unsetModel(model.name, via, `${via} is not on the PATH`);
}

function chooseApi({ url, keyEnv, env }: ModelOptions, via: "anthropic" | "openai", id: string): Model {
  const [own, usualKey, path] =
    via === "anthropic"
      ? ["https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "/messages"]
      : ["https://api.openai.com/v1", "OPENAI_API_KEY", "/chat/completions"];
  // The usual key is for its maker alone: another address gets one only where a person says which.
  const keyName = keyEnv ?? (url === null ? usualKey : null);
  const key = keyName === null ? null : env[keyName] || null;
  const endpoint = { via, id, url: (url ?? own).replace(/\/+$/, ""), key };
  const [name, to] = [`${via}/${id}`, `${endpoint.url}${path}`];
  if (keyName !== null && key === null)
    return unsetModel(name, to, `${keyName} is not set${url === null ? "" : ` (for ${url})`}`);
  // The library is large: it is loaded when it is used.
  const ask: Model["ask"] = async (request) => (await import("./api.ts")).askApi(endpoint, request);
  return { name, to, isLive: true, isAgent: false, unset: null, ask };
}

/** A model that cannot be asked. */
export function unsetModel(name: string, to: string, because: string): Model {
  const ask = async () => noReply("unset", because, 0);
  return { name, to, isLive: false, isAgent: false, unset: because, ask };
}

interface FileModelOptions {
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
    ...{ name: "replay", to: `files, instead of ${instead.to}`, isLive: false, isAgent: false, unset: null },
    ask: async (request) => {
      const { id } = request;
      if (dump !== null) {
        mkdirSync(dump, { recursive: true, mode: 0o700 });
        writeFileSync(join(dump, `${id}.request.md`), renderRequest(request, instead), { mode: 0o600 });
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
    return parseReply(readPlainFile(join(folder, name)).toString("utf8"), 0, unserved);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return noReply("not-asked", isMissing ? `there is no ${name}` : `${name} cannot be read`, 0);
  }
}

function renderRequest(request: ModelRequest, { name, to }: FileModelOptions["instead"]): string {
  const { id, purpose, system, prompt, schema, maxOutputTokens, timeoutMs } = request;
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
${JSON.stringify(schema)}
\`\`\`
`;
}
