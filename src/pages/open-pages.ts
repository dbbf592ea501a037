import { makeId } from "../base/index.ts";
import { classifyDomain } from "../lessons/index.ts";
import {
  type ChangeHistory,
  describeRefusal,
  isSkillName,
  type Plan,
  type PublishDeps,
  type PublishResult,
  planChange,
  publishPlan,
  readFiles,
  readHistory,
  toPageContent,
} from "../library/index.ts";
import type { Actor, Artifact, GoalId, Project } from "../records/index.ts";
import { cutAtWord, oneLine } from "../text/index.ts";
import { mayBeWritten, scan } from "../trust/index.ts";
import {
  addEntry,
  addEvidence,
  choosePage,
  chooseSection,
  type Evidence,
  entryId,
  findSame,
  isPageKey,
  isRule,
  measureOverlap,
  type Page,
  type PageEntry,
  pageName,
  pageRoots,
  parsePage,
  renderNewPage,
  type Section,
} from "./page.ts";
import { type FoundPage, searchPages } from "./search-pages.ts";
import { buildTree, describeRule, findProvenRules, findStale, measureConfidence } from "./tree.ts";

interface PagesDeps {
  readonly publishing: PublishDeps;
  /** Why Knack writes nothing in a project; null where it may. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
  /** Leases on work of one process at a time. */
  readonly claim: (work: string, until: number) => Promise<boolean>;
  readonly giveBack: (work: string) => Promise<void>;
}

/** Something to be added to a page. */
export interface NewEntry {
  readonly text: string;
  /** Its key, or its name alone; by default the page that search names first, else one for this kind of work. */
  readonly page?: string | null | undefined;
  readonly section?: Section | null | undefined;
  /** Where a decision rule comes from; by default its goal. */
  readonly source?: string | null | undefined;
  readonly goal?: GoalId | null | undefined;
  readonly session?: string | null | undefined;
  readonly confidence?: number | null | undefined;
  /** Where a new page goes: only here, or in git for everybody, which takes a person's yes. */
  readonly reach?: "me" | "repository" | undefined;
  readonly actor: Actor;
}

/** A page with what is known of its file. */
export interface StoredPage extends Page {
  readonly path: string;
  readonly text: string;
  readonly hash: string;
  /** `edited`: a person changed it since Knack wrote it. `foreign`: it came with the repository, or by hand. */
  readonly state: "kept" | "edited" | "foreign";
  readonly reach: Artifact["reach"] | null;
}

/** The effect of adding an entry. */
export type PagePlan = Plan & {
  readonly page: string | null;
  readonly says: "added" | "confirmed" | "there";
};

/** How sure a person's own word is, and an agent's that comes without an observation. */
const saidConfidence = { person: 0.9, agent: 0.5, knack: 0.5 } as const;
const entryChars = 600;
const sourceChars = 120;
/** Pages that are read. */
const mostPages = 1_000;

/** The pages of projects, each a Markdown file in `.knack/pages/`. */
export function openPages(deps: PagesDeps) {
  const takeTurns = createTurns(deps);
  return (project: Project & { readonly root: string }) => new ProjectPages(deps, project, takeTurns);
}

type TakeTurns = <Result>(project: string, work: () => Promise<Result>) => Promise<Result>;

const leaseMs = 30_000;
const pauseMs = 25;
const mostPauses = 400;

/**
 * Lets those who write a project's pages at once wait for one another: what another has half done would be taken for a
 * person's edit. Whoever waits too long goes on; a file that is not as planned is left alone.
 */
function createTurns({ claim, giveBack, publishing: { clock } }: PagesDeps): TakeTurns {
  let last: Promise<unknown> = Promise.resolve();
  const alone: TakeTurns = async (project, work) => {
    const lease = `pages ${project}`;
    let isOurs = await claim(lease, clock.now() + leaseMs);
    for (let times = 0; !isOurs && times < mostPauses; times++) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      isOurs = await claim(lease, clock.now() + leaseMs);
    }
    try {
      return await work();
    } finally {
      if (isOurs) await giveBack(lease);
    }
  };
  return (project, work) => {
    const turn = last.then(
      () => alone(project, work),
      () => alone(project, work),
    );
    last = turn;
    return turn;
  };
}

/** The pages of one project. */
export class ProjectPages {
  private readonly deps: PublishDeps;
  private readonly refuses: PagesDeps["refuses"];
  private readonly project: Project & { readonly root: string };

  private readonly takeTurns: TakeTurns;

  constructor(
    { publishing, refuses }: PagesDeps,
    project: Project & { readonly root: string },
    takeTurns: TakeTurns,
  ) {
    this.takeTurns = takeTurns;
    this.deps = publishing;
    this.refuses = refuses;
    this.project = project;
  }

