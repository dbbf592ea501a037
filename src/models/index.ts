import type { ModelChoice } from "../core/model.ts";
import type { Model } from "../engine/ports.ts";
import type { Endpoint } from "./api.ts";
import { claudeModel } from "./claude.ts";
import { codexModel } from "./codex.ts";
import { noReply } from "./reply.ts";
import { programOn } from "./run.ts";

export interface ModelOptions {
  readonly choice: ModelChoice;
  /** Where the model is, where it is not at its maker's. */
  readonly url: string | null;
  /** The variable that has the key, where it is not the usual one. */
  readonly keyEnv: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where agents that are asked as models work. */
  readonly folder: string;
}

/** The model that a person chose. */
export function modelFor(options: ModelOptions): Model {
  const { choice, env, folder } = options;
  const unset = whyUnset(options);
  switch (choice.via) {
    case "off":
      return unsetModel("off", "nowhere", unset ?? "");
    case "claude":
      return unset === null
        ? claudeModel({ id: choice.id, folder, env })
        : unsetModel("claude", "claude", unset);
    case "codex":
      return unset === null
        ? codexModel({ id: choice.id, folder, env })
        : unsetModel("codex", "codex", unset);
    case "anthropic":
    case "openai": {
      const endpoint = endpointOf(options, choice);
      const name = `${choice.via}/${choice.id}`;
      const to = `${endpoint.url}${choice.via === "anthropic" ? "/messages" : "/chat/completions"}`;
      if (unset !== null) return unsetModel(name, to, unset);
      // A library of this size is loaded by who needs it.
      return {
        name,
        to,
        isLive: true,
        isAgent: false,
        unset: null,
        ask: async (request) => (await import("./api.ts")).askApi(endpoint, request),
      };
    }
  }
}

/** Why no model can be asked; null when one can. */
function whyUnset(options: ModelOptions): string | null {
  const { choice, url, env } = options;
  switch (choice.via) {
    case "off":
      return "no model is set";
    case "claude":
    case "codex":
      return programOn(env, choice.via) === null ? `${choice.via} is not on the PATH` : null;
    case "anthropic":
    case "openai": {
      const name = keyName(options, choice.via);
      if (name === null || (env[name] ?? "") !== "") return null;
      return `${name} is not set in the environment${url === null ? "" : ` (for ${url})`}`;
    }
  }
}

function endpointOf(
  options: ModelOptions,
  { via, id }: ModelChoice & Pick<Endpoint, "via" | "id">,
): Endpoint {
  const { url, env } = options;
  const name = keyName(options, via);
  const own = via === "anthropic" ? "https://api.anthropic.com/v1" : "https://api.openai.com/v1";
  return { via, id, url: (url ?? own).replace(/\/+$/, ""), key: name === null ? null : (env[name] ?? null) };
}

/** The variable with the key. The usual key is for its maker alone: another address gets one only where a person says which. */
function keyName({ url, keyEnv }: ModelOptions, via: Endpoint["via"]): string | null {
  if (keyEnv !== null) return keyEnv;
  if (url !== null) return null;
  return via === "anthropic" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
}

/** A model that cannot be asked, for a reason. */
export function unsetModel(name: string, to: string, because: string): Model {
  const ask = async () => noReply("unset", because, 0);
  return { name, to, isLive: false, isAgent: false, unset: because, ask };
}
