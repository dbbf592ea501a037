// Stands in for the package with which the library of models would sign in to its maker's gateway: Knack asks nobody
// but whom a person named.
export async function getVercelOidcToken() {
  throw new Error("no gateway is used");
}

export function getContext() {
  return { headers: {} };
}