  /** Every page, by key, as it is on disk now. */
  async list(history?: ChangeHistory): Promise<StoredPage[]> {
    const keys: string[] = [];
    for (const root of Object.keys(pageRoots)) keys.push(...(await this.listKeys(root)));
    // Most projects have none, and need not be asked what was published.
    if (keys.length === 0) return [];
    const known = history ?? (await readHistory(this.deps.store));
    const pages: StoredPage[] = [];
    for (const key of keys.slice(0, mostPages)) {
      const page = await this.read(key, known);
      if (page !== null) pages.push(page);
    }
    return pages;
  }

  /** The page that a key, or a name alone, means. */
  async get(word: string): Promise<StoredPage | null> {
    return findPage(await this.list(), word);
  }

  /** The pages that fit a text, best first. */
  async find(text: string, { limit = 5 }: { readonly limit?: number } = {}): Promise<FoundPage[]> {
    return searchPages(await this.list(), text).slice(0, limit);
  }

  /** The roots with their pages, and the rules that have proved themselves. */
  async tree() {
    const pages = await this.list();
    return { roots: buildTree(pages), proven: findProvenRules(pages) };
  }

  /** The proven rules as lessons. */
  async proposals() {
    return findProvenRules(await this.list()).map(describeRule);
  }

  /** The pages that grow stale. */
  async debts() {
    return findStale(await this.list(), this.deps.clock.now());
  }

  confidenceOf(page: Page): number | null {
    return measureConfidence(page);
  }

  /** Plans adding something; writes nothing. */
  async planAdd(wanted: NewEntry): Promise<PagePlan> {
    const refuse = (because: string): PagePlan => ({ ok: false, because, page: null, says: "added" });
    const { root, id } = this.project;
    const refused = await this.refuses(root, id);
    if (refused !== null) return refuse(refused);
    const entry = await this.readEntry(wanted);
    if (typeof entry === "string") return refuse(entry);
    const history = await readHistory(this.deps.store);
    const pages = await this.list(history);
    const same = this.findDuplicate(pages, entry);
    if (same) return this.planConfirm(same.page, same.entry, wanted, entry, history);
    const target = await this.chooseTarget(pages, wanted, entry);
    if ("because" in target) return refuse(target.because);
    const evidence = await this.makeEvidence(entry.id, wanted);
    if (target.page === null) return this.planWrite(target.key, null, entry, evidence, wanted, history);
    const because = explainUntouched(target.page);
    if (because !== null) return refuse(because);
    return this.planWrite(target.key, target.page, entry, evidence, wanted, history);
  }

  /** Adds something: plans, and publishes the plan. */
  async add(wanted: NewEntry): Promise<{ readonly result: PublishResult; readonly plan: PagePlan }> {
    let plan: PagePlan | null = null;
    const planning = async () => {
      plan = await this.planAdd(wanted);
      return plan as Plan;
    };
    return this.takeTurns(this.project.id, async () => {
      const result = await publishPlan(this.deps, planning, wanted.actor);
      return { result, plan: plan ?? (await this.planAdd(wanted)) };
    });
  }

  /** Plans taking a page over as a person has it now, or taking it into git or out of it. */
  async planAccept(word: string, wanted: "me" | "repository" | null): Promise<Plan> {
    const history = await readHistory(this.deps.store);
    const page = findPage(await this.list(history), word);
    if (page === null) return { ok: false, because: `no page is called ${word}` };
    const isThere = wanted === null || wanted === page.reach;
    if (page.state === "kept" && isThere) return { ok: true, steps: [], concerns: [], belongsTo: null };
    const concerns = scan(page.text, { most: Number.POSITIVE_INFINITY });
    if (!mayBeWritten(concerns)) return { ok: false, because: describeRefusal(concerns) };
    const known = history.kept.find(({ path }) => path === page.path);
    const content = toPageContent(pageName(page.key), page.text);
    const files = known ? await this.deps.versions.restore(known.content).catch(() => null) : null;
    const before = known ? { hash: known.content, files } : content;
    const artifact = known ?? this.artifactOf(page.key, wanted ?? "repository");
    return {
      ...{ ok: true, concerns, belongsTo: null },
      steps: [
        planChange(history, { ...artifact, reach: wanted ?? artifact.reach }, "update", before, content),
      ],
    };
  }

  /** Takes a page over as a person has it now: from then on Knack may add to it. */
  accept(word: string, wanted: "me" | "repository" | null): Promise<PublishResult> {
    return this.takeTurns(this.project.id, () =>
      publishPlan(this.deps, () => this.planAccept(word, wanted), "person"),
    );
  }

