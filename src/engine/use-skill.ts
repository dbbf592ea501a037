import type { LedgerEntry } from "../core/ledger.ts";
import { type Answer, faultOf, faulty, nameFault, type Receipt, receiptFor } from "../core/protocol.ts";
import { isSkillName, type Owner, ownerOf, parse } from "../core/skill.ts";
import type { Present } from "./caller.ts";
import { type ForegroundDeps, scrubbed } from "./foreground.ts";
import { note } from "./note.ts";
import { placesFor } from "./skill-places.ts";
import { ifDamaged, textOfPackage } from "./step.ts";

/** Notes that a learned skill guided the work, once for a turn; the receipt is null for what needs none. */
export async function useSkill(
  deps: ForegroundDeps,
  present: Present,
  { skill, message }: { readonly skill: string; readonly message: string | null },
): Promise<Answer<{ readonly receipt: string | null; readonly already: boolean }>> {
  const { caller } = present;
  const bare = skill.slice(skill.lastIndexOf(":") + 1);
  const wrong = nameFault("update", bare, "");
  if (wrong) return faulty(wrong);
  const owner = await ownerNamed(deps, present, skill);
  if (owner === null)
    return faulty(
      faultOf(
        "skill_unknown",
        `No skill is called ${skill}.`,
        "Look for its name with skill_search; a skill that nobody has needs no receipt.",
      ),
    );
  if (owner !== "learned" || caller.kind === "background")
    return { ok: true, value: { receipt: null, already: false } };
  const [clean = ""] = await scrubbed(deps, [message ?? ""]);
  const text = receiptFor("used", skill, clean || null);
  // Without a session no turn is known, and nothing of which it could be the second time.
  if (caller.session === null) return { ok: true, value: { receipt: text, already: false } };
  const key = `receipt:used:${caller.invocation}:${skill}`;
  const data: Receipt = { kind: "used", skill, text, invocation: caller.invocation };
  const common = { project: caller.project.id, session: caller.session, actor: "agent" as const };
  const entry: LedgerEntry = { ...common, at: deps.clock.now(), type: "receipt.given", key, data };
  const added = await deps.store.transaction((tx) => note(tx, [entry]));
  const already = added.length === 0;
  return { ok: true, value: { receipt: already ? null : text, already } };
}

/** Only the packages of this name are read: whatever else there is may be large. */
async function ownerNamed(deps: ForegroundDeps, present: Present, skill: string): Promise<Owner | null> {
  for (const { folder } of isSkillName(skill) ? placesFor(deps, present).all : []) {
    const path = `${folder}/${skill}`;
    const found = await deps.library.read(path).catch(ifDamaged);
    const { skill: there } = parse(textOfPackage(found?.files ?? []));
    if (there !== null && there.description.trim() !== "") return ownerOf(path, there);
  }
  return (await deps.inLibrary?.(skill)) ?? null;
}
