import type { Clock, Embedder, Redactor } from "./engine/ports.ts";
import { type ForegroundVerbs, foregroundVerbs } from "./open/foreground.ts";
import { type GapVerbs, gapVerbs } from "./open/gaps.ts";
import { type Environment, openHome } from "./open/home.ts";
import { type InstinctVerbs, instinctVerbs } from "./open/instincts.ts";
import { type LibraryVerbs, libraryVerbs } from "./open/library.ts";
import { type ModelVerbs, modelVerbs } from "./open/model.ts";
import { observationIn } from "./open/observing.ts";
import { partsOf } from "./open/parts.ts";
import { type ReviewVerbs, reviewVerbs } from "./open/reviews.ts";
import { type SessionVerbs, sessionVerbs } from "./open/sessions.ts";
import { type SharingVerbs, sharingVerbs } from "./open/sharing.ts";
import { type ShowingVerbs, showingVerbs } from "./open/showing.ts";
import { type SkillVerbs, skillVerbs } from "./open/skills.ts";
import { stockOf } from "./open/stock.ts";
import { type UpkeepVerbs, upkeepVerbs } from "./open/upkeep.ts";
import { createRedactor } from "./redaction/secretlint.ts";

export interface KnackOptions {
  /** The environment that decides where things are; this process's by default. */
  readonly env?: Environment;
  readonly clock?: Clock;
  /** What takes secrets out; by default on this thread. */
  readonly redactor?: Redactor;
  /** Tells how alike texts are in meaning, for `find`; none by default, and hooks ask none. */
  readonly embedder?: Embedder;
  /** Keep nothing: work in a place that is gone at the end. */
  readonly dryRun?: boolean;
  /** With `dryRun`: begin with nothing, not with what is known. */
  readonly blank?: boolean;
  /** Look at a copy of what is kept, where nothing can be written. */
  readonly copy?: boolean;
  /** Who looks at sessions, whatever the settings say. */
  readonly observer?: string;
  /** The folder of the plugin's template, for Knack's own skills. */
  readonly template?: string;
  /** Where requests to a model are written, and where its answers are: with either, nothing is sent anywhere. */
  readonly modelDump?: string;
  readonly modelAnswers?: string;
}

/** Knack, opened on one home. Close it when done. */
export interface Knack
  extends SessionVerbs,
    InstinctVerbs,
    SkillVerbs,
    GapVerbs,
    LibraryVerbs,
    ShowingVerbs,
    SharingVerbs,
    ForegroundVerbs,
    ReviewVerbs,
    ModelVerbs,
    UpkeepVerbs {}

export async function openKnack({
  env = process.env,
  clock = { now: Date.now },
  redactor = createRedactor(),
  dryRun = false,
  blank = false,
  copy = false,
  embedder,
  observer,
  template,
  modelDump,
  modelAnswers,
}: KnackOptions = {}): Promise<Knack> {
  const opened = await openHome({ env, clock, redactor, dryRun, blank, copy });
  const observation = observationIn(opened, { observer, modelDump, modelAnswers });
  const parts = partsOf(opened, stockOf(opened, embedder), observation);
  const sessions = sessionVerbs(parts);
  const library = libraryVerbs(parts);
  const showing = showingVerbs(parts, library);
  const foreground = foregroundVerbs(parts, sessions, template);
  const gaps = gapVerbs(parts, library);
  return {
    ...sessions,
    ...instinctVerbs(parts, { ...sessions, ...showing, ...foreground }),
    ...skillVerbs(parts, { ...gaps, ...showing }),
    ...gaps,
    ...library,
    ...showing,
    ...sharingVerbs(parts),
    ...foreground,
    ...reviewVerbs(parts),
    ...modelVerbs(parts),
    ...upkeepVerbs(parts),
  };
}