  /** The port by which a goal keeps its insights. */
  forGoals() {
    return {
      // Where it may not write, it is of no use to name.
      find: async (text: string, { limit }: { readonly limit: number }) => {
        const pages = (await this.list()).filter((page) => explainUntouched(page) === null);
        return searchPages(pages, text).slice(0, limit);
      },
      keep: async (kept: {
        readonly page: string | null;
        readonly insight: string;
        readonly goal: GoalId;
        readonly confidence: number;
      }) => {
        const { page, insight: text, goal, confidence } = kept;
        const { result, plan } = await this.add({ text, page, goal, confidence, actor: "knack" });
        if (!result.kept) return { page: null, why: result.because };
        const failed = result.outcomes.find(({ done }) => !done);
        if (failed || plan.page === null)
          return { page: null, why: failed?.because ?? "nothing was written" };
        return { page: plan.page, change: plan.says };
      },
      debts: () => this.debts(),
    };
  }

  // --- Reading ---

  private folder(key: string): string {
    return `${this.project.root}/.knack/pages/${key}`;
  }

  private async listKeys(folder: string, level = 0): Promise<string[]> {
    const keys: string[] = [];
    for (const name of await this.deps.library.listNames(this.folder(folder))) {
      const key = `${folder}/${name.replace(/\.md$/, "")}`;
      if (name.endsWith(".md") && isPageKey(key)) keys.push(key);
      else if (level < 4 && isSkillName(name)) keys.push(...(await this.listKeys(key, level + 1)));
    }
    return keys;
  }

  private async read(key: string, { kept }: ChangeHistory): Promise<StoredPage | null> {
    const path = `${this.folder(key)}.md`;
    const found = await this.deps.library.readText(path, this.project.root);
    if (found.found !== "text") return null;
    const { hash } = toPageContent(pageName(key), found.text);
    const known = kept.find((one) => one.path === path);
    const state = known === undefined ? "foreign" : known.content === hash ? "kept" : "edited";
    const reach = known?.reach ?? null;
    return { ...parsePage(key, found.text), path, text: found.text, hash, state, reach };
  }

  // --- Deciding ---

  /** The entry as it would be written, or why it may not be. */
  private async readEntry({ text, section, source, goal }: NewEntry): Promise<PageEntry | string> {
    const fields = [text, source ?? ""].map((one) => ({ label: "page", text: oneLine(one) }));
    const [clean = "", from = ""] = await this.deps.redactor.scrub(fields);
    const [, told = clean, own = ""] = /^(.+?)\s*\(source: ([^()]*)\)$/.exec(clean) ?? [];
    const words = cutAtWord(told.replace(/^[-*+] +/, ""), entryChars);
    if (words === "") return "there is nothing to add";
    const kind = section ?? chooseSection(words);
    if (kind === "rules" && !isRule(words))
      return "a decision rule says IF and THEN: IF the build is slow THEN look at the cache key first";
    // An order with a hole in it helps nobody.
    if (kind === "rules" && words.includes("[redacted:")) return "it contains a secret";
    const origin = cutAtWord(from.replace(/[()]/g, ""), sourceChars) || own || goal || "a person";
    return { id: entryId(kind, words), section: kind, text: words, source: kind === "rules" ? origin : null };
  }

  private findDuplicate(pages: readonly StoredPage[], entry: PageEntry) {
    for (const page of pages) {
      const same = findSame(page.entries, entry);
      if (same !== null) return { page, entry: same };
    }
    return null;
  }

  /** An entry that exists already is not written twice: another goal or session that meets it again is further evidence. */
  private async planConfirm(
    page: StoredPage,
    same: PageEntry,
    wanted: NewEntry,
    { text }: PageEntry,
    history: ChangeHistory,
  ): Promise<PagePlan> {
    const evidence = await this.makeEvidence(same.id, wanted);
    const own = page.evidence.filter((one) => one.entry === same.id);
    const isKnown = own.some(
      ({ goal, session }) => goal === evidence.goal && (session === evidence.session || session === null),
    );
    const isNews = evidence.goal !== null || evidence.session !== null;
    const untouched = explainUntouched(page);
    // A goal that keeps the same twice has kept it, and what a person wrote into a page stands there.
    if (wanted.actor === "knack" && (isKnown || untouched !== null))
      return {
        ...{ ok: true, steps: [], concerns: [], belongsTo: null },
        ...{ page: page.key, says: "there" },
      };
    if (!isNews || isKnown) {
      const share = Math.round(measureOverlap(same.text, text) * 100);
      const because = `${page.key} says it already (${share} % of the words are the same): "${cutAtWord(same.text, 160)}"`;
      return { ok: false, because, page: page.key, says: "there" };
    }
    if (untouched !== null) return { ok: false, because: untouched, page: page.key, says: "confirmed" };
    const after = addEvidence(page.text, evidence);
    return this.planText(page.key, page, after, wanted, history, "confirmed");
  }

