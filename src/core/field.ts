import { stemOf } from "./ask-words.ts";
import type { Instinct } from "./instinct.ts";
import { wordsOf } from "./words.ts";

/** Fields of work, finer than domains, by the programs and the words that belong to it. Of two that fit as well, the first counts. */
const table: readonly (readonly [field: string, words: string])[] = [
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

const fields: ReadonlyMap<string, string> = new Map(
  [...table].reverse().flatMap(([field, words]) => words.split(" ").map((word) => [stemOf(word), field])),
);

/** What counts where: a program says more than a trigger, and a trigger more than what is then done. */
const weights = { program: 3, trigger: 2, rest: 1 } as const;

/** The fields of work that an instinct is of: the one that fits best, and those that fit as well; none where nothing tells. */
export function fieldsOf({ trigger, action, keywords, call, symptom }: FieldWords): string[] {
  const scores = new Map<string, number>();
  const count = (text: string, weight: number) => {
    for (const word of new Set(wordsOf(text))) {
      const field = fields.get(word) ?? fields.get(stemOf(word));
      if (field !== undefined) scores.set(field, (scores.get(field) ?? 0) + weight);
    }
  };
  count([call?.[0] ?? "", symptom?.head ?? ""].join(" "), weights.program);
  count(trigger, weights.trigger);
  count([action, ...keywords].join(" "), weights.rest);
  const best = Math.max(0, ...scores.values());
  return table.flatMap(([field]) => (scores.get(field) === best ? field : []));
}

type FieldWords = Pick<Instinct, "trigger" | "action" | "keywords" | "call" | "symptom">;
