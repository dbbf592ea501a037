/** JSON from elsewhere, looked at without trusting it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

export function asString(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A field's name as programs read it; names of settings and other keys that are data stay as they are. */
export function toSnakeCase(name: string): string {
  return /^[a-z][a-zA-Z0-9]*$/.test(name)
    ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : name;
}

/** Levels of a value that are kept: more would only exhaust the stack. */
const deepest = 32;

/** A value without what lies deeper in it. */
export function limitDepth(value: Json): Json {
  return reaches(value, deepest) ? prune(value, deepest) : value;
}

function reaches(value: unknown, room: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return room === 0 || Object.values(value).some((one) => reaches(one, room - 1));
}

function prune(value: Json | undefined, room: number): Json {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (room === 0) return "…";
  if (Array.isArray(value)) return value.map((one) => prune(one, room - 1));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, prune(one, room - 1)]));
}

/** The object a string of JSON holds, or null: models write arguments that are cut or malformed. */
export function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}
