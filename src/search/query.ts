import { findAliases, tokenize, translateWords } from "../text/index.ts";

/** What is looked for: terms with how much each says of what is asked. */
export interface SearchQuery {
  /** As much of the prompt as was read. */
  readonly text: string;
  /** The prompt's own terms, each once, in the order they are met. */
  readonly asked: readonly WeightedTerm[];
  /** Other words for them, and words for the project: evidence, but not part of what is asked. */
  readonly implied: readonly WeightedTerm[];
}

interface WeightedTerm {
  readonly term: string;
  readonly weight: number;
}

/** Characters of a prompt that are read, its beginning and its end; and of which words are translated. */
const promptChars = 6_000;
const translatedChars = 400;
/** What a sentence counts that asks nothing, where another one does; and what is pasted. */
const toldWeight = 0.5;
const pastedWeight = 0.3;
/** After so many terms one counts half as much as the first; and what any counts at least. */
const halfAfterTerms = 25;
const leastEarliness = 0.4;
/** What saying a term once more adds, and how often that counts. */
const repeatBonus = 0.25;
const mostRepeats = 2;
/** What aliases of a term count, translations of a word, and words for the project. */
const aliasWeight = 0.15;
const translationWeight = 0.5;
const contextWeight = 0.15;

/** Reads a prompt; `context` names the project's languages and tools. */
export function readQuery(prompt: string, context: readonly string[] = []): SearchQuery {
  const text = capPrompt(prompt);
  const said = new Map<string, { most: number; times: number }>();
  let met = 0;
  for (const { words, weight } of splitPrompt(text))
    for (const token of tokenize(words)) {
      // What is asked comes first more often than not.
      const early = Math.max(leastEarliness, 1 / (1 + met / halfAfterTerms));
      const known = said.get(token);
      said.set(token, { most: Math.max(known?.most ?? 0, weight * early), times: (known?.times ?? 0) + 1 });
      met++;
    }
  const asked = Array.from(said, ([term, { most, times }]) => ({
    term,
    weight: most * (1 + repeatBonus * Math.min(times - 1, mostRepeats)),
  }));
  return { text, asked, implied: implyTerms(text, asked, context) };
}

/** The beginning and the end of a long prompt: what is pasted stands between them. */
function capPrompt(prompt: string): string {
  if (prompt.length <= promptChars) return prompt;
  const head = Math.round((promptChars * 2) / 3);
  return `${prompt.slice(0, head)}\n${prompt.slice(head - promptChars)}`;
}

/** The sentences of a prompt: those that ask count in full, the others less, what is pasted least. */
function splitPrompt(text: string): { words: string; weight: number }[] {
  const code: string[] = [];
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, (words) => {
    code.push(words);
    return "\n";
  });
  const sentences = prose.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/).filter((words) => words.trim() !== "");
  const anyAsks = sentences.some(asks);
  const weigh = (words: string) =>
    looksPasted(words) ? pastedWeight : !anyAsks || asks(words) ? 1 : toldWeight;
  return [
    ...sentences.map((words) => ({ words, weight: weigh(words) })),
    ...code.map((words) => ({ words, weight: pastedWeight })),
  ];
}

function asks(sentence: string): boolean {
  return (
    /[?？]/.test(sentence) || /^\W*(?:please\b|帮|请|幫|請)/i.test(sentence) || opensAsking.test(sentence)
  );
}

/** An order or a wish opens a sentence; in Japanese and Korean it ends one. */
const opensAsking =
  /^\W*(?:can|could|how|what|why|which|help|write|create|build|make|add|fix|set|generate|implement|review|design|draft|give|show|find|analy[sz]e|convert|update|check|plan|debug|deploy|explain|i (?:want|need|would)|i'd|we (?:want|need)|i'm (?:trying|looking))\b|(?:してください|して|したい|てほしい|해줘|해주세요)\W*$/i;

/** A line of a log, a stack, a diff, a table or a quotation. */
function looksPasted(line: string): boolean {
  return /^\s*(?:>|\||at \S+[(:]|\d{4}-\d\d-\d\d|\[[\w:. -]+\]|[+-]{3} |@@|[{}$]|\S+:\d+[:)]|Traceback|Caused by)/.test(
    line,
  );
}

function implyTerms(
  text: string,
  asked: readonly WeightedTerm[],
  context: readonly string[],
): WeightedTerm[] {
  const own = new Set(asked.map(({ term }) => term));
  const weights = new Map<string, number>();
  const imply = (term: string, weight: number) => {
    if (!own.has(term)) weights.set(term, Math.max(weights.get(term) ?? 0, weight));
  };
  for (const { term, weight } of asked)
    for (const other of findAliases(term)) imply(other, weight * aliasWeight);
  if (/[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/.test(text))
    for (const { terms } of translateWords(text.slice(0, translatedChars)))
      for (const token of tokenize(terms.join(" "))) imply(token, translationWeight);
  for (const token of tokenize(context.join(" "))) imply(token, contextWeight);
  return Array.from(weights, ([term, weight]) => ({ term, weight }));
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
