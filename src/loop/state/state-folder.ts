import { bindAll, compareText, KnackError, listFilesBelow } from "../../base/index.ts";
import { redact } from "../../trust/index.ts";
import { findObjection, findOverreach, isChangeable, type StateChange } from "./changes.ts";
import {
  type CuratedState,
  describeCuration,
  type PastChange,
  pickOldNotes,
  planCuration,
  type StateCuration,
  splitRuns,
} from "./curation.ts";
import { weighChange } from "./evidence.ts";
import { type PastRun, pastRunSchema, policySchema } from "./policy.ts";
import { type StateCommit, StateRepository } from "./repository.ts";

/** What a loop learned: a git repository that only Knack commits to. */
export type StateFolder = Awaited<ReturnType<typeof openStateFolder>>;

/** The run that a change comes from. */
export interface ChangeCause {
  readonly run: string;
  readonly at: number;
  /** The commit that the state has to be at; null for any. */
  readonly head: string | null;
}

interface StateOptions {
  /** Where git is looked for. */
  readonly searchPath: string | undefined;
  readonly at: number;
}

/** Opens a state folder, or makes one where there is none. */
export async function openStateFolder(path: string, { searchPath, at }: StateOptions) {
  const repository = new StateRepository(path, searchPath);
  const policy = `${JSON.stringify(policySchema.parse({}), null, 2)}\n`;
  await repository.prepare({ [policyFile]: policy, [runsFile]: "[]\n" }, at);
  return {
    path,
    ...bindAll(repository, {
      ...{ readHead, readPolicy, readRuns, listFiles, dropStrayWrites, keepPolicy },
      ...{ recordRun, commitChanges, listChanges, curate },
    }),
  };
}

const runsFile = "runs/index.json";
const policyFile = "policy.json";

function readHead(repository: StateRepository): Promise<string> {
  return repository.readHead();
}

function readPolicy(repository: StateRepository) {
  return repository.readJson(policyFile, policySchema);
}

/** Past runs, the oldest first. */
function readRuns(repository: StateRepository): readonly PastRun[] {
  return repository.readJson(runsFile, pastRunSchema.array());
}

/** Files that loops go by, as paths below the folder. */
function listFiles({ path }: StateRepository): readonly string[] {
  return listFilesBelow(path).filter(isChangeable);
}

function dropStrayWrites(repository: StateRepository): Promise<void> {
  return repository.dropStrayWrites();
}

/** Commits what a person changed in the policy, so that it is not thrown away as a stray write. */
async function keepPolicy(repository: StateRepository, at: number): Promise<void> {
  const isChanged = (await repository.git.run(["status", "--porcelain", "--", policyFile])).trim() !== "";
  if (!isChanged) return;
  readPolicy(repository);
  await repository.commit("policy: changed by a person", [], [["record", policyFile]], at, policyFile);
}

/** Adds a run to the index; once, however often it is told. */
async function recordRun(repository: StateRepository, run: PastRun, at: number): Promise<string> {
  await repository.dropStrayWrites();
  const known = readRuns(repository);
  if (known.some(({ id }) => id === run.id)) return repository.readHead();
  repository.writeText(runsFile, `${redact(JSON.stringify([...known, run], null, 1))}\n`);
  return repository.commit(`runs: ${run.id}`, [], [["record", run.id]], at);
}

async function begin(repository: StateRepository, head: string | null): Promise<string> {
  await repository.dropStrayWrites();
  const now = await repository.readHead();
  if (head === null || head === now) return now;
  throw new KnackError(
    "STORE_UNAVAILABLE",
    `The state folder ${repository.path} moved on to ${now.slice(0, 10)}.`,
    {
      hint: "Another run changed it meanwhile; what this one proposes was not applied.",
    },
  );
}

/** Commits each change that is accepted, by itself; what a killed process committed is not done again. */
async function commitChanges(
  repository: StateRepository,
  changes: readonly StateChange[],
  cause: ChangeCause,
) {
  const log = await repository.readLog();
  const markOf = (change: StateChange) => `${cause.run}/${changes.indexOf(change) + 1}`;
  const findDone = (change: StateChange) =>
    log.find((commit) => commit.listMarks("change").includes(markOf(change)))?.sha ?? null;
  let head = await begin(repository, changes.some((one) => findDone(one) !== null) ? null : cause.head);
  const needless = findOverreach(changes);
  const accepted: { change: StateChange; before: string; after: string }[] = [];
  const rejected: { change: StateChange; reason: string }[] = [];
  for (const change of changes) {
    const done = findDone(change);
    const reason = needless.has(change) ? lessDeep : judgeChange(repository, change);
    if (done !== null) accepted.push({ change, before: await repository.readParent(done), after: done });
    else if (reason !== null) rejected.push({ change, reason });
    else {
      const before = head;
      head = await commitChange(repository, change, markOf(change), cause);
      accepted.push({ change, before, after: head });
    }
  }
  return { accepted, rejected, head };
}

const lessDeep = "another change that goes less deep follows from the same recommendation";

function judgeChange(repository: StateRepository, change: StateChange): string | null {
  return findObjection(change, repository.readText(change.target), readPolicy(repository));
}

