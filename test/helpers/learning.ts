import { join } from "node:path";
import type { ActiveCaller, AuthoringDeps } from "../../src/authoring/caller.ts";
import { finishWriting } from "../../src/authoring/finish.ts";
import { startWriting } from "../../src/authoring/start.ts";
import type { Event, Session } from "../../src/records/session.ts";
import type { Caller, WritingStart } from "../../src/records/writing.ts";
import { edited, ran, said, session as sessionOf } from "./events.ts";
import { put } from "./library.ts";
import { type Desk, desk } from "./publishing.ts";

export type WritingFinish = Parameters<typeof finishWriting>[2];

/** A desk at which an agent works: its session is known, and it may learn. */
export interface Bench extends Desk, AuthoringDeps {
  readonly present: ActiveCaller;
}

export async function bench(caller: Partial<Caller> = {}): Promise<Bench> {
  const own = await desk();
  const project = { id: "/p", name: "work", root: own.repository };
  const session: Session = {
    ...{ id: "/s/0.jsonl", path: "/s/0.jsonl", format: "claude-code", project },
    counts: { events: 4, prompts: 1, calls: 3, failed: 1, rejected: 0 },
    ...{ sessionId: "run-1", agentId: null, subagent: false, cwd: own.repository, remote: null },
    ...{ transcriptPath: null, startedAt: 1, endedAt: 2 },
  };
  const events = sessionOf(
    said("deploy it"),
    ran("make deploy", "failed", "no tunnel"),
    ran("make tunnel", "ok"),
    ran("make deploy", "ok"),
  );
  await own.store.sessions.save([session]);
  await own.store.events.save([{ session: session.id, events }]);
  return {
    ...own,
    refuses: async () => null,
    inLibrary: async () => null,
    catalog: async () => ({ items: [], problems: [], unread: [], files: [], here: null }),
    ownSkills: [],
    staging: (root) => ({
      folder: root === null ? join(own.home, ".knack/staging") : join(root, ".knack/staging"),
      root: root ?? join(own.home, ".knack"),
    }),
    present: {
      caller: {
        ...{ session: "run-1", invocation: "run-1#1", kind: "foreground", project },
        ...{ format: "claude-code", model: "opus" },
        ...caller,
      },
      session: { ...session, diagnostics: [], alsoFrom: [] },
    },
  };
}

/** Lets the agent do something more, as its transcript will have it. */
export async function acts(own: Bench, ...more: readonly Event[]): Promise<void> {
  const { id } = own.present.session as Session;
  const before = await own.store.events.of(id);
  const events = sessionOf(...before, ...more).slice(before.length);
  await own.store.events.save([{ session: id, events }]);
}

/** Lets the agent write files into a folder with its own tools. */
export async function writes(own: Bench, folder: string, files: Record<string, string>): Promise<void> {
  put(folder, files);
  await acts(own, ...Object.keys(files).map((path) => edited(join(folder, path))));
}

export const skillName = "rl-deploy-tunnel";

/** A start about which only what matters is said. */
export function start(own: Bench, more: Partial<WritingStart> = {}, present = own.present) {
  return startWriting(own, present, {
    ...{ action: "create", skill: skillName, reason: "recovered_surprise", refs: ["e2", "e4"] },
    message: "I am writing down how to deploy.",
    ...more,
  });
}

export function finish(own: Bench, more: Partial<WritingFinish> = {}, present = own.present) {
  const { action = "create" } = more;
  return finishWriting(own, present, {
    ...{ action, skill: skillName, status: action === "create" ? "created" : "updated" },
    ...{ message: null, summary: null, refs: [] },
    ...more,
  });
}

/** A skill that nothing is wrong with. */
export function goodText(
  name = skillName,
  more: { description?: string; body?: string; front?: string } = {},
): string {
  const {
    description = "Use when make deploy fails because there is no tunnel to the cluster.",
    body = "## Steps\n\n1. Run `make tunnel`.\n2. Run `make deploy` again.",
    front = "",
  } = more;
  return `---\nname: ${name}\ndescription: ${description}\n${front}---\n\n${body}\n`;
}
