import { readSymptom } from "../src/failures/symptom.ts";
import { recordEntries } from "../src/lessons/fold.ts";
import type { LedgerEntry } from "../src/records/ledger.ts";
import type { Finding } from "../src/records/lesson.ts";
import type { Store } from "../src/store/store.ts";
import { aFinding, made } from "../test/helpers/findings.ts";
import { seeded } from "../test/helpers/history.ts";

/** A lesson: a few programs and errors that all lessons are about, and words of which some are common and most are rare. */
export function lesson(n: number, random: () => number): Finding {
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)] as string;
  const topic = () => `topic${Math.floor(3_000 * random() ** 3)}`;
  const [program, verb] = [pick(programs), pick(verbs)];
  const words = {
    trigger: `${program} ${verb} fails with ${pick(errors)} in ${topic()} ${topic()} ${topic()}`,
    action: `use ${program} ${verb} --${topic()} before ${topic()} ${topic()}`,
  };
  const { command, output, remedy } = failureOf(n, program, verb, words.trigger.split(" ").slice(-3));
  return aFinding({
    ...words,
    lesson: `${words.trigger}: ${words.action}.`,
    call: [program, verb, "--as-it-should-be"],
    symptom: readSymptom(command, output, 1),
    remedy,
    excerpt: { failed: command, error: output, worked: words.action, said: null, replied: null },
    at: Date.UTC(2026, 0, 1) + n * 60_000,
  });
}

/** What failed: some errors are met everywhere, most say something of their own. */
function failureOf(
  n: number,
  program: string,
  verb: string,
  [a, b, c]: readonly string[],
): { command: string; output: string; remedy: Finding["remedy"] } {
  const command = `${program} ${verb} --${a} ${b}`;
  switch (n % 5) {
    case 0:
      return { command, output: `bash: ${program}: command not found`, remedy: "program" };
    case 1:
      return { command, output: `error: unknown option '--${a}'`, remedy: "flag" };
    case 2:
      return { command, output: "error: connect ECONNREFUSED 127.0.0.1:5432", remedy: "step" };
    case 3:
      return { command, output: `ModuleNotFoundError: No module named '${b}'`, remedy: "wrapper" };
    default:
      return { command, output: `error: ${b} is not ready for ${c} in ${verb}`, remedy: "flag" };
  }
}

interface Filling {
  /** The folder of the project, which need not be there. */
  readonly root?: string;
  /** What is special about one of the findings. */
  readonly change?: (finding: Finding, n: number) => Finding;
}

/** Fills a store with so many lessons of one project, each from a session of its own. */
export async function fill(
  store: Store,
  count: number,
  { root = "/p", change = (finding) => finding }: Filling = {},
): Promise<void> {
  const random = seeded(11);
  const found: LedgerEntry = {
    at: 1,
    project: root,
    session: "s0",
    actor: "knack",
    type: "session.found",
    key: "session:s0",
    data: { project: { id: root, name: "p", root }, path: "s0" },
  };
  await store.transaction((tx) => recordEntries(tx, [found]));
  for (let n = 0; n < count; n += 500)
    await store.transaction((tx) =>
      recordEntries(
        tx,
        Array.from({ length: Math.min(500, count - n) }, (_, at) =>
          made(`s${n + at}`, change(lesson(n + at, random), n + at), 1, root),
        ),
      ),
    );
}

const programs =
  "npm pnpm yarn git docker kubectl cargo go python pip uv pytest make gradle terraform psql".split(" ");
const verbs = "install build test run push commit apply lint start deploy migrate format check publish".split(
  " ",
);
const errors =
  "ENOENT EACCES ERESOLVE timeout conflict missing-module unknown-option permission-denied".split(" ");
