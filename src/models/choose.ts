import type { ModelChoice } from "../settings/index.ts";
import type { Endpoint } from "./api.ts";
import { createClaudeModel } from "./claude.ts";
import { createCodexModel } from "./codex.ts";
import { type Model, unsetModel } from "./model.ts";
import { isOnPath } from "./process.ts";

export interface ModelOptions {
  readonly choice: ModelChoice;
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
  const { choice, env, folder } = options;
  switch (choice.via) {
    case "off":
      return unsetModel("off", "nowhere", "no model is set");
    case "claude":
    case "codex": {
      const { via, id } = choice;
      if (!isOnPath(env, via)) return unsetModel(via, via, `${via} is not on the PATH`);
      return (via === "claude" ? createClaudeModel : createCodexModel)({ id, folder, env });
    }
    case "anthropic":
    case "openai":
      return chooseApi(options, choice);
  }
}

function chooseApi(
  { url, keyEnv, env }: ModelOptions,
  { via, id }: ModelChoice & Pick<Endpoint, "via" | "id">,
): Model {
  const [own, usualKey, path] =
    via === "anthropic"
      ? ["https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "/messages"]
      : ["https://api.openai.com/v1", "OPENAI_API_KEY", "/chat/completions"];
  // The usual key is for its maker alone: another address gets one only where a person says which.
  const keyName = keyEnv ?? (url === null ? usualKey : null);
  const key = keyName === null ? null : env[keyName] || null;
  const endpoint: Endpoint = { via, id, url: (url ?? own).replace(/\/+$/, ""), key };
  const [name, to] = [`${via}/${id}`, `${endpoint.url}${path}`];
  if (keyName !== null && key === null)
    return unsetModel(name, to, `${keyName} is not set${url === null ? "" : ` (for ${url})`}`);
  // The library is large: it is loaded when it is used.
  const ask: Model["ask"] = async (request) => (await import("./api.ts")).askApi(endpoint, request);
  return { name, to, isLive: true, isAgent: false, unset: null, ask };
}
