import { recordEntries } from "../lessons/index.ts";
import { isSkillName, mainText, nullIfDamaged, parseSkill, skillOwner } from "../library/index.ts";
import { createFault, type LedgerEntry, type Owner, type Receipt } from "../records/index.ts";
import type { ActiveCaller } from "./caller.ts";
import { type AuthoringDeps, listSkillFolders, scrubTexts } from "./deps.ts";
import { type AuthoringResult, composeReceipt, findNameFault, refuseWith } from "./protocol.ts";

/** Notes that a learned skill guided the work, once for a turn; the receipt is null for what needs none. */
export async function useSkill(
  deps: AuthoringDeps,
  active: ActiveCaller,
  { skill, message }: { readonly skill: string; readonly message: string | null },
): Promise<AuthoringResult<{ readonly receipt: string | null; readonly already: boolean }>> {
  const { caller } = active;
  const bare = skill.slice(skill.lastIndexOf(":") + 1);
  const fault = findNameFault("update", bare, "");
  if (fault) return refuseWith(fault);
  const owner = await findOwner(deps, active, skill);
  if (owner === null)
    return refuseWith(
      createFault(
        "skill_unknown",
        `No skill is called ${skill}.`,
        "Look for its name with skill_search; a skill that nobody has needs no receipt.",
      ),
    );
  if (owner !== "learned" || caller.kind === "background")
    return { ok: true, value: { receipt: null, already: false } };
  const [clean = ""] = await scrubTexts(deps, [message ?? ""]);
  const text = composeReceipt("used", skill, clean || null);
  // Without a session no turn is known, and nothing of which it could be the second time.
  if (caller.session === null) return { ok: true, value: { receipt: text, already: false } };
  const key = `receipt:used:${caller.invocation}:${skill}`;
  const data: Receipt = { kind: "used", skill, text, invocation: caller.invocation };
  const common = { project: caller.project.id, session: caller.session, actor: "agent" as const };
  const entry: LedgerEntry = { ...common, at: deps.clock.now(), type: "receipt.given", key, data };
  const added = await deps.store.transaction((tx) => recordEntries(tx, [entry]));
  const already = added.length === 0;
  return { ok: true, value: { receipt: already ? null : text, already } };
}

/** Only the packages of this name are read: whatever else there is may be large. */
async function findOwner(deps: AuthoringDeps, active: ActiveCaller, skill: string): Promise<Owner | null> {
  for (const { folder } of isSkillName(skill) ? listSkillFolders(deps, active).all : []) {
    const path = `${folder}/${skill}`;
    const found = await deps.library.read(path).catch(nullIfDamaged);
    const { skill: there } = parseSkill(mainText(found?.files ?? []));
    if (there !== null && there.description.trim() !== "") return skillOwner(path, there);
  }
  return (await deps.inLibrary?.(skill)) ?? null;
}
