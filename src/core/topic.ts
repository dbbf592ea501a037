import { stemOf } from "./ask-words.ts";
import type { Instinct } from "./instinct.ts";
import { wordsOf } from "./words.ts";

/** What work is about, by the programs and the words that belong to it. Of two that fit as well, the first counts. */
const table: readonly (readonly [domain: string, words: string])[] = [
  [
    "git",
    "git gh commit branch merge rebase push pull stash squash cherry-pick checkout worktree pr conflict",
  ],
  ["release", "release publish version changelog tag deploy deployment rollout staging production"],
  [
    "testing",
    "test vitest jest mocha pytest spec coverage flaky playwright cypress fixture snapshot mock suite",
  ],
  ["containers", "docker podman compose dockerfile container image kubectl helm kubernetes pod cluster"],
  ["database", "sql psql postgres mysql sqlite redis migration schema query table database index"],
  [
    "packaging",
    "npm pnpm yarn bun pip pipx uv poetry cargo gem brew apt install dependency lockfile package module",
  ],
  [
    "style",
    "lint eslint biome prettier ruff mypy format style naming name comment type typecheck indent convention",
  ],
  ["docs", "readme doc documentation docstring markdown guide tutorial"],
  ["build", "build compile make cmake ninja webpack vite esbuild tsc gradle mvn bundle"],
  ["network", "curl wget ssh http https proxy dns port endpoint request server socket timeout"],
  [
    "infrastructure",
    "terraform ansible aws gcloud az cloudflare wrangler vercel ci workflow pipeline actions",
  ],
  ["shell", "sed awk grep rg find jq bash zsh sh glob chmod path xargs ls"],
  ["replies", "answer reply language explain summary tone ask question confirm permission"],
];

const domains: ReadonlyMap<string, string> = new Map(
  [...table].reverse().flatMap(([domain, words]) => words.split(" ").map((word) => [stemOf(word), domain])),
);

/** What counts where: a program says more than a trigger, and a trigger more than what is then done. */
const weights = { program: 3, trigger: 2, rest: 1 } as const;

/** What an instinct is about; "general" where nothing tells. */
export function domainOf(instinct: DomainWords): string {
  return domainsOf(instinct)[0] ?? "general";
}

/** The same with those that fit as well; none where nothing tells. */
export function domainsOf({ trigger, action, keywords, call, symptom }: DomainWords): string[] {
  const scores = new Map<string, number>();
  const count = (text: string, weight: number) => {
    for (const word of new Set(wordsOf(text))) {
      const domain = domains.get(word) ?? domains.get(stemOf(word));
      if (domain !== undefined) scores.set(domain, (scores.get(domain) ?? 0) + weight);
    }
  };
  count([call?.[0] ?? "", symptom?.head ?? ""].join(" "), weights.program);
  count(trigger, weights.trigger);
  count([action, ...keywords].join(" "), weights.rest);
  const best = Math.max(0, ...scores.values());
  return table.flatMap(([domain]) => (scores.get(domain) === best ? domain : []));
}

type DomainWords = Pick<Instinct, "trigger" | "action" | "keywords" | "call" | "symptom">;
