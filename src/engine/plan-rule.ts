import type { Kept } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import { isSaid } from "../core/finding.ts";
import type { Instinct } from "../core/instinct.ts";
import { areContrary } from "../core/likeness.ts";
import { policy as defaults } from "../core/policy.ts";
import { addRule, removeRule, ruleLine, rulesIn } from "../core/rule.ts";
import { mayBeWritten, scan } from "../core/scan.ts";
import { overlap, termsOf } from "../core/words.ts";
import {
  changeOf,
  freeName,
  type History,
  historyOf,
  isFarAway,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  refusal,
  removal,
  type Step,
  type Subject,
  withinRoot,
} from "./step.ts";

/** What keeping a lesson as a line of instructions would do. */
export async function planRule(deps: PublishDeps, subject: Subject): Promise<Plan> {
  const { choice, root, formats, instinct, projectName } = subject;
  // A rule that nobody said yes to is written nowhere.
  if (choice.actor !== "person" || choice.reach === "draft") return no("a rule needs a person's yes");
  const targets = deps.places.rules(choice.reach, root, formats);
  if (targets === null) return no(notHere);
  const [clean = ""] = await deps.redactor.scrub([
    { label: "rule", text: choice.text ?? ruleTextOf(instinct) },
  ]);
  const concerns = scan(clean);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  // An order with a hole in it helps nobody.
  if (clean.includes("[redacted:")) return no("a secret stood in it");
  const history = await historyOf(deps.store);
  const old = await overtaken(deps, instinct.id, history);
  const steps: Step[] = old.map((one) =>
    removal({ ...one, replacedBy: instinct.id }, one.content, history, null),
  );
  for (const { path, root: home, named } of targets) {
    const read = await deps.library.readText(path);
    if (read.found === "unreadable") return no(`${path} cannot be read: ${read.message}`);
    const before = read.found === "text" ? read.text : "";
    const line = ruleLine(named || isFarAway(subject) ? `In ${projectName}: ${clean}` : clean);
    if (keptIn(history, instinct.id, path)) continue;
    const rest = old.reduce((text, one) => (one.path === path ? without(text, one.name) : text), before);
    if (saysAlready(rest, line)) continue;
    const taken = new Set(rulesIn(before).rules.map(({ id }) => id));
    const name = freeName(instinct.name, (one) => taken.has(one));
    const artifact = {
      kind: "rule" as const,
      name,
      path,
      root: home,
      reach: choice.reach,
      instinct: instinct.id,
    };
    const added = addRule(rest, { id: name, line });
    if (!added.changed) return no(`${path}: ${ruleRefusals[added.because]}`);
    steps.push({
      change: changeOf(artifact, null, line, "create", history),
      files: null,
      diff: diffOf(withinRoot(artifact), read.found === "text" ? before : null, added.text),
    });
  }
  return { ok: true, steps, concerns, belongsTo: null };
}

/** What a rule says of a lesson: of a failure the whole of it, of words what they ask for. */
export function ruleTextOf({ kind, lesson, action, excerpt }: Instinct): string {
  return !isSaid(kind) || excerpt.said === null ? lesson : action;
}

function without(text: string, rule: string): string {
  const removed = removeRule(text, rule);
  return removed.changed ? removed.text : text;
}

/** Whether a file has such a line, whoever wrote it. */
function saysAlready(text: string, line: string): boolean {
  const terms = termsOf(line);
  return text
    .split("\n")
    .map((other) => other.replace(/<!--.*?-->/g, ""))
    .some((other) => overlap(termsOf(other), terms) >= defaults.rule.near && !areContrary(other, line));
}

/** The rules, in whatever file, that a later word of the person has overtaken. */
async function overtaken({ store }: PublishDeps, instinct: string, { kept }: History): Promise<Kept[]> {
  const others = new Set((await store.learning.findings.opposing(instinct)).map((one) => one.instinct));
  return kept.filter((one) => one.kind === "rule" && others.has(one.instinct));
}

function keptIn({ kept }: History, instinct: string, path: string): boolean {
  return kept.some((one) => one.kind === "rule" && one.instinct === instinct && one.path === path);
}

/** Why a rule cannot be put into a file, or taken out, in words. */
export const ruleRefusals = {
  "not-closed": "Knack's block is not closed; mend it by hand",
  "not-opened": "Knack's block has an end without a beginning; mend it by hand",
  "several-blocks": "there are several of Knack's blocks; mend it by hand",
  "bad-id": "the rule has no proper name",
  "empty-line": "the rule says nothing",
  exists: "a rule of that name is there",
  absent: "the rule is gone",
};
