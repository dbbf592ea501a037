import type { Carried } from "./carried.ts";
import type { ItemKind } from "./item.ts";

/** A skill on its way to somebody else, or a command or an agent, which are one file each: its text files. */
export interface CarriedSkill {
  /** A skill where nothing else is said. */
  readonly kind?: ItemKind | undefined;
  readonly name: string;
  readonly description: string;
  readonly files: readonly { readonly path: string; readonly mode: number; readonly text: string }[];
}

/** What somebody hands to a colleague: one document, plain JSON. */
export interface Bundle {
  readonly format: "knack-bundle";
  readonly version: 1;
  readonly madeAt: string;
  readonly instincts: readonly Carried[];
  readonly skills: readonly CarriedSkill[];
  readonly manifest: Manifest;
}

/** The hash of each thing in a bundle, in its order: what a cable or an editor has changed is told. It is no signature. */
export interface Manifest {
  readonly instincts: readonly string[];
  readonly skills: readonly string[];
  readonly all: string;
}

export const bundleFormat = "knack-bundle";

/** Takes the hash of a text. */
export type Hash = (text: string) => string;

export function bundleOf(
  { instincts, skills }: Pick<Bundle, "instincts" | "skills">,
  madeAt: number,
  hash: Hash,
): Bundle {
  return {
    format: bundleFormat,
    version: 1,
    madeAt: new Date(madeAt).toISOString(),
    instincts,
    skills,
    manifest: manifestOf({ instincts, skills }, hash),
  };
}

/** What does not agree with the manifest; null where all is as it was written. */
export function faultInBundle(bundle: Bundle, hash: Hash): string | null {
  const { manifest } = bundle;
  const found = manifestOf(bundle, hash);
  for (const part of ["instincts", "skills"] as const) {
    if (found[part].length !== manifest[part].length)
      return `it should have ${manifest[part].length} ${part}, and has ${found[part].length}`;
    const at = found[part].findIndex((one, place) => one !== manifest[part][place]);
    if (at >= 0) return `"${bundle[part][at]?.name}" is not what was written`;
  }
  return found.all === manifest.all ? null : "its list of hashes is not what was written";
}

function manifestOf({ instincts, skills }: Pick<Bundle, "instincts" | "skills">, hash: Hash): Manifest {
  const hashes = (all: readonly unknown[]) => all.map((one) => hash(JSON.stringify(one)));
  const parts = { instincts: hashes(instincts), skills: hashes(skills) };
  return { ...parts, all: hash(JSON.stringify(parts)) };
}
