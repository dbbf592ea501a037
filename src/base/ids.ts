/** A short name for a long one: the same text gives the same id, on every machine. */
export function makeId(prefix: string, text: string): string {
  return `${prefix}${hash53(text).toString(36).padStart(11, "0")}`;
}

/** 53 bits from two interleaved multiplicative hashes: plenty for thousands of names, and no library is needed. */
function hash53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
