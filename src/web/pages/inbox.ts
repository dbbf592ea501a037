import type { ProposalView } from "../../authoring/index.ts";
import { groupBy } from "../../base/index.ts";
import { applyDecay, type Contradiction, explainDoubt } from "../../lessons/index.ts";
import {
  changedFile,
  type GapView,
  isNews,
  mainText,
  type Plan,
  type PublishedItem,
  type Suggestion,
} from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { type ChronicFailure, describeChronic } from "../../recall/index.ts";
import type { Lesson, LiveReach } from "../../records/index.ts";
import { describeShare, type ReceivedShare } from "../../team/index.ts";
import { several } from "../../text/index.ts";
import { describeFinding } from "../evidence.ts";
import { type Html, type HtmlPart, html, url } from "../html.ts";
import { renderForm } from "../layout.ts";
import { type Desk, definePage, type Visit } from "../page.ts";
import {
  cutText,
  lastPart,
  linkLesson,
  linkSession,
  paginate,
  renderChoice,
  renderCode,
  renderCommand,
  renderDay,
  renderDiff,
  renderEmpty,
  renderFacts,
  renderProse,
  renderSpan,
  renderSure,
  renderTag,
  toEvidence,
} from "../parts.ts";

type WaitingImport = Awaited<ReturnType<Knack["imports"]>>[number];

/** Something that waits for the person. */
type Waiting = { readonly key: string; readonly title: string; readonly from: string } & (
  | { readonly kind: "lesson"; readonly suggestion: Suggestion }
  | { readonly kind: "contradiction"; readonly contradiction: Contradiction }
  | { readonly kind: "draft" | "change" | "edit"; readonly kept: readonly PublishedItem[] }
  | { readonly kind: "review"; readonly proposal: ProposalView }
  | { readonly kind: "import"; readonly imported: WaitingImport }
  | { readonly kind: "gap"; readonly gap: GapView; readonly because: string | null }
  | { readonly kind: "chronic"; readonly chronic: ChronicFailure }
);

const headings: Readonly<Record<Waiting["kind"], string>> = {
  contradiction: "Contradictions",
  lesson: "Lessons to keep",
  draft: "Drafts",
  change: "Changes to your skills",
  review: "From reviews",
  edit: "Edited by hand",
  import: "Imported",
  gap: "Asked for, and no skill for it",
  chronic: "Failed again and again",
};

/** How many things wait for the person. */
export async function countWaiting(visit: Visit): Promise<number> {
  return (await listWaiting(visit)).length;
}

/** Everything that waits for the person, by kind; computed again when the database changes. */
export function listWaiting({ knack, desk }: Visit): Promise<readonly Waiting[]> {
  return desk.once("waiting", async () => {
    const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
    const nameProject = (id: string) => names.get(id) ?? lastPart(id);
    const found = [
      ...listContradictions(await knack.contradictions(), nameProject),
      ...listSuggestions((await knack.suggest({ most: Number.POSITIVE_INFINITY })).suggestions),
      ...listShelved(await knack.shelf()),
      ...listProposals(await knack.proposals(), nameProject),
      ...listImports(await knack.imports()),
      ...(await listGaps(knack)),
      ...listUnsolved(await knack.chronic(), nameProject),
    ];
    const order = Object.keys(headings);
    return found.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  });
}

function listSuggestions(suggestions: readonly Suggestion[]): Waiting[] {
  return suggestions.map((suggestion) => ({
    ...{ kind: "lesson", key: suggestion.lesson.id, title: suggestion.lesson.lesson, suggestion },
    from: suggestion.lesson.scope === "user" ? "all your work" : suggestion.project.name,
  }));
}

function listContradictions(all: readonly Contradiction[], nameProject: (id: string) => string): Waiting[] {
  return all.map((contradiction) => {
    const [one, other] = contradiction.lessons;
    return {
      ...{ kind: "contradiction", key: `${one.id}.${other.id}`, contradiction },
      ...{ title: `${one.action} — or: ${other.action}`, from: nameProject(one.project) },
    };
  });
}

