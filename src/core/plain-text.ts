/** The text of bytes, its byte order mark included; null for what is no UTF-8. */
export function plainText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
