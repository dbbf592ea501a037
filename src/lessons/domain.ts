import type { LessonText } from "../records/index.ts";
import { splitWords } from "../text/index.ts";

/** What part of the work a lesson is about. */
export type Domain = (typeof domains)[number];

/** Where a lesson is as much about one as about another, the earlier one counts. */
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

/** As much of a lesson as tells what it is about. */
export type Topical = Pick<LessonText, "trigger" | "action" | "kind"> &
  Partial<Pick<LessonText, "lesson" | "call" | "symptom">>;

/** What part of the work a lesson is about: by the program it runs, then by most of its words. */
export function classifyDomain(about: Topical): Domain {
  const { trigger, action, lesson = "", call = null, symptom = null, kind } = about;
  const votes = new Map<Domain, number>();
  const vote = (domain: Domain | undefined, weight: number) => {
    if (domain) votes.set(domain, (votes.get(domain) ?? 0) + weight);
  };
  const program = call?.[0] ?? symptom?.head.split(" ")[0];
  if (program !== undefined) vote(programs.get(program) ?? (call ? classifyCall(call) : undefined), 3);
  // What a lesson is for and what it asks for say more than how it is told.
  for (const word of splitWords(`${trigger}\n${action}`)) vote(words.get(trimEnding(word)), 2);
  for (const word of splitWords(lesson)) vote(words.get(trimEnding(word)), 1);
  const [best] = domains
    .filter((domain) => votes.has(domain))
    .sort((a, b) => (votes.get(b) ?? 0) - (votes.get(a) ?? 0));
  return best ?? usual[kind] ?? "workflow";
}

/** What a lesson is about whose words do not tell. */
const usual: Partial<Record<LessonText["kind"], Domain>> = {
  "error-recovery": "debugging",
  "tool-pattern": "tooling",
};

/** `npm test` and `make lint` are about what they run, not about npm and make. */
function classifyCall(call: readonly string[]): Domain {
  const [domain = "tooling"] = call.slice(1).flatMap((word) => words.get(trimEnding(word)) ?? []);
  return domain;
}

/** Words as they stand in the lists: plurals and other endings off. */
function trimEnding(word: string): string {
  return words.has(word) ? word : word.replace(/(?:ing|ed|es|s)$/, "");
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
