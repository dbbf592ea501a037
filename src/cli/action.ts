import { KnackError } from "../core/errors.ts";

/** What a verb can do, by the word that says so. */
export type Actions<Call> = Readonly<
  Record<string, (call: Call, words: readonly string[]) => Promise<number>>
>;

/** Does what the first word says, with the others; without one, lists. */
export async function act<Call extends { readonly args: { readonly _: readonly string[] } }>(
  verb: string,
  actions: Actions<Call>,
  call: Call,
): Promise<number> {
  const [name = "list", ...words] = call.args._;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action) return action(call, words);
  throw new KnackError("WRONG_USAGE", `knack ${verb} has no "${name}".`, {
    hint: `It has ${Object.keys(actions).join(", ")}.`,
  });
}
