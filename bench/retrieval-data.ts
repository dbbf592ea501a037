import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { IndexItem } from "../src/search/entry.ts";
import { type LibraryIndex, openIndexFiles } from "../src/search/library-index.ts";

/** A fault in what was given, for the person who gave it. */
export class InputError extends Error {}

export interface Asked {
  readonly id: string;
  readonly query: string;
  readonly family: string;
  readonly gold: readonly string[];
  readonly unwanted: readonly string[];
}

/** Reads a library in the benchmark's format, only the skills with these ids where ids are given. */
export function readSkills(path: string, ids: ReadonlySet<string> | null = null): IndexItem["entry"][] {
  const skills = readLines(path).map(({ row, line }): IndexItem["entry"] => {
    const id = text(row, "id", path, line);
    const entry = { id, name: text(row, "name", path, line), when: "", tags: [], prompts: [] };
    return { ...entry, description: String(row.description ?? ""), body: String(row.body ?? "") };
  });
  const chosen = ids ? skills.filter(({ id }) => ids.has(id)) : skills;
  if (chosen.length === 0) throw new InputError(`${path} has none of the skills that were asked for.`);
  return chosen;
}

export function readQueries(path: string): Asked[] {
  return readLines(path).map(({ row, line }) => ({
    id: text(row, "id", path, line),
    query: text(row, "query", path, line),
    family: String(row.family ?? ""),
    gold: strings(row.gold_ids),
    unwanted: strings(row.should_not_ids),
  }));
}

/** Ids as a JSON array, or one on a line. */
export function readIds(path: string): Set<string> {
  const written = readText(path).trim();
  const ids = written.startsWith("[") ? strings(parse(written, path, 1)) : written.split(/\s+/);
  if (ids.length === 0 || ids[0] === "") throw new InputError(`${path} has no ids.`);
  return new Set(ids);
}

/** What the benchmark says about its libraries. */
export interface Library {
  readonly ids: ReadonlySet<string> | null;
  readonly unanswered: ReadonlySet<string>;
  /** Whether prompts without an answer are made by hiding the skills of the query's family. */
  readonly hides: boolean;
}

export function readLibraries(path: string): {
  libraries: Map<string, Library>;
  families: Map<string, string>;
} {
  const { libraries, families } = JSON.parse(readText(path)) as {
    libraries: Record<
      string,
      { ids: string[] | null; nomatch_query_ids?: string[]; simulate_nomatch?: boolean }
    >;
    families: Record<string, string[]>;
  };
  return {
    libraries: new Map(
      Object.entries(libraries).map(([name, { ids, nomatch_query_ids, simulate_nomatch }]) => [
        name,
        {
          ids: ids && new Set(ids),
          unanswered: new Set(nomatch_query_ids ?? []),
          hides: simulate_nomatch === true,
        },
      ]),
    ),
    families: new Map(
      Object.entries(families).flatMap(([family, ids]) => ids.map((id) => [id, family] as const)),
    ),
  };
}

/** The index that Knack itself would make of these, in memory. */
export function indexed(skills: readonly IndexItem["entry"][]): LibraryIndex {
  const files = openIndexFiles(null);
  files.update(skills.map(filed));
  return files.read((index) => index) as LibraryIndex;
}

/** A skill of a file as one of the library. */
export function filed(entry: IndexItem["entry"]): IndexItem {
  const { id, name, description } = entry;
  return {
    entry,
    card: {
      ...{ id, name, description, scopeId: "user", load: "fit", uses: 0, kind: "skill", draft: false },
      ...{
        source: null,
        path: `/skills/${name}/SKILL.md`,
        checkout: null,
        hash: "h",
        told: "whole",
        hiddenIn: [],
      },
    },
    mark: id,
  };
}

type Row = Record<string, unknown>;

function readLines(path: string): { row: Row; line: number }[] {
  const rows = readText(path)
    .split("\n")
    .map((written, at) => ({ written, line: at + 1 }))
    .filter(({ written }) => written.trim() !== "");
  if (rows.length === 0) throw new InputError(`${path} is empty.`);
  return rows.map(({ written, line }) => ({ row: parse(written, path, line) as Row, line }));
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path);
    return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  } catch (cause) {
    throw new InputError(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`);
  }
}

function parse(written: string, path: string, line: number): unknown {
  try {
    return JSON.parse(written);
  } catch {
    throw new InputError(`${path}, line ${line}: not JSON.`);
  }
}

function text(row: Row, key: string, path: string, line: number): string {
  const value = row[key];
  if (typeof value !== "string" || value === "")
    throw new InputError(`${path}, line ${line}: "${key}" is missing.`);
  return value;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
