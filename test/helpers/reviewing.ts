import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ActiveCaller } from "../../src/authoring/caller.ts";
import { type Knack, openKnack } from "../../src/open.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { getSessionId } from "../../src/records/session.ts";
import type { ReviewEnded, Signal } from "../../src/records/writing.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { type Act, anEndpoint, type Endpoint, type Question } from "./endpoint.ts";
import { asked, failed, hour, type Lived, minute, ran, replied, type Step, writeLived } from "./lived.ts";
import { tempFolder } from "./temp.ts";

/** A person's machine with a repository, a model on loopback, and sessions to look back at. */
export interface Looking {
  readonly home: string;
  readonly repository: string;
  readonly env: Record<string, string>;
  readonly endpoint: Endpoint;
  readonly clock: { now(): number; pass(ms: number): void };
  open(): Promise<Knack>;
  /** Has a session lived and learned from; answers with it as its agent's host would name it. */
  lives(knack: Knack, name?: string, steps?: readonly Step[], cwd?: string): Promise<ActiveCaller>;
  entries(): Promise<LedgerEntry[]>;
}

/** What the scripted reviewer says. */
export interface Script {
  readonly reviewer: (question: Question, dossier: Told) => Act;
}

/** What a reviewer is shown, as far as tests look at it. */
export interface Told {
  readonly leads: readonly { readonly do: string; readonly hint?: string; readonly skill?: string }[];
  readonly skills: readonly {
    readonly name: string;
    readonly base?: string;
    readonly text?: string;
    readonly files?: readonly { readonly path: string; readonly characters: number }[];
  }[];
  readonly events: readonly { readonly id: string; readonly what: string; readonly detail: string }[];
}

export const start = Date.UTC(2026, 10, 2);

/** A session in which what a skill tells failed, and something else worked. */
export const staleTunnel: readonly Step[] = [
  asked("Deploy the site to staging"),
  replied("I will follow the deploy skill."),
  failed("make tunnel", "make: *** No rule to make target 'tunnel'.  Stop."),
  ran("make help", "tunnel-up  open the tunnel\ndeploy  deploy the site"),
  ran("make tunnel-up", "tunnel is open"),
  ran("make deploy", "deployed to staging"),
  replied("Deployed; the target is called tunnel-up now."),
];

export async function looking(script: Script, settings: object = {}): Promise<Looking> {
  const home = tempFolder();
  const repository = join(home, "work");
  mkdirSync(join(repository, ".git/info"), { recursive: true });
  const endpoint = await anEndpoint((question) => answerTo(script, question));
  const env = {
    ...{ HOME: home, KNACK_HOME: join(home, ".knack"), PATH: process.env.PATH ?? "" },
    TEST_KEY: "not-a-secret-word",
  };
  mkdirSync(env.KNACK_HOME);
  configure(env.KNACK_HOME, endpoint.url, settings);
  let now = start;
  const clock = {
    now: () => now++,
    pass: (ms: number) => {
      now += ms;
    },
  };
  return {
    ...{ home, repository, env, endpoint, clock },
    open: async () => {
      const knack = await openKnack({ env, clock });
      onTestFinished(() => knack.close());
      return knack;
    },
    lives: async (_, name = "first", steps = staleTunnel, cwd = repository) => {
      // Reviews are what is looked at here: nobody judges the sessions.
      const unjudged = await openKnack({ env, clock, judge: "off" });
      try {
        return await lives(unjudged, { home, repository: cwd, name, steps });
      } finally {
        await unjudged.close();
      }
    },
    entries: async () => {
      const store = await openSqlite({ path: join(env.KNACK_HOME, "knack.db"), clock });
      try {
        return await store.ledger.all();
      } finally {
        await store.close();
      }
    },
  };
}