/** Drafts and edits by name and what they were made of: one may be in the folders of several agents. */
function listShelved(shelf: readonly PublishedItem[]): Waiting[] {
  const groups = new Map<string, PublishedItem[]>();
  for (const one of shelf) {
    const kind =
      one.reach !== "draft" ? (one.state === "edited" ? "edit" : null) : one.proposal ? "change" : "draft";
    if (kind === null) continue;
    const key = `${kind}.${one.origin.id}.${one.name}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].map(([key, kept]) => {
    const [first] = kept as [PublishedItem];
    const kind = key.slice(0, key.indexOf(".")) as "draft" | "change" | "edit";
    return { kind, key, kept, title: describeText(first), from: first.name };
  });
}

/** What a kept thing says of itself: its description, or the rule itself. */
function describeText({ skill, text, name, kind }: PublishedItem): string {
  if (skill !== null) return skill.description;
  const said = kind === "rule" ? text : /^description: *"?(.+?)"?$/m.exec(text ?? "")?.[1];
  return said ?? name;
}

function listProposals(proposals: readonly ProposalView[], nameProject: (id: string) => string): Waiting[] {
  return proposals.flatMap((proposal) =>
    proposal.status === "waiting"
      ? {
          ...{ kind: "review", key: proposal.id, proposal },
          title: proposal.because,
          from: nameProject(proposal.project),
        }
      : [],
  );
}

function listImports(imports: readonly WaitingImport[]): Waiting[] {
  return imports.flatMap((imported) =>
    imported.status === "waiting"
      ? {
          ...{ kind: "import", key: imported.id, imported, from: imported.from },
          title:
            imported.type === "lesson"
              ? imported.finding.lesson
              : `${imported.name}: ${imported.description}`,
        }
      : [],
  );
}

/** Requests that are due and have no draft yet; those with one are among the drafts. */
async function listGaps(knack: Knack): Promise<Waiting[]> {
  const open = (await knack.gaps()).filter(
    ({ state, kept }) => state.status === "draft" && kept.length === 0,
  );
  return Promise.all(
    open.map(async (gap): Promise<Waiting> => {
      const because = await knack.whyNoDraft(gap);
      const title = gap.asks.at(-1)?.ask.sentence ?? "";
      return { kind: "gap", key: gap.id, title, from: gap.projectName, gap, because };
    }),
  );
}

function listUnsolved(all: readonly ChronicFailure[], nameProject: (id: string) => string): Waiting[] {
  return all.map((chronic) => ({
    ...{ kind: "chronic", key: `never.${chronic.sessions[0]}.${chronic.line}`.slice(0, 300), chronic },
    ...{ title: chronic.line, from: nameProject(chronic.project) },
  }));
}

// --- The page ---

interface Inbox {
  readonly all: readonly Waiting[];
  readonly chosen: Waiting | null;
  readonly detail: HtmlPart;
  /** What the last change to a file was about; null where nothing can be undone. */
  readonly changed: string | null;
}

export const inboxPage = definePage<Inbox>({
  path: "/inbox",
  read: async (visit) => {
    const all = await listWaiting(visit);
    const chosen =
      all.find(({ key }) => key === visit.query("item")) ??
      all[Number(visit.query("at")) || 0] ??
      all.at(-1) ??
      null;
    const detail = chosen && (await drawDetail(chosen, all.indexOf(chosen), visit));
    const undo = visit.desk.readOnly ? null : await visit.knack.planUndo(null);
    return { all, chosen, detail, changed: (undo?.ok && undo.steps[0]?.change.name) || null };
  },
  draw: ({ all, chosen, detail, changed }, visit) => ({
    title: all.length > 0 ? `Inbox (${all.length})` : "Inbox",
    body:
      chosen === null
        ? html`<h1>Inbox</h1>${renderEmpty(
            "Nothing waits for you.",
            html`When sessions teach something worth keeping, it waits here for your yes. ${renderCommand(visit.desk, "learn")} reads your agents' latest sessions.`,
          )}${drawUndo(changed, visit.desk)}`
        : html`<h1>Inbox</h1><div class="desk"><section class="aside-list" aria-label="What waits"><div class="list">${drawList(all, chosen, visit)}</div><div class="foot">${drawUndo(changed, visit.desk)}${!visit.desk.readOnly && drawKeys()}</div></section>
<section class="detail" aria-label="${headings[chosen.kind]}" id="detail">${detail}</section></div>`,
  }),
});

/** Takes back the last change, whenever that was and wherever it was made. */
function drawUndo(changed: string | null, desk: Desk): HtmlPart {
  return (
    changed !== null &&
    html`<div class="undo">${renderForm(
      desk,
      { do: "undo", name: changed, back: "/inbox" },
      html`<button class="small" data-key="u">Undo the last change <kbd>u</kbd></button><span class="faint">${cutText(changed, 60)}</span>`,
    )}</div>`
  );
}

function drawList(all: readonly Waiting[], chosen: Waiting, visit: Visit): HtmlPart {
  const at = all.indexOf(chosen);
  const page = visit.query("page") || String(Math.floor(at / 50) + 1);
  const { shown, pager } = paginate(all, page, "/inbox", { item: chosen.key });
  const groups = groupBy(shown, ({ kind }) => kind);
  const step = (to: number, key: string) =>
    all[to] &&
    html`<a class="hidden" tabindex="-1" aria-hidden="true" data-key="${key}" href="${url("/inbox", { item: all[to].key })}"></a>`;
  return html`${[...groups].map(
    ([
      kind,
      items,
    ]) => html`<h2>${headings[kind]} <span class="faint">${all.filter((one) => one.kind === kind).length}</span></h2>
<ul>${items.map(
      ({ key, title, from }) =>
        html`<li><a href="${url("/inbox", { item: key })}"${key === chosen.key && html` aria-current="true"`}><span class="what">${renderProse(cutText(title, 110))}</span><span class="faint">${cutText(from, 40)}</span></a></li>`,
    )}</ul>`,
  )}${pager}${step(at + 1, "j")}${step(at - 1, "k")}`;
}

function drawKeys(): Html {
  const keys = [
    [["j", "k"], "next, previous"],
    [["y"], "yes"],
    [["n"], "no"],
    [["e"], "edit"],
  ] as const;
  return html`<p class="keys faint">${keys.map(
    ([letters, says]) => html`<span>${letters.map((letter) => html`<kbd>${letter}</kbd> `)}${says}</span> `,
  )}</p>`;
}

/** A button that decides, and goes on to what is in this place then. */
interface InboxDecision {
  readonly fields: Readonly<Record<string, string>>;
  readonly says: string;
  readonly key?: "y" | "n";
  readonly explains?: string;
}

function drawDecisions(
  desk: Desk,
  at: number,
  yes: InboxDecision | null,
  no: InboxDecision | null,
  more: HtmlPart = null,
): HtmlPart {
  const back = `/inbox?at=${at}`;
  const draw = (one: InboxDecision | null, kind: string) =>
    one &&
    renderForm(
      desk,
      { ...one.fields, back },
      html`<button class="${kind}"${one.key && html` data-key="${one.key}"`}${one.explains !== undefined && html` title="${one.explains}"`}>${one.says}${one.key && html` <kbd>${one.key}</kbd>`}</button>`,
    );
  if (desk.readOnly)
    return html`<p class="faint">Opened read-only: decide with ${renderCommand(desk, "learn")}.</p>`;
  return html`<div class="decide">${draw(yes, "yes")}${more}${draw(no, "no")}</div>`;
}

function drawDetail(waiting: Waiting, at: number, visit: Visit): Promise<HtmlPart> | HtmlPart {
  switch (waiting.kind) {
    case "lesson":
      return drawSuggestion(waiting.suggestion, at, visit);
    case "contradiction":
      return drawContradiction(waiting.contradiction, at, visit);
    case "draft":
    case "change":
    case "edit":
      return drawShelved(waiting.kind, waiting.kept, at, visit);
    case "review":
      return drawProposal(waiting.proposal, at, visit);
    case "import":
      return drawImport(waiting.imported, at, visit);
    case "gap":
      return drawGap(waiting.gap, waiting.because, at, visit);
    case "chronic":
      return drawChronic(waiting.chronic, waiting.from);
  }
}

// --- A lesson to keep ---

/** The places where a lesson may be kept, in words. */
const places: Readonly<Record<LiveReach, string>> = {
  me: "Only for me, here",
  repository: "For the team, in the repository",
  everywhere: "In all my projects",
};

async function drawSuggestion(suggestion: Suggestion, at: number, visit: Visit): Promise<HtmlPart> {
  const { lesson, findings, project, reaches } = suggestion;
  const { knack, desk } = visit;
  const reach = reaches.find((one) => one === visit.query("where")) ?? (reaches[0] as LiveReach);
  // Made for this look: files may have been edited since it was suggested.
  const plan = await knack.plan(lesson, { reach, actor: "person" });
  const isEditing = visit.query("edit") === "1" && !desk.readOnly;
  const { sessions, firstAt, lastAt } = lesson.state;
  const doubt = explainDoubt(lesson);
  const ask = (query: Readonly<Record<string, string>>) =>
    url("/inbox", { item: lesson.id, where: reach, ...query });
  return html`${drawTitle(lesson, visit.now)}
${doubt !== null && html`<p class="look">Look twice: ${doubt}</p>`}
<p class="why">Seen in <a href="${toEvidence(lesson.id)}">${several(sessions, "session")}</a>, ${renderSpan(firstAt, lastAt)}, in ${
    lesson.scope === "user" ? "all your work" : project.name
  }.</p>
<h3>What happened</h3>
<ol class="chain">${firstOfEach(findings)
    .slice(0, 3)
    .map((one) => html`<li>${describeFinding(one)}</li>`)}</ol>
<h3>What would be written</h3>
${drawPlaces(suggestion, reach, ask)}
${isEditing ? drawEditor(lesson, plan, reach, at, visit) : drawPlan(plan, desk)}
${
  !isEditing &&
  drawDecisions(
    desk,
    at,
    plan.ok ? { fields: { do: "keep-lesson", id: lesson.id, where: reach }, says: "Keep", key: "y" } : null,
    {
      fields: { do: "reject-lesson", id: lesson.id },
      says: "Reject",
      key: "n",
      explains: "Never suggest it again",
    },
    html`<a class="button" data-key="e" href="${ask({ edit: "1" })}">Edit <kbd>e</kbd></a>`,
  )
}`;
}

function drawTitle(lesson: Lesson, now: number): Html {
  return html`<p class="eyebrow">${lesson.artifact} · ${linkLesson(lesson.id, lesson.name)} ${renderSure(applyDecay(lesson.state, now).confidence)}</p>
<h2 class="lesson">${renderProse(lesson.lesson)}</h2>`;
}

/** Findings of one session about the same thing are one to a reader. */
function firstOfEach<Found extends { readonly run: string }>(findings: readonly Found[]): Found[] {
  return [...new Map([...findings].reverse().map((one) => [one.run, one])).values()].reverse();
}

function drawPlaces(
  { reaches, project, plan, lesson }: Suggestion,
  reach: LiveReach,
  ask: (query: Readonly<Record<string, string>>) => Html,
): HtmlPart {
  if (plan.belongsTo !== null) return null;
  if (lesson.scope !== "user" && reaches.length === 1 && reaches[0] === "everywhere")
    return html`<p class="look">The folder of ${project.name} is not on this machine, so this would be kept in all your projects.</p>`;
  if (reaches.length < 2) return null;
  return renderChoice(
    "Where to keep it",
    reaches.map((one) => [places[one], ask({ where: one }), one === reach] as const),
  );
}

/** The changes that a yes would make to files. */
function drawPlan(plan: Plan, desk: Desk): HtmlPart {
  if (!plan.ok) return html`<p class="look">It cannot be kept there: ${plan.because}.</p>`;
  const steps = plan.steps.some(isNews) ? plan.steps.filter(isNews) : plan.steps;
  return html`${plan.concerns.map(({ message, where }) => html`<p class="look">Warning: ${message} (${where})</p>`)}
${plan.belongsTo !== null && html`<p>You have a skill about this: <code>${desk.shorten(plan.belongsTo)}</code>. Knack does not change it; the lesson is kept as a proposal beside it.</p>`}
${steps.map(({ diff, change }) => renderDiff(diff, desk.shorten(changedFile(change))))}`;
}

function drawEditor(lesson: Lesson, plan: Plan, reach: LiveReach, at: number, { desk }: Visit): HtmlPart {
  const step = plan.ok ? plan.steps.find(({ change }) => change.why !== "remove") : undefined;
  if (!step) return drawPlan(plan, desk);
  const text = step.files ? mainText(step.files) : (step.change.after ?? "");
  const rows = Math.min(30, Math.max(4, text.split("\n").length + 2));
  return renderForm(
    desk,
    { do: "keep-lesson", id: lesson.id, where: reach, back: `/inbox?at=${at}` },
    html`<label for="text">Your words</label><textarea id="text" name="text" rows="${rows}" spellcheck="true">${text}</textarea>
<div class="decide"><button class="yes">Keep as edited</button><a class="button" href="${url("/inbox", { item: lesson.id, where: reach })}">Cancel</a></div>`,
  );
}

// --- Everything else ---

function drawContradiction({ lessons: pair, holds }: Contradiction, at: number, { desk }: Visit): HtmlPart {
  return html`<p class="eyebrow">Contradiction</p><h2 class="lesson">These two cannot both be followed</h2>
<p class="why">${holds === null ? "Neither was said later by you: decide which one holds." : "Until you decide, the one that you said later holds."}</p>
<div class="pair">${pair.map(
    (
      lesson,
    ) => html`<article><p class="eyebrow">${linkLesson(lesson.id, lesson.name)}${lesson.id === holds && html` ${renderTag("holds until you decide", "good")}`}</p>
<p class="lesson">${renderProse(lesson.lesson)}</p><p class="why">Last seen ${renderDay(lesson.state.lastAt)}, in ${several(lesson.state.sessions, "session")}</p>
${drawDecisions(desk, at, { fields: { do: "keep-over", id: lesson.id }, says: "Keep this, reject the other" }, null)}</article>`,
  )}</div>`;
}

async function drawShelved(
  kind: "draft" | "change" | "edit",
  kept: readonly PublishedItem[],
  at: number,
  { knack, desk }: Visit,
): Promise<HtmlPart> {
  const [first] = kept as [PublishedItem];
  const lessons = await desk.once("lessons", () => knack.lessons());
  const lesson = lessons.find(({ id }) => id === first.origin.id) ?? null;
  const sources = new Set<string>(first.members ?? [first.origin.id]);
  const taught = lessons.filter(({ id }) => sources.has(id));
  const fields = { name: first.name, origin: first.origin.id };
  const head = html`<p class="eyebrow">${headings[kind]} · ${first.kind}</p><h2 class="lesson">${first.name}</h2>
${first.held !== undefined && html`<p class="look">It waits for your yes: ${first.held}</p>`}
${renderFacts([
  [
    "Evidence",
    first.evidence > 0 && `${several(first.evidence, "place")} in ${several(first.sessions, "session")}`,
  ],
  [
    "Learned from",
    taught.map(
      ({ id, lesson: says }) =>
        html`<div><a href="${toEvidence(id)}">${renderProse(cutText(says, 160))}</a></div>`,
    ),
  ],
  ["Written by", first.author && (first.author.by === "agent" ? "the agent" : "a review")],
  ["File", html`<code>${desk.shorten(first.path)}</code>`],
])}`;
  if (kind === "edit")
    return html`${head}<h3>Your edit</h3>${renderDiff(first.edit, desk.shorten(changedFile(first)))}
${drawDecisions(desk, at, { fields: { do: "accept", ...fields }, says: "Keep my edit", key: "y" }, null)}`;
  const yes = await knack.acceptance({ kept, lesson }, null);
  const plan = yes === null ? null : await yes.plan();
  return html`${head}<h3>What accepting it changes</h3>
${plan === null ? html`<p class="look">The project's folder is not on this machine: it would be kept in all your projects.</p>` : drawPlan(plan, desk)}
${!plan?.ok && first.text !== null && renderCode(first.text)}
${drawDecisions(
  desk,
  at,
  plan === null || plan.ok
    ? {
        fields: { do: "accept", ...fields, ...(plan === null ? { where: "everywhere" } : {}) },
        says: "Accept",
        key: "y",
      }
    : null,
  {
    fields: { do: "remove", ...fields },
    says: "Reject",
    key: "n",
    explains: "Remove it, and never write it again",
  },
)}`;
}

async function drawProposal(proposal: ProposalView, at: number, { knack, desk }: Visit): Promise<HtmlPart> {
  const { id, name, because, model, evidence } = proposal;
  const plan = await knack.planProposal(proposal, null);
  return html`<p class="eyebrow">${headings.review} · ${proposal.do === "create" ? "a new skill" : "a change"}</p><h2 class="lesson">${name}</h2>
<p>${because}</p>
${proposal.held && html`<p class="look">It waits for your yes: ${proposal.held}</p>`}
${renderFacts([
  ["By", model],
  [
    "From",
    evidence.map(
      ({ run, ref }, n) =>
        html`${n > 0 && ", "}${linkSession(run, ref, html`${lastPart(run).slice(0, 8)} ${ref}`)}`,
    ),
  ],
])}
${plan.ok ? drawPlan(plan, desk) : html`<p class="look">It cannot be accepted: ${plan.because}.</p>${renderDiff(await knack.proposalDiff(proposal))}`}
${drawDecisions(
  desk,
  at,
  plan.ok ? { fields: { do: "accept-proposal", id }, says: "Accept", key: "y" } : null,
  { fields: { do: "reject-proposal", id }, says: "Reject", key: "n" },
)}`;
}

async function drawImport(imported: WaitingImport, at: number, { desk, knack }: Visit): Promise<HtmlPart> {
  const isLesson = imported.type === "lesson";
  const received = imported.share ? await desk.once("received", () => knack.received()) : [];
  const share = received.find(({ id }) => id === imported.id);
  return html`<p class="eyebrow">${headings.import} · from ${imported.from} · ${renderDay(imported.at)}</p>
<h2 class="lesson">${isLesson ? renderProse(imported.finding.lesson) : imported.name}</h2>
<p>${isLesson ? html`When: ${imported.finding.trigger}` : imported.description}</p>
${share && drawShare(share)}
<p class="look">It was written elsewhere. With your yes it counts as your own instruction.</p>
${drawDecisions(
  desk,
  at,
  { fields: { do: "accept-import", id: imported.id }, says: "Accept", key: "y" },
  { fields: { do: "reject-import", id: imported.id }, says: "Reject", key: "n" },
)}`;
}

/** Where something that a member of the team shares comes from, and how it did with others. */
function drawShare(share: ReceivedShare): Html {
  const { failed = null, error = null, worked = null } = share.evidence ?? {};
  const steps = [
    ["failed", "Failed", failed],
    ["error", "It said", error],
    ["worked", "Worked", worked],
  ] as const;
  return html`<p class="why">${describeShare(share).join(", ")}</p>
${share.replaces !== null && html`<p>In place of: ${renderProse(share.replaces)}</p>`}
<div class="steps">${steps.map(
    ([kind, label, text]) =>
      text !== null &&
      html`<div class="step ${kind}"><span class="label">${label}</span><pre>${text}</pre></div>`,
  )}</div>
${share.opposed.map(
  ({ says, by }) =>
    html`<p class="look">The opposite of ${by === null ? "a lesson of yours" : `what ${by} shares`}: ${renderProse(says)}</p>`,
)}`;
}

function drawGap(gap: GapView, because: string | null, at: number, { desk }: Visit): HtmlPart {
  const asks = [...gap.asks].reverse().slice(0, 8);
  return html`<p class="eyebrow">${headings.gap} · ${gap.projectName}</p>
<h2 class="lesson">${gap.asks.at(-1)?.ask.sentence ?? ""}</h2>
<p class="why">Asked for in ${several(gap.state.asked.length, "session")}, and nothing in the library covers it. ${
    because === null ? "A draft is written when the next session ends." : html`It has no draft: ${because}.`
  }</p>
<ol class="chain">${asks.map(({ session, at: when, text }) => html`<li><p class="eyebrow">${renderDay(when)} · ${linkSession(session, undefined, "the session")}</p><blockquote>${cutText(text, 400)}</blockquote></li>`)}</ol>
${drawDecisions(
  desk,
  at,
  { fields: { do: "promote-gap", id: gap.id }, says: "Make the skill now", key: "y" },
  {
    fields: { do: "reject-gap", id: gap.id },
    says: "Never",
    key: "n",
    explains: "Never write a skill for this",
  },
)}`;
}

function drawChronic(chronic: ChronicFailure, from: string): HtmlPart {
  return html`<p class="eyebrow">${headings.chronic} · ${from}</p>
<h2 class="lesson mono">${chronic.line}</h2>
<p class="why">${describeChronic(chronic)}</p>
<h3>The sessions</h3><ul>${chronic.sessions.map((session) => html`<li>${linkSession(session, undefined, lastPart(session))}</li>`)}</ul>
<p class="faint">A session that overcomes it takes it off this list. If you know what helps, tell your agent in the project: it becomes a lesson.</p>`;
}
