import { dirname } from "node:path";
import { KnackError } from "../../base/index.ts";
import { type PublishedItem, parseSkill } from "../../library/index.ts";
import { several } from "../../text/index.ts";
import { shelfStates } from "../commands/skills/list.ts";
import { countShelf } from "../commands/status.ts";
import { changedFile } from "../screen/changes.ts";
import { formatCount } from "../screen/text.ts";
import { type CheckResult, type CheckResults, type DoctorContext, right, wrong } from "./check.ts";
import { findReach } from "./installation.ts";

/** Checks the files that Knack wrote, the hooks' snapshot, and the index of the library. */
export async function checkLibrary(context: DoctorContext): Promise<CheckResults> {
  const shelf = context.knack ? await context.knack.shelf() : [];
  return {
    changes: await checkChanges(context),
    published: checkPublished(context, shelf),
    snapshot: await checkSnapshot(context),
    library: checkIndex(context),
    listing: checkListing(context, shelf),
  };
}

async function checkChanges({ knack, fix }: DoctorContext): Promise<CheckResult> {
  const changes = knack ? await knack.changes() : [];
  const unfinished = changes.filter(({ state }) => state === "intended");
  const [first] = unfinished;
  const count = several(unfinished.length, "change");
  return first
    ? wrong(`${count} to files not finished, first ${first.change.name}`, fix)
    : right(`${several(changes.length, "change")} to files, all finished`);
}

function checkPublished({ screen, path }: DoctorContext, shelf: readonly PublishedItem[]): CheckResult {
  const lost = shelf.filter(({ state }) => state === "missing" || state === "unreadable");
  if (lost.length > 0)
    return wrong(
      lost.map((one) => `${one.name} is ${shelfStates[one.state]}: ${path(changedFile(one))}`).join("; "),
      lost.map(({ name }) => `${screen.knack} skills reject ${name}`).join("; "),
    );
  const { skills, rules, drafts, proposals } = countShelf(shelf);
  const edited = new Set(shelf.flatMap(({ state, name }) => (state === "edited" ? name : []))).size;
  const counts = [
    several(skills, "skill"),
    several(rules, "rule"),
    several(drafts + proposals, "draft"),
  ].join(", ");
  return right(`${counts}${edited > 0 ? `; ${edited} edited by hand` : ""}`);
}

async function checkSnapshot({ knack, installation, fix, age }: DoctorContext): Promise<CheckResult> {
  if (!knack) return right("nothing to put into it yet");
  try {
    const state = await knack.snapshot();
    if (state.found === "damaged") return wrong(`damaged: ${state.because}`, fix);
    if (state.found === "nothing") {
      const isNeeded = findReach(installation) !== "nowhere" && (await knack.learnedAt()) !== null;
      return isNeeded ? wrong("there is none, so agents are shown nothing", fix) : right("none yet");
    }
    const made = `made ${age(state.head.madeAt)}`;
    return state.stale === null
      ? right(`${made}, up to date`)
      : wrong(`${made}, out of date: ${state.stale}`, fix);
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return wrong(error.message, error.hint ?? fix);
  }
}

function checkIndex({ knack, fix }: DoctorContext): CheckResult {
  const state = knack?.index() ?? { found: "nothing" as const };
  if (state.found === "nothing") return right("not indexed yet");
  if (state.found === "damaged") return wrong(`its index is damaged: ${state.because}`, fix);
  return right(`${several(state.entries, "skill, command or agent", "skills, commands and agents")} indexed`);
}

/** Characters of names and descriptions that learned skills may take in one folder. */
const listingChars = 2_000;

/** Agents put the names and descriptions of all skills before every prompt. */
function checkListing({ screen, path }: DoctorContext, shelf: readonly PublishedItem[]): CheckResult {
  const sizes = new Map<string, number>();
  for (const { kind, reach, path, name, text } of shelf) {
    if (kind !== "skill" || reach === "draft" || text === null) continue;
    const description = parseSkill(text).skill?.description ?? "";
    sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + name.length + description.length);
  }
  const [[folder, size] = ["", 0]] = [...sizes].sort(([, a], [, b]) => b - a);
  const limit = formatCount(listingChars);
  if (size <= listingChars)
    return right(`${several(size, "character")} of names and descriptions, of at most ${limit}`);
  return wrong(
    `the learned skills in ${path(folder)} take ${formatCount(size)} characters of names and descriptions; the limit is ${limit}`,
    `${screen.knack} skills list, then ${screen.knack} skills reject <name>`,
  );
}