export function configure(folder: string, url: string, settings: object): void {
  const config = {
    ...{ review: "auto", judge: "openai/some-mini", "judge.url": url, "judge.keyEnv": "TEST_KEY" },
    ...{ "judge.inputUsd": 1, "judge.outputUsd": 5, "judge.budgetDay": 1, "review.timeoutMs": 30_000 },
    ...settings,
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
}

export function answerTo({ reviewer }: Script, question: Question): Act {
  // The judge of sessions is the same model.
  if (question.prompt.includes('"known_lessons"')) return { value: { lessons: [], aside: [], more: [] } };
  return reviewer(question, toldIn(question.prompt));
}

/** The data in a request, found as the request says. */
export function toldIn(text: string): Told {
  const [, , json] = /^----- ([\w-]+) begins -----\n(.*?)\n----- \1 ends -----$/ms.exec(text) ?? [];
  if (json === undefined) throw new Error(`no data in ${text.slice(0, 200)}`);
  return JSON.parse(json) as Told;
}

async function lives(
  knack: Knack,
  {
    home,
    repository,
    name,
    steps,
  }: { home: string; repository: string; name: string; steps: readonly Step[] },
): Promise<ActiveCaller> {
  const lived: Lived = { name, cwd: repository, at: start - 3 * hour, pace: minute, steps };
  const paths = writeLived(home, [lived]);
  const { sessions } = await knack.learn(paths);
  const [session] = sessions;
  if (!session) throw new Error("no session was read");
  const run = getSessionId(session);
  return {
    caller: {
      ...{ session: run, invocation: `${run}#1`, kind: "foreground", project: session.project },
      ...{ format: "claude-code", model: null },
    },
    session,
  };
}

/** The refs of what failed and of what then worked in a session. */
export async function troubleIn(knack: Knack, { session }: ActiveCaller): Promise<string[]> {
  if (!session) throw new Error("there is no session");
  const events = await knack.events(session);
  const failure = events.find(({ outcome }) => outcome === "failed");
  const fix = events.find(({ command }) => command === "make tunnel-up");
  return [failure, fix].flatMap((event) => event?.ref ?? []);
}

/** An agent says that a skill is wrong, or that something is worth one. */
export async function signals(
  knack: Knack,
  present: ActiveCaller,
  more: Partial<Signal> = {},
): Promise<void> {
  const refs = await troubleIn(knack, present);
  const claim = {
    ...{ kind: "create", nameHint: "rl-deploy-tunnel", trigger: "recovered_surprise", refs },
    ...{ deferred: "needs_full_context_review", summary: "deploying needs the tunnel, by tunnel-up" },
    ...more,
  } as Signal;
  const given = await knack.giveSignal(present, claim as never);
  if (!given.ok) throw new Error(JSON.stringify(given.fault));
}

export const skillIssue = {
  ...{ kind: "update", skill: "rl-deploy-tunnel", issue: "stale_command", effect: "retry_after_tool_error" },
  ...{ deferred: "needs_existing_skill_diff", hint: "the target is called tunnel-up now" },
} as Partial<Signal>;

/** A reviewer's answer in the form that is asked for. */
export function answering(drafts: readonly object[], because = "It will be needed again.") {
  const blank = {
    ...{ name: null, description: null, body: null, files: [], skill: null, base: null, edits: [] },
    ...{ remove: [], refs: [], because: "The target has another name now." },
  };
  return { because, expand: [], drafts: drafts.map((draft) => ({ ...blank, ...draft })) };
}

/** A draft of a new skill that nothing is wrong with. */
export function aCreate({ events }: Told, more: object = {}): object {
  return {
    do: "create",
    name: "rl-deploy-tunnel",
    description: "Use when make deploy needs the tunnel to the cluster.",
    body: "## Steps\n\n1. Run `make tunnel-up`.\n2. Run `make deploy`.",
    refs: events.slice(0, 2).map(({ id }) => id),
    ...more,
  };
}

/** A patch of the skill that is there. */
export function aPatch({ events, skills }: Told, more: object = {}): object {
  const shown = skills.find(({ text }) => text !== undefined);
  return {
    do: "patch",
    skill: shown?.name ?? "none",
    base: shown?.base ?? "none",
    edits: [{ path: "SKILL.md", find: "make tunnel`", replace: "make tunnel-up`" }],
    refs: events.slice(0, 2).map(({ id }) => id),
    ...more,
  };
}

/** Has the agent of a session write the skill that later turns out to be stale. */
export async function learnsSkill(
  knack: Knack,
  present: ActiveCaller,
  {
    name = "rl-deploy-tunnel",
    files = {},
  }: { readonly name?: string; readonly files?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const refs = await troubleIn(knack, present);
  const common = { action: "create" as const, skill: name, refs };
  const started = await knack.startWriting(present, {
    ...{ ...common, reason: "recovered_surprise" as const },
    message: "I am writing down how to deploy.",
  });
  if (!started.ok) throw new Error(JSON.stringify(started.fault));
  for (const [path, text] of Object.entries({ "SKILL.md": staleSkill(name), ...files })) {
    const file = join(started.value.staging, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const finished = await knack.finishWriting(present, {
    ...{ ...common, status: "created" as const, message: null, summary: null },
  });
  if (!finished.ok) throw new Error(JSON.stringify(finished.fault));
}

export function staleSkill(name: string): string {
  return `---\nname: ${name}\ndescription: Use when make deploy needs the tunnel to the cluster.\n---\n\n## Steps\n\n1. Run \`make tunnel\`.\n2. Run \`make deploy\`.\n`;
}

/** A desk with a learned skill that is stale, and a session that says so. */
export async function stale(reviewer: (told: Told) => Act, settings: object = {}) {
  const at = await looking({ reviewer: (_, told) => reviewer(told) }, settings);
  const knack = await at.open();
  await learnsSkill(knack, await at.lives(knack, "first"));
  await signals(knack, await at.lives(knack, "second"), skillIssue);
  return { at, knack };
}

/** A desk with a session that something new is to be learned from. */
export async function fresh(reviewer: (told: Told) => Act, settings: object = {}) {
  const at = await looking({ reviewer: (_, told) => reviewer(told) }, settings);
  const knack = await at.open();
  await signals(knack, await at.lives(knack));
  return { at, knack };
}

/** What a reviewer says that proposes something. */
export const value = (...drafts: object[]): Act => ({ value: answering(drafts) });

/** How the first of all reviews ends that are due. */
export async function review(knack: Knack): Promise<ReviewEnded | null> {
  return (await knack.review())[0]?.ended ?? null;
}