const subjectChars = 72;

function commitChange(
  repository: StateRepository,
  { changeKind, target, content, summary, because }: StateChange,
  mark: string,
  { run, at }: ChangeCause,
): Promise<string> {
  repository.writeText(target, content);
  const subject = `${changeKind}: ${flatten(summary)}`;
  const short = subject.length <= subjectChars ? subject : `${subject.slice(0, subjectChars - 1)}…`;
  const body = [`What: ${flatten(summary)}`, `Target: ${target}`, `Because: ${flatten(because)}`];
  const marks = [["run", run] as const, ["change", mark] as const];
  return repository.commit(short, body, marks, at);
}

/** A worker's words as they may be kept, in one line. */
function flatten(text: string): string {
  return redact(text).replace(/\s+/g, " ").trim();
}

/** The accepted changes, the newest first, each with what the runs since say about it. */
async function listChanges(repository: StateRepository): Promise<readonly PastChange[]> {
  const log = await repository.readLog();
  const places = new Map(log.map(({ sha }, n) => [sha, log.length - n]));
  const reverted = new Map(
    log.flatMap((one) => one.listMarks("revert").map((sha) => [sha, one.sha] as const)),
  );
  const runs = readRuns(repository);
  const { revert } = readPolicy(repository);
  return log.flatMap((commit) => {
    if (commit.listMarks("change").length === 0) return [];
    const { sha, at, subject, files } = commit;
    const revertedBy = reverted.get(sha) ?? null;
    const evidence = weighChange(splitRuns(runs, { files, sha, revertedBy }, places), revert);
    return [
      { sha, run: commit.listMarks("run")[0] ?? "", at, summary: subject, files, revertedBy, evidence },
    ];
  });
}

/** Prunes, merges and reverts: in one commit, or none. */
async function curate(
  repository: StateRepository,
  curation: StateCuration,
  cause: ChangeCause,
): Promise<CuratedState> {
  const known = await repository.findMarked("curation", cause.run);
  if (known !== null) return readCuration(known);
  const before = await begin(repository, cause.head);
  const policy = readPolicy(repository);
  const view = { policy, runs: readRuns(repository), files: listFiles(repository) };
  const readText = (file: string) => repository.readText(file);
  const plan = planCuration(curation, await listChanges(repository), { ...view, readText });
  const thrown = pickOldNotes(await listNotes(repository), policy);
  const refused = [...plan.record.refused];
  const reverted: { sha: string; reason: string }[] = [];
  for (const { change, reason } of plan.reverts) {
    const problem = await takeBack(repository, change);
    if (problem === null) reverted.push({ sha: change.sha, reason: flatten(reason) });
    else refused.push({ what: change.sha, reason: problem });
  }
  for (const [file, text] of plan.writes) repository.writeText(file, text);
  for (const { name, text } of curation.operatorRequests)
    if (/^[\w-]+$/.test(name)) repository.writeText(`operator-requests/${name}.json`, redact(text));
  for (const note of thrown) repository.writeText(note, null);
  const record = { ...plan.record, before, reverted, refused, notesCompacted: thrown.length };
  const after = (await repository.isClean()) ? before : await commitCuration(repository, record, cause);
  return { ...record, after };
}

function commitCuration(
  repository: StateRepository,
  record: Omit<CuratedState, "after">,
  { run, at }: ChangeCause,
): Promise<string> {
  const lines = describeCuration(record);
  const marks = [
    ...record.reverted.map(({ sha }) => ["revert", sha] as const),
    ...([
      ["run", run],
      ["curation", run],
      ["curated", JSON.stringify(record)],
    ] as const),
  ];
  const subject = lines.length === 1 ? "curate: 1 change" : `curate: ${lines.length} changes`;
  return repository.commit(subject, lines, marks, at);
}

/** What a commit that curated did, by its own message. */
function readCuration({ sha, listMarks }: StateCommit): CuratedState {
  return { ...(JSON.parse(listMarks("curated")[0] ?? "{}") as Omit<CuratedState, "after">), after: sha };
}

/** Puts a change's files back to what they were before it; or says why that cannot be. */
async function takeBack(repository: StateRepository, { sha, files }: PastChange): Promise<string | null> {
  const { git } = repository;
  const restored: [string, string | null][] = [];
  for (const file of files) {
    const then = await git.ask(["show", `${sha}:${file}`]);
    if (then !== repository.readText(file)) return `${file} was changed again since`;
    restored.push([file, await git.ask(["show", `${sha}^:${file}`])]);
  }
  for (const [file, text] of restored) repository.writeText(file, text);
  return null;
}

/** Notes, the newest first. */
async function listNotes(repository: StateRepository) {
  const order = (await repository.readLog()).flatMap(({ files }) => files);
  const notes = listFiles(repository).filter((file) => file.startsWith("notes/"));
  const sorted = notes.sort((a, b) => order.indexOf(a) - order.indexOf(b) || compareText(a, b));
  return sorted.map((file) => ({ file, bytes: Buffer.byteLength(repository.readText(file) ?? "") }));
}
