import type { Kept, Reach } from "../core/change.ts";
import { isEvolvedId } from "../core/evolve.ts";
import { isGapId } from "../core/gap.ts";
import type { Instinct } from "../core/instinct.ts";
import { isWrittenId } from "../core/protocol.ts";
import { parse, render } from "../core/skill.ts";
import { planAcceptGap } from "./gap-plan.ts";
import { planLive } from "./plan-evolved.ts";
import { planAcceptWritten } from "./plan-learned.ts";
import { planRule } from "./plan-rule.ts";
import { formatsOf, planJoin, planSkill } from "./plan-skill.ts";
import {
  type Choice,
  filesAt,
  historyOf,
  no,
  type Plan,
  type PublishDeps,
  type Subject,
  textOfPackage,
} from "./step.ts";

/** What keeping an instinct would do, without doing it. */
export async function plan(deps: PublishDeps, instinct: Instinct, choice: Choice): Promise<Plan> {
  const findings = await deps.store.learning.findings.ofInstincts([instinct.id]);
  const [project] = await deps.store.projects.get([instinct.project]);
  const subject: Subject = {
    instinct,
    choice,
    findings,
    formats: await formatsOf(deps.store, findings),
    root: project?.root ?? null,
    projectName: project?.name ?? instinct.project,
  };
  return instinct.artifact === "skill" ? planSkill(deps, subject) : planRule(deps, subject);
}

/** What accepting a draft would do: it becomes a skill of its own, or a part of the one that it belongs to. */
export async function planAccept(deps: PublishDeps, draft: Kept, reach: Reach): Promise<Plan> {
  const found = await filesAt(deps, draft);
  const skill = found ? parse(textOfPackage(found.files)).skill : null;
  if (!skill || !found) return no(`the draft ${draft.name} is gone`);
  const target = skill.metadata["belongs-to"];
  if (target !== undefined) return planJoin(deps, draft, skill, target, found);
  if (isGapId(draft.instinct)) return planAcceptGap(deps, draft, skill, reach);
  if (isWrittenId(draft.instinct)) return planAcceptWritten(deps, draft, found, reach);
  if (isEvolvedId(draft.instinct)) return planLive(deps, draft, reach, await historyOf(deps.store));
  const [instinct] = await deps.store.learning.instincts.get([draft.instinct]);
  if (!instinct) return no(`nothing is known any more about ${draft.name}`);
  const edited = found.hash !== draft.content;
  const text = render({ ...skill, metadata: { ...skill.metadata, quality: "active" } });
  return plan(deps, instinct, { reach, actor: "person", alongside: true, ...(edited ? { text } : {}) });
}
