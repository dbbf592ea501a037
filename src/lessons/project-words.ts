import type { LessonText } from "../records/index.ts";

/** Characters of a project's name from which a lesson that has it is the project's own. */
const tellingNameChars = 3;

export interface NamedProject {
  readonly name: string;
  readonly root: string | null;
}

/** A word that ties a lesson to its project: one of its files or scripts, or its name. Null where there is none. */
export function findProjectWord(
  about: Pick<LessonText, "trigger" | "action" | "lesson" | "steps" | "call">,
  project: NamedProject | null,
): string | null {
  const { trigger, action, lesson, steps, call } = about;
  const text = [trigger, action, lesson, ...steps, (call ?? []).join(" ")].join("\n");
  if (project?.root != null && project.root.length > 1 && text.includes(project.root)) return project.root;
  const words = text.split(/[\s"'`“”‘’,;()<>[\]{}=|]+/).map((word) => word.replace(/[.:!?]+$/, ""));
  const name = project?.name.toLowerCase() ?? "";
  const isTelling = name.length >= tellingNameChars && !commonNames.has(name);
  for (const [at, word] of words.entries()) {
    if (isTelling && word.toLowerCase() === name) return word;
    if (isOwnPath(word) || isOwnFile(word)) return word;
    const script = readScript(words, at);
    if (script !== null) return script;
  }
  return null;
}

/** Names that many projects have, and that mean something else in a lesson. */
const commonNames = new Set(
  (
    "app apps web api test tests server client backend frontend docs site demo src lib core main project repo tool tools " +
    "script scripts code work workspace example examples service services bot cli sdk ui website blog data infra git node python docker"
  ).split(" "),
);

/** A path into a project: with folders, and a file at its end or two of them. */
function isOwnPath(word: string): boolean {
  if (!word.includes("/") || word.includes("://") || word.includes("*")) return false;
  if (commonPaths.test(word) || /^\.\/(?:gradlew|mvnw)$/.test(word)) return false;
  if (/^(?:\.{1,2}|~)\//.test(word) || word.startsWith("/")) return /[a-z]/i.test(word);
  return /\/[^/]+\.[a-z]\w{0,5}$/i.test(word) || /^[\w.-]+\/[\w.-]+\/$/.test(word);
}

const commonPaths =
  /^(?:~\/\.|\/(?:dev|tmp|usr|etc|bin|opt|var|proc|sys)\b|node_modules\/|\.[a-z]|@[\w-]+\/[\w-]+$)/;

/** A file of a project, by its name alone; those that every project of a kind has are nobody's. */
function isOwnFile(word: string): boolean {
  if (word.includes("/") || !sources.test(word) || /^[.*-]/.test(word)) return false;
  return !commonFiles.has(word.toLowerCase()) && !/^[A-Z][A-Za-z]*\.js$/.test(word);
}

const sources =
  /^[\w.@-]+\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|swift|php|cs|cpp|cc|c|h|hpp|sh|bash|sql|vue|svelte|md|ya?ml|json|toml|html|css|scss)$/i;

const commonFiles = new Set(
  (
    "package.json package-lock.json tsconfig.json jsconfig.json pnpm-lock.yaml pnpm-workspace.yaml docker-compose.yml docker-compose.yaml " +
    "compose.yml compose.yaml pyproject.toml cargo.toml composer.json deno.json biome.json turbo.json nx.json lerna.json " +
    "readme.md claude.md agents.md contributing.md changelog.md license.md skill.md gemini.md todo.md setup.py conftest.py " +
    "manage.py __init__.py settings.json launch.json vite.config.ts vite.config.js vitest.config.ts jest.config.js " +
    "jest.config.ts webpack.config.js eslint.config.js tailwind.config.js next.config.js next.config.mjs openapi.yaml " +
    "node.js next.js vue.js nuxt.js d3.js three.js express.js react.js index.html index.js index.ts main.py main.go mod.rs lib.rs main.rs"
  ).split(" "),
);

/** A script that a project has given itself, such as `npm run seed-harbor`; those that all have are none. */
function readScript(words: readonly string[], at: number): string | null {
  const [program = "", first = "", second = ""] = words.slice(at, at + 3).map((word) => word.toLowerCase());
  const script = runners.has(program) && first === "run" ? second : makers.has(program) ? first : "";
  if (!/^[a-z][\w:.-]*$/.test(script) || noScripts.has(script)) return null;
  const [stem = ""] = script.split(/[:.-]/);
  // "make sure" and "just use" are no calls.
  if (makers.has(program) && !/[:_.-]/.test(script)) return null;
  return commonScripts.has(stem) ? null : `${program} ${runners.has(program) ? "run " : ""}${script}`;
}

/** Words that follow a command in a sentence. */
const noScripts = new Set(
  "fails failed fail with when after before and or then the a an to for from is in on script scripts".split(
    " ",
  ),
);
const runners = new Set("npm pnpm yarn bun deno".split(" "));
const makers = new Set("make just task rake mage".split(" "));
const commonScripts = new Set(
  "test tests build lint start dev develop format fmt typecheck type check clean install ci release coverage watch serve preview deploy docs all e2e prepare bench generate".split(
    " ",
  ),
);
