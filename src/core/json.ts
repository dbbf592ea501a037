/** JSON from elsewhere, looked at without trusting it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The object a string of JSON holds, or null: models write arguments that are cut or malformed. */
export function parseObject(text: string): JsonObject | null {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return null;
  }
}
