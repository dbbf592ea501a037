import type { LessonText } from "../records/index.ts";
import { splitWords } from "../text/index.ts";

/** The parts of the work. Where a lesson is as much about one as about another, the earlier one counts. */
export const domains = [
  "security",
  "git",
  "testing",
  "code-style",
  "file-patterns",
  "debugging",
  "tooling",
  "workflow",
] as const;

type Domain = (typeof domains)[number];

/** The domain of a lesson: by the program it runs, then by most of its words. */
export function classifyDomain(
  about: Pick<LessonText, "trigger" | "action" | "kind"> &
    Partial<Pick<LessonText, "lesson" | "call" | "symptom">>,
): Domain {
  const { trigger, action, lesson = "", call = null, symptom = null, kind } = about;
  const votes = new Map<Domain, number>();
  const vote = (domain: Domain | undefined, weight: number) => {
    if (domain) votes.set(domain, (votes.get(domain) ?? 0) + weight);
  };
  const program = call?.[0] ?? symptom?.head.split(" ")[0];
  if (program !== undefined) vote(programs.get(program) ?? (call ? classifyCall(call) : undefined), 3);
  // What a lesson is for and what it asks for say more than how it is told.
  for (const word of splitWords(`${trigger}\n${action}`)) vote(findDomain(word), 2);
  for (const word of splitWords(lesson)) vote(findDomain(word), 1);
  const [best] = domains
    .filter((domain) => votes.has(domain))
    .sort((a, b) => (votes.get(b) ?? 0) - (votes.get(a) ?? 0));
  return best ?? (kind === "error-recovery" ? "debugging" : kind === "tool-pattern" ? "tooling" : "workflow");
}

/** `npm test` and `make lint` are about what they run, not about npm and make. */
function classifyCall(call: readonly string[]): Domain {
  return call.slice(1).flatMap((word) => findDomain(word) ?? [])[0] ?? "tooling";
}

/** Words stand in the lists without plurals and other endings. */
function findDomain(word: string): Domain | undefined {
  return words.get(word) ?? words.get(word.replace(/(?:ing|ed|es|s)$/, ""));
}

const programs = indexWords({
  git: "git gh glab hub git-lfs",
  testing: "pytest vitest jest mocha phpunit rspec tox nox ctest playwright cypress ava",
  "code-style":
    "eslint prettier biome black ruff flake8 isort gofmt rustfmt clang-format rubocop stylelint mypy pyright",
  security: "gpg openssl ssh-keygen gitleaks trivy semgrep vault age sops",
  debugging: "gdb lldb strace dmesg journalctl valgrind perf",
});

const words = indexWords({
  security:
    "secret password credential token vulnerability sanitize sanitise escape auth authentication authorization encrypt csrf xss injection cve permission 密码 密钥 安全",
  git: "git commit branch rebase merge push pull cherry-pick changelog pr prs stash worktree squash force-push checkout 提交 分支",
  testing:
    "test tests spec fixture mock coverage assert assertion snapshot e2e pytest vitest jest flaky 测试 テスト",
  "code-style":
    "style format formatter lint linter indent naming camelcase snake_case comment docstring type typed typing const readability refactor semicolon quote import 风格 注释 命名",
  "file-patterns": "file folder directory path filename extension layout structure gitignore glob 文件 目录",
  debugging:
    "debug error exception crash stack traceback log breakpoint reproduce bug cause investigate diagnose 调试 错误",
  tooling:
    "install dependency package npm pnpm yarn pip uv poetry cargo docker compose build bundler cli version node python toolchain container registry lockfile 安装 依赖",
  workflow:
    "plan review ask first before after step deploy release approve confirm summary document report 流程 计划",
});

function indexWords(lists: Partial<Record<Domain, string>>): Map<string, Domain> {
  const pairs = Object.entries(lists).flatMap(([domain, all]) =>
    all.split(" ").map((word) => [word, domain as Domain] as const),
  );
  return new Map(pairs);
}

/** Characters of a project's name from which a lesson that has it is the project's own. */
const tellingNameChars = 3;

interface NamedProject {
  readonly name: string;
  readonly root: string | null;
}

/** A word that ties a lesson to its project: one of its files or scripts, or its name. Null where there is none. */
export function findProjectWord(
  {
    trigger,
    action,
    lesson,
    steps,
    call,
  }: Pick<LessonText, "trigger" | "action" | "lesson" | "steps" | "call">,
  project: NamedProject | null,
): string | null {
  const text = [trigger, action, lesson, ...steps, (call ?? []).join(" ")].join("\n");
  if (project?.root != null && project.root.length > 1 && text.includes(project.root)) return project.root;
  const said = text.split(/[\s"'`“”‘’,;()<>[\]{}=|]+/).map((word) => word.replace(/[.:!?]+$/, ""));
  const name = project?.name.toLowerCase() ?? "";
  const isTelling = name.length >= tellingNameChars && !commonNames.has(name);
  for (const [at, word] of said.entries()) {
    if ((isTelling && word.toLowerCase() === name) || isOwnPath(word) || isOwnFile(word)) return word;
    const script = readScript(said, at);
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

/** Whether a bare file name is specific to a project, not one that every such project has. */
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

/** A script that a project defines, such as `npm run seed-harbor`; common ones do not count. */
function readScript(said: readonly string[], at: number): string | null {
  const [program = "", first = "", second = ""] = said.slice(at, at + 3).map((word) => word.toLowerCase());
  const isRunner = runners.has(program);
  const script = isRunner && first === "run" ? second : makers.has(program) ? first : "";
  if (!/^[a-z][\w:.-]*$/.test(script) || noScripts.has(script)) return null;
  // "make sure" and "just use" are no calls.
  if (makers.has(program) && !/[:_.-]/.test(script)) return null;
  return commonScripts.has(script.split(/[:.-]/)[0] ?? "")
    ? null
    : `${program} ${isRunner ? "run " : ""}${script}`;
}

const runners = new Set("npm pnpm yarn bun deno".split(" "));
const makers = new Set("make just task rake mage".split(" "));
/** Words that follow a command in a sentence. */
const noScripts = new Set(
  "fails failed fail with when after before and or then the a an to for from is in on script scripts".split(
    " ",
  ),
);
const commonScripts = new Set(
  (
    "test tests build lint start dev develop format fmt typecheck type check clean install ci release coverage watch serve " +
    "preview deploy docs all e2e prepare bench generate"
  ).split(" "),
);
