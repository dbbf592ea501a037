import { areContrary } from "../../lessons/index.ts";
import type {
  Artifact,
  Format,
  KeptArtifact,
  Lesson,
  Origin,
  Reach,
  StoredFinding,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { extractTerms, measureSimilarity, renderDiff } from "../../text/index.ts";
import { mayBeWritten, scan } from "../../trust/index.ts";
import { planAcceptCluster } from "../evolve/evolve.ts";
import { planAcceptGap } from "../gaps/gaps.ts";
import { isWritten, readAuthors } from "../origins.ts";
import { scanPackage } from "../package.ts";
import { addRule, parseRules, removeRule, ruleLine, ruleProblems } from "../rule.ts";
import { parseSkill } from "../skill.ts";
import {
  accept,
  type ChangeHistory,
  describeRefusal,
  type KeepOptions,
  mainText,
  makeChange,
  otherFiles,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  pathWithinRoot,
  planRemove,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
  stampText,
} from "./changes.ts";
import { renderLessonSkill, renderRule } from "./lesson-text.ts";
import { listFormats, planJoin, planPublication, readEvidence } from "./plan.ts";

/** Two rules whose words overlap this much are one. */
const sameRuleFrom = 0.5;

/** What keeping a lesson would do, without doing it. */
export async function planLesson(deps: PublishDeps, lesson: Lesson, options: KeepOptions): Promise<Plan> {
  const { store } = deps;
  const findings = await store.learning.findings.ofLessons([lesson.id]);
  const [row] = await store.projects.get([lesson.project]);
  const project = { name: row?.name ?? lesson.project, root: row?.root ?? null };
  const formats = await listFormats(store, [lesson.id]);
  if (lesson.artifact !== "skill") return planRule(deps, lesson, options, { ...project, formats });
  const { reach, actor, text, alongside } = options;
  // A project's lesson that other projects read must name its own.
  const isFar = isReadElsewhere(lesson, options);
  const prefix = await deps.prefixOf(project.root);
  const name = `${prefix}${lesson.name.startsWith(prefix) ? lesson.name.slice(prefix.length) : lesson.name}`;
  const source = {
    ...lesson,
    name: name.slice(0, 64).replace(/-+$/, ""),
    trigger: isFar ? `${lesson.trigger} (in ${project.name})` : lesson.trigger,
    evidence: await readEvidence(store, [lesson.id]),
    metadata: {
      quality: reach === "draft" ? "draft" : "active",
      ...(await readModelAuthor(store, findings)),
    },
  };
  const wanted = text ?? renderLessonSkill(source);
  const scopeId = lesson.scope === "user" ? "user" : lesson.project;
  const learnedAt = actor === "knack" ? { learnedAt: lesson.state.foundAt } : {};
  return planPublication(deps, {
    ...{ kind: "skill", name: parseSkill(wanted).skill?.name ?? source.name, text: wanted },
    ...{ origin: { kind: "lesson", id: lesson.id }, reach, root: project.root, formats },
    similar: alongside ? "alongside" : "join",
    lessonIds: [lesson.id],
    replaces: text !== undefined,
    ...(text !== undefined || actor === "agent"
      ? {}
      : { revive: { scopeId, everywhere: isFar, ...learnedAt } }),
  });
}

function isReadElsewhere({ scope }: Lesson, { reach }: KeepOptions): boolean {
  return scope === "project" && reach === "everywhere";
}

/** That a model saw it where no rule did, and which model that was. */
async function readModelAuthor(
  { ledger }: Store,
  findings: readonly StoredFinding[],
): Promise<Record<string, string>> {
  const seen = findings.filter(({ finding }) => finding.by === "model");
  if (seen.length === 0) return {};
  const judged = (await ledger.since("session.judged", 0)).filter(({ session, data }) =>
    seen.some((one) => one.session === session && one.pass === data.pass),
  );
  const models = [...new Set(judged.map(({ data }) => data.model))];
  return { author: "model", ...(models.length === 0 ? {} : { model: models.join(", ") }) };
}

/** What keeping a lesson as a line of instructions would do. */
async function planRule(
  deps: PublishDeps,
  lesson: Lesson,
  options: KeepOptions,
  project: { readonly name: string; readonly root: string | null; readonly formats: readonly Format[] },
): Promise<Plan> {
  const { reach, actor, text } = options;
  if (actor !== "person" || reach === "draft") return refuse("a rule needs a person's yes");
  const targets = deps.places.rules(reach, project.root, project.formats);
  if (targets === null) return refuse(projectMissing);
  const [clean = ""] = await deps.redactor.scrub([{ label: "rule", text: text ?? renderRule(lesson) }]);
  const concerns = scan(clean);
  if (!mayBeWritten(concerns)) return refuse(describeRefusal(concerns));
  // An order with a hole in it helps nobody.
  if (clean.includes("[redacted:")) return refuse("it contains a secret");
  const history = await readHistory(deps.store);
  const origin: Origin = { kind: "lesson", id: lesson.id };
  const overruled = await findOverruled(deps, lesson.id, history);
  const steps: PlannedChange[] = overruled.map((one) =>
    planRemove({ ...one, replacedBy: origin }, one.content, history, null),
  );
  for (const { path, root, named } of targets) {
    const read = await deps.library.readText(path);
    if (read.found === "unreadable") return refuse(`${path} cannot be read: ${read.message}`);
    const before = read.found === "text" ? read.text : "";
    const isKept = history.kept.some(
      (one) => one.kind === "rule" && one.origin.id === origin.id && one.path === path,
    );
    const line = ruleLine(named || isReadElsewhere(lesson, options) ? `In ${project.name}: ${clean}` : clean);
    const rest = overruled.reduce((all, one) => (one.path === path ? dropRule(all, one.name) : all), before);
    if (isKept || hasRule(rest, line)) continue;
    const name = freeRuleName(lesson.name, before);
    const added = addRule(rest, { id: name, line });
    if (!added.changed) return refuse(`${path}: ${ruleProblems[added.because]}`);
    const artifact: Artifact = { kind: "rule", name, path, root, reach, origin };
    steps.push({
      change: makeChange(artifact, null, line, "create", history),
      files: null,
      diff: renderDiff(pathWithinRoot(artifact), read.found === "text" ? before : null, added.text),
    });
  }
  return accept(steps, { concerns });
}

function freeRuleName(name: string, text: string): string {
  const taken = new Set(parseRules(text).rules.map(({ id }) => id));
  for (let n = 1; ; n++) {
    const next = n === 1 ? name : `${name.slice(0, 60)}-${n}`;
    if (!taken.has(next)) return next;
  }
}

function dropRule(text: string, rule: string): string {
  const removed = removeRule(text, rule);
  return removed.changed ? removed.text : text;
}

/** Whether a file has such a line, whoever wrote it. */
function hasRule(text: string, line: string): boolean {
  const terms = extractTerms(line);
  return text
    .split("\n")
    .map((other) => other.replace(/<!--.*?-->/g, ""))
    .some(
      (other) => measureSimilarity(extractTerms(other), terms) >= sameRuleFrom && !areContrary(other, line),
    );
}

/** The rules, in any file, that say the opposite of what the person says now. */
async function findOverruled(
  { store }: PublishDeps,
  lessonId: string,
  { kept }: ChangeHistory,
): Promise<KeptArtifact[]> {
  const opposing = (await store.learning.findings.opposing([lessonId])).get(lessonId) ?? [];
  const others = new Set(opposing.map((one) => one.lessonId));
  return kept.filter((one) => one.kind === "rule" && others.has(one.origin.id));
}

/** What accepting drafts and proposals of one name would do. */
export async function planAcceptDrafts(
  deps: PublishDeps,
  drafts: readonly KeptArtifact[],
  reach: Reach,
): Promise<Plan> {
  const steps: PlannedChange[] = [];
  let belongsTo: string | null = null;
  for (const draft of drafts) {
    const planned = await planAcceptDraft(deps, draft, reach);
    if (!planned.ok) return planned;
    steps.push(...planned.steps);
    belongsTo = planned.belongsTo ?? belongsTo;
  }
  return accept(steps, { belongsTo });
}

/** What accepting a draft would do: it goes live, or into the skill that it belongs to. */
export async function planAcceptDraft(deps: PublishDeps, draft: KeptArtifact, reach: Reach): Promise<Plan> {
  const found = await readFiles(deps, draft);
  const text = found ? mainText(found.files) : "";
  const { skill } = parseSkill(text);
  if (!skill || !found) return refuse(`the draft ${draft.name} is gone`);
  const target = skill.metadata["belongs-to"];
  if (target !== undefined) return planJoin(deps, draft, { text, hash: found.hash }, target);
  const { origin } = draft;
  if (isWritten(origin)) return planAcceptPackage(deps, draft, found.files, reach);
  if (origin.kind === "cluster") return planAcceptCluster(deps, draft, reach);
  const active = stampText("skill", text, skill.name, reach);
  if (origin.kind === "gap") return planAcceptGap(deps, draft, active, reach);
  const [lesson] = await deps.store.learning.lessons.get([origin.id]);
  if (!lesson) return refuse(`the lesson behind ${draft.name} is gone`);
  const isEdited = found.hash !== draft.content;
  return planLesson(deps, lesson, {
    ...{ reach, actor: "person", alongside: true },
    ...(isEdited ? { text: active } : {}),
  });
}

/** A draft that an agent or a review wrote goes live as it is. */
async function planAcceptPackage(
  deps: PublishDeps,
  { name, origin }: KeptArtifact,
  files: NonNullable<PlannedChange["files"]>,
  reach: Reach,
): Promise<Plan> {
  const author = (await readAuthors(deps.store, [{ origin }])).get(origin.id);
  const [project] = author ? await deps.store.projects.get([author.project]) : [];
  // The draft may have been edited since it was examined.
  const concerns = scanPackage(files);
  if (!mayBeWritten(concerns)) return refuse(describeRefusal(concerns));
  return planPublication(deps, {
    ...{ kind: "skill", name, text: mainText(files), others: otherFiles(files), origin, reach },
    ...{ root: project?.root ?? null, formats: author?.format ? [author.format] : [], similar: "ignore" },
  });
}
