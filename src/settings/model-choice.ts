/** Which model is asked, and through what. */
export type ModelChoice =
  | { readonly via: "off" }
  /** The agent's own command line, with what it has signed in with; the model it would take itself where none is named. */
  | { readonly via: "claude" | "codex"; readonly id: string | null }
  | { readonly via: "anthropic" | "openai"; readonly id: string };

export const modelForms =
  "off, anthropic/<model>, openai/<model>, claude, claude/<model>, codex, or codex/<model> (for requests as files: knack learn --model-dump <folder>)";

/** What a person's word for a model means; null for one that means none. */
export function modelChoice(word: string): ModelChoice | null {
  const [via = "", ...rest] = word.split("/");
  const id = rest.join("/");
  if (id !== "" && !/^[\w.:@/-]{1,120}$/.test(id)) return null;
  switch (via) {
    case "off":
      return rest.length === 0 ? { via } : null;
    case "claude":
    case "codex":
      return rest.length === 0 ? { via, id: null } : id === "" || id.startsWith("-") ? null : { via, id };
    case "anthropic":
    case "openai":
      return id === "" ? null : { via, id };
    default:
      return null;
  }
}
