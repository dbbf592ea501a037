import { isOwnCall } from "../../failures/index.ts";
import { type Event, getSessionId, parseRef, type TranscriptId } from "../../records/index.ts";
import { baseName } from "../../text/index.ts";
import {
  describeDoubt,
  findUngrounded,
  findWrittenDoubt,
  listPrograms,
  type WrittenText,
} from "../../trust/index.ts";
import type { PackageFileList } from "../files/packages.ts";
import { packageText, scanPackageSince } from "../package.ts";
import type { PublishDeps } from "./changes.ts";

/** Something that an agent or a review wrote, and what it had before it when it did. */
export interface WrittenPackage {
  readonly files: PackageFileList;
  /** The version it replaces; null for something new. */
  readonly base: PackageFileList | null;
  readonly project: string;
  readonly root: string | null;
  /** The transcripts that its author has read or lived through, each up to an event where it did not see the rest. */
  readonly seen: readonly { readonly transcript: TranscriptId; readonly to?: number }[];
  /** The events that it gives as evidence. */
  readonly cited: readonly Event[];
  /** Somebody wrote it freely, and agents get it whole without anybody's yes: each part has to rest on something. */
  readonly isFree?: boolean;
  /** Other texts that its author was shown and nobody vouches for. */
  readonly shown?: readonly string[];
}

/**
 * Why what was written waits for a person's yes; null where it may be used at once. The author may have been talked
 * into it by what it read: so its words count as those of the text in which they first appeared.
 */
export async function findHold(deps: PublishDeps, written: WrittenPackage): Promise<string | null> {
  const { files, base, root } = written;
  const [doubted] = scanPackageSince(base, files);
  if (doubted) return `${doubted.where}: ${doubted.message.replace(/\.$/, "")}`;
  const texts = toTexts(files);
  const sessions: Event[][] = [];
  for (const { transcript, to = Number.POSITIVE_INFINITY } of written.seen) {
    const events = await deps.store.events.of(transcript);
    sessions.push(events.filter((event) => !isOwnCall(event) && parseRef(event.ref) <= to));
  }
  sessions.push(...(written.shown ?? []).map((text) => [toEvent(text)]));
  const programs = await findKnownPrograms(deps, listPrograms(texts, root), written);
  const facts = { sessions, cited: written.cited, root, programs };
  const before = toTexts(base ?? []);
  const doubt = findWrittenDoubt(texts, before, facts);
  if (doubt !== null) return describeDoubt(doubt);
  if (!written.isFree) return null;
  const ungrounded = findUngrounded(texts, before, facts);
  return ungrounded && `nothing that ran and nobody's words in its session have "${ungrounded}"`;
}

function toTexts(files: PackageFileList): WrittenText[] {
  return files.map(packageText).map(({ path, words }) => ({ path, text: words }));
}

/** A text that was read, as a session has it. */
function toEvent(text: string): Event {
  return {
    ...{ ref: "e1", key: "1", resultKey: null, at: null, endedAt: null, turn: 0, source: "imported" },
    ...{ kind: "call", sidechain: false, tool: "Read", input: null, command: null, files: ["/"], cwd: null },
    ...{ outcome: "ok", exitCode: null, text, callId: null, origin: null },
  };
}

/** Of some programs, those that worked in earlier sessions of the project. */
async function findKnownPrograms(
  { store }: PublishDeps,
  programs: readonly string[],
  { seen, project }: WrittenPackage,
): Promise<Set<string>> {
  const known = new Set<string>();
  if (programs.length === 0) return known;
  const all = await store.sessions.list();
  const own = new Set(seen.map(({ transcript }) => transcript));
  const runs = new Set<string>(all.filter(({ id }) => own.has(id)).map(getSessionId));
  for (const program of programs) {
    const uses = await store.learning.uses.of(baseName(program), project);
    if (uses.some(({ run, ok }) => ok > 0 && ![...runs].some((one) => run.startsWith(one))))
      known.add(program);
  }
  return known;
}
