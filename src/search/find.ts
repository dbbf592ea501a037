import type { Item } from "../records/index.ts";
import { asSentence, cutAtWord, oneLine } from "../text/index.ts";
import { judge } from "./decide.ts";
import type { LibraryCard } from "./entry.ts";
import type { LibraryIndex } from "./library-index.ts";
import { rank } from "./rank.ts";

/** Entries that are looked at closely where only the best few are wanted. */
const mostRanked = 10;
/** Characters of a description in an offer, and of a text that is loaded. */
const offerChars = 240;
const loadChars = 4_000;

/** Something of the library that fits a text. */
export interface FoundItem {
  readonly card: LibraryCard;
  /** Whether it fits so well that it is given whole. */
  readonly how: "load" | "offer";
  /** How likely it is the right one. */
  readonly chance: number;
  /** Why it matched, for a person. */
  readonly why: string;
}

interface FindOptions {
  readonly project: string;
  /** Words for what the project is: its languages and tools. */
  readonly context: readonly string[];
  /** An explicit search rather than an interruption. */
  readonly asked?: boolean;
}

/** The best matches in the library for a text, best first; none rather than a weak one. */
export function find(index: LibraryIndex, text: string, options: FindOptions): FoundItem[] {
  const { project, context, asked = false } = options;
  const scopeIds = new Set([project, "user"]);
  const { query, entries } = rank(index, text, { context, scopeIds, most: mostRanked });
  const fitting = entries.filter(({ card }) => {
    const { hiddenIn, load, told } = card;
    // What only a person may call is not put before an agent.
    return !hiddenIn.includes(project) && (asked || (load !== "person" && told !== "nothing"));
  });
  const judged = judge(fitting, index.sizeFor(scopeIds));
  const { load, offers } = judged.decide(asked);
  const toFound = (match: (typeof offers)[number]): FoundItem => {
    const { card } = match;
    // A command is the person's to call and an agent is given work: neither is a text to follow.
    const isLoaded = match === load && card.kind === "skill" && card.told === "whole";
    const why = judged.explain(match, query.text);
    return { card, how: isLoaded ? "load" : "offer", chance: match.chance, why };
  };
  return [...(load ? [load] : []), ...offers].map(toFound);
}

/** The item that a name refers to in a project: the project's own takes precedence over the person's. */
export function itemNamed(items: readonly Item[], project: string | null, name: string): Item | null {
  const named = items.filter(
    (item) => item.name === name && (item.scopeId === project || item.scopeId === "user"),
  );
  const [first = null] = named.sort((a, b) => Number(a.scopeId === "user") - Number(b.scopeId === "user"));
  return first;
}

/** The text that an agent sees for a match: its full text, or one line that describes it and how to load it. */
export function renderFound(card: LibraryCard, text: string | null): string {
  if (text !== null) {
    const body = text.replace(/^\ufeff?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, "").trim();
    const rest = body.length > loadChars ? `\n[cut; the rest is in ${card.path}]` : "";
    return `Knack: ${label(card)} fits what is asked (${card.path}):\n${body.slice(0, loadChars)}${rest}`;
  }
  // A description can give an agent orders as well as a text can: where nobody vouches for it, the name is enough.
  const about = card.told === "whole" ? cutAtWord(oneLine(card.description), offerChars) : "";
  return `Knack: ${label(card)} may fit${about === "" ? "." : `: ${asSentence(about)}`} ${explainAccess(card)}`;
}

function label({ kind, draft, name }: LibraryCard): string {
  return draft ? `the draft ${kind} ${name}, learned from earlier sessions,` : `the ${kind} ${name}`;
}

function explainAccess({ kind, draft, name, path, load }: LibraryCard): string {
  if (draft) return `Nobody has accepted it yet; if you need it, load it with skill_load "${name}".`;
  if (load === "person") return `It is for the person to call: /${name}.`;
  return {
    skill: `Load it with the Skill tool, or read ${path}.`,
    command: `The person can type /${name}; its text is in ${path}.`,
    agent: `Work can be given to the agent ${name}.`,
  }[kind];
}

/** Words for what a project is, from the names of its files: languages and tools. */
export function describeProject(files: readonly string[]): string[] {
  const words = new Set<string>();
  // Of a folder with more files, the first tell what it is.
  for (const file of files.slice(0, 200)) {
    const name = file.toLowerCase();
    const ending = name.slice(name.lastIndexOf(".") + 1);
    for (const word of [...(wordsByName.get(name) ?? []), ...(wordsByEnding.get(ending) ?? [])])
      words.add(word);
  }
  return [...words];
}

/** Reads `name: word word | name: word`. */
function readWordTable(table: string): ReadonlyMap<string, string[]> {
  return new Map(
    table.split("|").map((row) => {
      const [name = "", words = ""] = row.trim().split(": ");
      return [name, words.split(" ")] as const;
    }),
  );
}

const wordsByName = readWordTable(`
package.json: javascript node npm | tsconfig.json: typescript | deno.json: deno typescript | bun.lock: bun |
pnpm-lock.yaml: pnpm | yarn.lock: yarn | next.config.js: nextjs react | next.config.mjs: nextjs react |
next.config.ts: nextjs react | vite.config.ts: vite | angular.json: angular | svelte.config.js: svelte |
nuxt.config.ts: nuxt vue | tailwind.config.js: tailwind | tailwind.config.ts: tailwind | components.json: shadcn |
pyproject.toml: python | requirements.txt: python pip | setup.py: python | uv.lock: uv | manage.py: django |
cargo.toml: rust cargo | go.mod: go golang | pom.xml: java maven | build.gradle: java gradle |
build.gradle.kts: kotlin gradle | gemfile: ruby | composer.json: php composer | artisan: laravel php |
mix.exs: elixir | pubspec.yaml: flutter dart | package.swift: swift | podfile: ios swift | cmakelists.txt: cmake cpp |
makefile: make | dockerfile: docker | docker-compose.yml: docker compose | compose.yaml: docker compose |
chart.yaml: helm kubernetes | kustomization.yaml: kubernetes | global.json: dotnet csharp | dbt_project.yml: dbt sql |
hardhat.config.ts: solidity ethereum | foundry.toml: solidity ethereum`);

const wordsByEnding = readWordTable(`
ts: typescript | tsx: typescript react | js: javascript | jsx: javascript react | py: python | ipynb: python jupyter |
rs: rust | go: go golang | java: java | kt: kotlin | rb: ruby | php: php | cs: csharp dotnet | csproj: csharp dotnet |
sln: dotnet | slnx: dotnet | fs: fsharp dotnet | swift: swift | xcodeproj: ios xcode swift | cpp: cpp | c: c |
ex: elixir | dart: dart flutter | vue: vue | svelte: svelte | sql: sql | tf: terraform | sh: shell bash | tex: latex |
r: r | scala: scala | lua: lua | sol: solidity`);
