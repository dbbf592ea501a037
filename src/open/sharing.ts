import { type Bundle, bundleOf, type CarriedSkill } from "../core/bundle.ts";
import type { Carried } from "../core/carried.ts";
import type { LiveReach } from "../core/change.ts";
import { eccFilesOf } from "../core/ecc.ts";
import type { Import, ImportedSkill } from "../core/imported.ts";
import {
  carryIn,
  decideImports,
  exportLessons,
  exportSkills,
  type ImportOptions,
  type ImportPlan,
  imports,
  planAcceptImport,
  planImport,
  type Selection,
  skillAccepted,
  withdrawLatest,
} from "../engine/exchange.ts";
import { type Keeping, perform } from "../engine/keep.ts";
import type { Plan } from "../engine/step.ts";
import { whereWeAre } from "./home.ts";
import type { Parts } from "./parts.ts";

/** What goes to others, and what comes from them. */
export interface SharingVerbs {
  /** What was learned, in a form for others: lessons and, for a bundle, skills. */
  carried(
    selection: Omit<Selection, "here" | "aliasOf">,
    cwd?: string,
  ): Promise<{ lessons: Carried[]; withheld: number; skills: CarriedSkill[]; leftOut: string[] }>;
  /** The same as a bundle's bytes, and as files of ECC's by their paths. */
  bundle(carried: Pick<Bundle, "instincts" | "skills">, path: string): Promise<Uint8Array>;
  eccFiles(lessons: readonly Carried[]): Promise<ReadonlyMap<string, string>>;
  /** What taking a file or a folder in would do; nothing is taken in. */
  planImport(
    path: string,
    options: Pick<ImportOptions, "scope" | "minConf" | "domain">,
    cwd?: string,
  ): Promise<ImportPlan & { readonly from: string; readonly problems: readonly string[] }>;
  carryIn(plan: ImportPlan): Promise<void>;
  /** Everything that came from elsewhere, and what became of it. */
  imports(): Promise<Import[]>;
  decideImports(ids: readonly string[], word: "accepted" | "rejected"): Promise<void>;
  /** Takes back what came in the latest go. */
  withdrawImport(): Promise<Import[]>;
  planAcceptImport(skill: ImportedSkill, reach: LiveReach): Promise<Plan>;
  /** Writes a skill that came from elsewhere: exactly the files that waited. */
  acceptImport(skill: Import & ImportedSkill, reach: LiveReach): Promise<Keeping>;
}

export function sharingVerbs({ store, clock, library, stock, publishing, projectAt }: Parts): SharingVerbs {
  const planAccepted: SharingVerbs["planAcceptImport"] = async (skill, reach) =>
    planAcceptImport(publishing, skill, reach, (await projectAt(whereWeAre())).root);
  return {
    carried: async (selection, cwd = process.cwd()) => {
      const { eccProjectId } = await files();
      const meant = { ...selection, here: await projectAt(cwd), aliasOf: eccProjectId };
      return { ...(await exportLessons(publishing, meant)), ...(await exportSkills(publishing, meant)) };
    },
    bundle: async (carried, path) => {
      const { bundleBytes, sha256 } = await files();
      return bundleBytes(bundleOf(carried, clock.now(), sha256), path);
    },
    eccFiles: async (lessons) => eccFilesOf(lessons, (await files()).eccProjectId),
    planImport: async (path, options, cwd = process.cwd()) => {
      const { eccProjectId, readExchange } = await files();
      const incoming = await readExchange(path);
      const here = await projectAt(cwd);
      const { items } = await stock.catalog(cwd);
      const skillNamed: ImportOptions["skillNamed"] = async (name, kind) => {
        const known = items.find((item) => item.kind === kind && item.name === name);
        const read = known ? await library.readText(known.path) : null;
        return known && read?.found === "text" ? { path: known.path, text: read.text } : null;
      };
      const given = { ...options, here, aliasOf: eccProjectId, skillNamed };
      const plan = await planImport(publishing, incoming, given);
      return { ...plan, from: incoming.from, problems: incoming.problems };
    },
    carryIn: (plan) => carryIn(publishing, plan),
    imports: () => imports(store),
    decideImports: (ids, word) => decideImports(publishing, ids, word),
    withdrawImport: () => withdrawLatest(publishing),
    planAcceptImport: planAccepted,
    acceptImport: (skill, reach) =>
      perform(
        publishing,
        () => planAccepted(skill, reach),
        "person",
        () => [skillAccepted(skill, clock.now())],
      ),
  };
}

/** What reads and writes bundles; it needs a schema library, which nothing else waits for. */
function files() {
  return import("../library/exchange.ts");
}
