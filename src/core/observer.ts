/** Who looks at sessions: rules alone, or rules that propose and a model that judges. */
export type ObserverName = "heuristic" | "model";

export const observerNames: readonly ObserverName[] = ["heuristic", "model"];

export function isObserver(word: string): word is ObserverName {
  return (observerNames as readonly string[]).includes(word);
}