  private async chooseTarget(
    pages: readonly StoredPage[],
    { page: word, goal }: NewEntry,
    { text }: PageEntry,
  ): Promise<{ readonly key: string; readonly page: StoredPage | null } | { readonly because: string }> {
    if (word) {
      const named = findPage(pages, word);
      if (named) return { key: named.key, page: named };
      if (!isPageKey(word))
        return {
          because: `no page is called ${word}; a new one is named by its root, ${Object.keys(pageRoots).join(", ")}, and a name: execution/${word.replace(/^.*\//, "")}`,
        };
      const taken = pages.find(({ key }) => pageName(key) === pageName(word));
      // An undo names a page by its name alone.
      if (taken) return { because: `${taken.key} has that name already` };
      return { key: word, page: null };
    }
    const writable = pages.filter((page) => explainUntouched(page) === null);
    const [first] = searchPages(writable, text);
    const known = first && writable.find(({ key }) => key === first.page);
    if (known) return { key: known.key, page: known };
    const [of] = goal ? await this.deps.store.goals.get([goal]) : [];
    const category = of?.category ?? classifyDomain({ trigger: text, action: text, kind: "multi-step" });
    const key = choosePage(text, category);
    return nameFree(pages, key);
  }

  private async makeEvidence(
    entry: string,
    { goal, session, confidence, actor }: NewEntry,
  ): Promise<Evidence> {
    const [of] = goal ? await this.deps.store.goals.get([goal]) : [];
    return {
      entry,
      goal: goal ?? null,
      session: session ?? of?.session ?? null,
      ref: of?.ref ?? null,
      at: this.deps.clock.now(),
      confidence: Math.min(1, Math.max(0, confidence ?? saidConfidence[actor])),
    };
  }

  private async planWrite(
    key: string,
    page: StoredPage | null,
    entry: PageEntry,
    evidence: Evidence,
    wanted: NewEntry,
    history: ChangeHistory,
  ): Promise<PagePlan> {
    const before = page?.text ?? renderNewPage(pageName(key).replaceAll("-", " "));
    const after = addEvidence(addEntry(before, entry), evidence);
    return this.planText(key, page, after, wanted, history, "added");
  }

  private async planText(
    key: string,
    page: StoredPage | null,
    text: string,
    { reach = "me", actor }: NewEntry,
    history: ChangeHistory,
    says: PagePlan["says"],
  ): Promise<PagePlan> {
    const refuse = (because: string): PagePlan => ({ ok: false, because, page: key, says });
    if (page === null && reach === "repository" && actor !== "person")
      return refuse("a page in git takes a person's yes");
    const concerns = scan(text, { most: Number.POSITIVE_INFINITY });
    if (!mayBeWritten(concerns)) return refuse(describeRefusal(concerns));
    const known = page && history.kept.find(({ path }) => path === page.path);
    const artifact = known ?? this.artifactOf(key, reach);
    const before = page === null ? null : await readFiles(this.deps, artifact);
    // It was changed while this was planned.
    if (page !== null && before?.hash !== page.hash) return refuse(`${key} is being changed by hand`);
    const after = toPageContent(pageName(key), text);
    const step = planChange(history, artifact, page === null ? "create" : "update", before, after);
    return { ok: true, steps: [step], concerns, belongsTo: null, page: key, says };
  }

  private artifactOf(key: string, reach: "me" | "repository"): Artifact {
    const path = `${this.folder(key)}.md`;
    const origin = { kind: "page", id: makeId("pg", path) } as const;
    return { kind: "page", name: pageName(key), path, root: this.project.root, reach, origin };
  }
}

/** Why nothing is added to a page; null where it may be. */
function explainUntouched({ key, state, damage }: StoredPage): string | null {
  const next = `to let Knack add to it as it is now: knack pages accept ${key}`;
  if (state === "edited") return `${key} was changed by hand, and is left as it is; ${next}`;
  if (state === "foreign") return `${key} was not written by Knack here, and is left as it is; ${next}`;
  return damage === null ? null : `${key}: ${damage}; mend it by hand`;
}

function findPage<Found extends Page>(pages: readonly Found[], word: string): Found | null {
  const exact = pages.find(({ key }) => key === word);
  if (exact) return exact;
  const named = pages.filter(({ key }) => pageName(key) === word);
  return named.length === 1 ? (named[0] ?? null) : null;
}

/** A name that no page has: what is there may be a person's. */
function nameFree(pages: readonly StoredPage[], key: string): { key: string; page: StoredPage | null } {
  const own = pages.find((one) => one.key === key);
  if (own && explainUntouched(own) === null) return { key, page: own };
  const taken = new Set(pages.map((one) => pageName(one.key)));
  let free = key;
  for (let n = 2; taken.has(pageName(free)); n++) free = `${key}-${n}`;
  return { key: free, page: null };
}
