/** What the library of models would sign in to its maker's gateway with: Knack asks nobody but whom a person named. */
export async function getVercelOidcToken(): Promise<never> {
  throw new Error("no gateway is used");
}

export function getContext(): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: {} };
}
