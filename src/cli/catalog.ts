import type { Command } from "./command.ts";

/** A command in the catalog: how it is loaded, and calls of it that a newcomer can copy. */
export interface CatalogEntry {
  readonly load: () => Promise<Command>;
  readonly examples: readonly string[];
}

/** Commands of one subject, in the order in which help lists them. */
export interface CatalogSection {
  readonly title: string;
  readonly commands: Readonly<Record<string, CatalogEntry>>;
}

function entry(load: CatalogEntry["load"], ...examples: readonly string[]): CatalogEntry {
  return { load, examples };
}

const everyday: CatalogSection = {
  title: "Every day",
  commands: {
    init: entry(
      async () => (await import("./init/init.ts")).init,
      "knack init",
      "knack init --dry-run",
      "knack init --yes --judge claude",
    ),
    learn: entry(
      async () => (await import("./commands/learn.ts")).learn,
      "knack",
      "knack learn ~/.codex/sessions --yes --where me",
      "knack learn --json --dry-run",
    ),
    status: entry(
      async () => (await import("./commands/status.ts")).status,
      "knack status",
      "knack status --json",
    ),
    lessons: entry(
      async () => (await import("./commands/lessons.ts")).lessons,
      "knack lessons",
      "knack lessons show npm-test",
      "knack lessons --unsolved",
    ),
    skills: entry(
      async () => (await import("./commands/skills.ts")).skills,
      "knack skills",
      "knack skills show npm-test",
      "knack skills accept npm-test",
    ),
    recall: entry(
      async () => (await import("./commands/recall.ts")).recall,
      'knack recall "publish the package"',
      'npm test 2>&1 | knack recall --error --command "npm test"',
    ),
    backtest: entry(
      async () => (await import("./commands/backtest.ts")).backtest,
      "knack backtest",
      "knack backtest --examples",
    ),
    undo: entry(
      async () => (await import("./commands/skills.ts")).undo,
      "knack undo",
      "knack undo npm-test",
      "knack undo --dry-run",
    ),
    open: entry(
      async () => (await import("./commands/open.ts")).open,
      "knack open",
      "knack open --read-only",
      "knack open --export report.html",
    ),
    doctor: entry(
      async () => (await import("./doctor/doctor.ts")).doctor,
      "knack doctor",
      "knack doctor --fix --dry-run",
    ),
  },
};

const sessions: CatalogSection = {
  title: "Sessions, and what Knack was worth",
  commands: {
    run: entry(async () => (await import("./commands/run.ts")).run, "knack run -- claude"),
    sessions: entry(
      async () => (await import("./commands/sessions.ts")).sessions,
      "knack sessions",
      "knack sessions --since 7d",
    ),
    projects: entry(async () => (await import("./commands/sessions.ts")).projects, "knack projects"),
    report: entry(
      async () => (await import("./commands/report.ts")).report,
      "knack report",
      "knack report npm-test --since 4w",
    ),
    rate: entry(
      async () => (await import("./commands/report.ts")).rate,
      'knack rate npm-test harmful --because "it skips the linter"',
    ),
    goal: entry(
      async () => (await import("./commands/goal.ts")).goal,
      "knack goal board",
      'knack goal open "Find out why the build is slow"',
      "knack goal check --json",
    ),
    loop: entry(
      async () => (await import("./loop/loop.ts")).loop,
      'knack loop start --goal "Make the build pass on Node 24" --harness claude',
      "knack loop start --goal goal.json --mode frozen",
      "knack loop list",
      "knack loop show",
    ),
    pages: entry(
      async () => (await import("./commands/pages.ts")).pages,
      "knack pages tree",
      'knack pages find "slow build"',
      'knack pages add "IF the build is slow THEN look at the cache key first" --page performance/build',
    ),
    review: entry(
      async () => (await import("./commands/review.ts")).review,
      "knack review",
      "knack review inbox",
    ),
  },
};

