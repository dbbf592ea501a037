/** A name for a file or a package: a few words in kebab-case; empty when the text has none in Latin letters. */
export function slugify(text: string, most = 48): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    // An accent is no end of a word.
    .replace(/['’\p{M}]/gu, "")
    .match(/[a-z0-9]+/g);
  let name = "";
  for (const word of words ?? []) {
    const longer = name === "" ? word : `${name}-${word}`;
    if (longer.length > most) break;
    name = longer;
  }
  return name;
}

/** A count with its noun: `1 call`, `2 calls`, `1,200 calls`. */
export function several(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;
}

/** The text of bytes, its byte order mark included; null for what is no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
