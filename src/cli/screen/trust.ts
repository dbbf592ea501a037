import type { PublishedItem } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { several } from "../../text/index.ts";
import type { Screen } from "./screen.ts";
import { oneLine } from "./text.ts";

/** Names that are listed in one line. */
const mostNames = 5;

/** Untrusted items that wait for a person, a line each with the command that accepts it. */
export async function readUnvouched(knack: Knack, shelf: readonly PublishedItem[], cwd: string) {
  const found = await knack.repositorySkills(cwd);
  const isOpen = (state: string) => state === "changed" || (state === "new" && found?.isDecided === false);
  const asked = (found?.items ?? []).filter(({ kind, state }) => kind === "skill" && isOpen(state));
  const proposals = (await knack.proposals()).filter(({ status, held }) => status === "waiting" && held);
  return {
    /** The repository's own skills about which the person was not asked, or which changed since. */
    repository: asked.map(({ name, state }) => ({ name, state })),
    /** Drafts and changes that an agent or a review wrote, each with the reason and the command. */
    held: [
      ...shelf.flatMap(({ name, held }) =>
        held === undefined ? [] : { name, because: held, accept: `skills accept ${name}` },
      ),
      ...proposals.map(({ id, name, held }) => ({
        ...{ name, because: held ?? "", accept: `review accept ${id}` },
      })),
    ],
  };
}

export type Unvouched = Awaited<ReturnType<typeof readUnvouched>>;

export function describeUnvouched({ repository, held }: Unvouched, { knack }: Screen): string[] {
  const names = repository.slice(0, mostNames).map(({ name }) => name);
  const more = repository.length > names.length ? ", …" : "";
  const changed = repository.every(({ state }) => state === "changed") ? " changed since your yes, and" : "";
  return [
    ...held.map(
      ({ name, because, accept }) =>
        `${oneLine(name, 64)} waits for your yes: ${oneLine(because, 200)}. To look at it: ${knack} ${accept.replace("accept", accept.startsWith("review") ? "diff" : "show")}; to accept it: ${knack} ${accept}`,
    ),
    ...(repository.length === 0
      ? []
      : [
          `${several(repository.length, "skill")} of this repository${changed} ${repository.length === 1 ? "is" : "are"} only named to agents (${names.join(", ")}${more}). To let agents be given them whole: ${knack} skills trust; to be asked no more: ${knack} skills untrust`,
        ]),
  ];
}