const library: CatalogSection = {
  title: "The library (also: knack library <command>)",
  commands: {
    gaps: entry(async () => (await import("./commands/gaps.ts")).gaps, "knack gaps"),
    curate: entry(
      async () => (await import("./commands/curate.ts")).curate,
      "knack curate",
      "knack curate --apply",
      "knack curate --undo",
    ),
    evolve: entry(async () => (await import("./commands/evolve.ts")).evolve, "knack evolve"),
    promote: entry(async () => (await import("./commands/lessons.ts")).promote, "knack promote"),
    prune: entry(
      async () => (await import("./commands/lessons.ts")).prune,
      "knack prune --dry-run",
      "knack prune --undo",
    ),
    export: entry(
      async () => (await import("./commands/exchange.ts")).exportCommand,
      "knack export --out lessons.json",
    ),
    import: entry(
      async () => (await import("./commands/exchange.ts")).importCommand,
      "knack import lessons.json --dry-run",
    ),
  },
};

const team: CatalogSection = {
  title: "With others",
  commands: {
    share: entry(
      async () => (await import("./team/share.ts")).share,
      "knack share npm-test --dry-run",
      "knack share --in harbor",
      "knack share --undo npm-test",
    ),
    team: entry(
      async () => (await import("./team/team.ts")).team,
      "knack team create postgres://postgres@127.0.0.1:5432/knack --as ana",
      "knack team invite ben",
      "knack team join --from ~/invitation-ben",
      "knack team inbox",
      "knack team accept @ana",
    ),
    worker: entry(
      async () => (await import("./team/worker.ts")).worker,
      "knack worker --team",
      "knack worker --team --stay",
    ),
  },
};

const machine: CatalogSection = {
  title: "Knack on this machine",
  commands: {
    install: entry(
      async () => (await import("./commands/install.ts")).install,
      "knack install claude",
      "knack install codex --dry-run",
    ),
    uninstall: entry(
      async () => (await import("./commands/uninstall.ts")).uninstall,
      "knack uninstall claude",
      "knack uninstall --purge --dry-run",
    ),
    config: entry(
      async () => (await import("./commands/config.ts")).config,
      "knack config",
      "knack config set suggestions 3",
      "knack config set learn false --project",
    ),
    logs: entry(async () => (await import("./commands/logs.ts")).logs, "knack logs", "knack logs --since 7d"),
    completion: entry(
      async () => (await import("./commands/completion.ts")).completion,
      'eval "$(knack completion bash)"                                  # in ~/.bashrc',
      'eval "$(knack completion zsh)"                                   # in ~/.zshrc, after compinit',
      "knack completion fish > ~/.config/fish/completions/knack.fish",
    ),
  },
};

/** Started by hooks and agents, so the overview does not list them. */
const plumbing: Readonly<Record<string, CatalogEntry>> = {
  work: entry(async () => (await import("./commands/plumbing.ts")).work),
  slash: entry(async () => (await import("./commands/slash.ts")).slash),
  mcp: entry(async () => (await import("./commands/plumbing.ts")).mcp),
  schema: entry(async () => (await import("./commands/plumbing.ts")).schema),
};

/** Sections whose name may stand before their commands: `knack library curate`. */
export const subjects: Readonly<Record<string, CatalogSection>> = { library };

export const sections: readonly CatalogSection[] = [everyday, sessions, library, team, machine];

const listed: Readonly<Record<string, CatalogEntry>> = Object.assign(
  {},
  ...sections.map(({ commands }) => commands),
);

/** Names that stand for a command. */
const aliases: Readonly<Record<string, string>> = { ingest: "learn", instincts: "lessons" };

/** Commands that a person may type, and the words that stand for one. */
export const typedNames: readonly string[] = [
  ...Object.keys(listed),
  ...Object.keys(aliases),
  ...Object.keys(subjects),
];

export function findEntry(name: string): CatalogEntry | null {
  const all = { ...listed, ...plumbing };
  return (Object.hasOwn(all, name) && all[name]) || null;
}

/** Words with the alias in front written out, and without the subject: `library curate` is `curate`. */
export function resolveWords(words: readonly string[]): readonly string[] {
  const [first = "", second = "", ...rest] = words;
  if (Object.hasOwn(subjects[first]?.commands ?? {}, second)) return [second, ...rest];
  const alias = Object.hasOwn(aliases, first) ? aliases[first] : undefined;
  return alias ? [alias, ...words.slice(1)] : words;
}
