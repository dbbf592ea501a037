import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isNews, mainText, type Suggestion, skillFile } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { Lesson, LiveReach, Reach } from "../../records/index.ts";
import type { AnyCall } from "../command.ts";
import { describeDiff, describePlan } from "./changes.ts";
import { describeKeeping, describeSuggestion, explainNoPlace } from "./lesson.ts";
import { ask, askYesNo, type CliEnv, type Screen } from "./screen.ts";
import { flatLines, type Lines, textLines } from "./text.ts";

const hint = "y keep it   n not now   ? explains the other answers";

const legend = [
  "y  keep it (Enter)             n  not now: it is suggested again",
  "e  edit it first               d  show the diff",
  "s  never suggest it again      q  quit; what you kept stays",
  "a  keep this one and all that follow, each where it belongs",
];

/** The places where a lesson may be kept, in words. */
const places: Readonly<Record<LiveReach, string>> = {
  me: "only on this machine",
  repository: "in this repository, for the team",
  everywhere: "in all my projects",
};

/** Asks about one lesson after the other. Returns whether the person left early; what they kept stays. */
export async function askAboutLessons(
  { screen, env }: AnyCall,
  knack: Knack,
  suggestions: readonly Suggestion[],
): Promise<boolean> {
  const usual: UsualReaches = new Map();
  let keepsAll = false;
  if (suggestions.length > 0) screen.print([screen.dim(hint), ""]);
  for (const [at, suggestion] of suggestions.entries()) {
    const [first = "", ...rest] = flatLines(describeSuggestion(suggestion, screen));
    screen.print([`${screen.dim(`${at + 1} of ${suggestions.length}`)}  ${first}`, rest]);
    const question = new LessonQuestion(screen, env, knack, suggestion, usual);
    const answer: KeepStep = keepsAll ? await question.keepUsual() : await question.ask();
    if (answer === "left") {
      screen.print(["", "Stopped. What you kept stays."]);
      return true;
    }
    keepsAll ||= answer === "all";
    screen.print([""]);
  }
  return false;
}

/** Where lessons were kept last in this run, by project and scope. */
type UsualReaches = Map<string, Reach>;

function reachKey({ project, scope }: Lesson): string {
  return `${scope} ${project}`;
}

type KeepStep = "decided" | "left" | "again" | "all";

/** The question about one lesson: it may be looked at and edited before it is decided. */
class LessonQuestion {
  /** The text as the person edited it. */
  private text: string | undefined;
  /** The plan that the person saw last, for the usual place. */
  private seen: Suggestion["plan"];

  constructor(
    private readonly screen: Screen,
    private readonly env: CliEnv,
    private readonly knack: Knack,
    private readonly suggestion: Suggestion,
    private readonly usual: UsualReaches,
  ) {
    this.seen = suggestion.plan;
  }

  async ask(): Promise<KeepStep> {
    const answers: Readonly<Record<string, () => Promise<KeepStep>>> = {
      y: () => this.keep(),
      n: async () => "decided",
      s: () => this.skip(),
      d: async () => this.show(this.describeDifference()),
      e: () => this.edit(),
      q: async () => "left",
      a: () => this.keepUsual(),
    };
    for (;;) {
      const word = await ask("Keep? [Y/n/e/d/s/q/a/?] ");
      if (word === null) return "left";
      const letter = { "": "y", yes: "y", no: "n", quit: "q", all: "a" }[word] ?? word;
      const answer = Object.hasOwn(answers, letter) ? await answers[letter]?.() : this.show(legend);
      if (answer !== undefined && answer !== "again") return answer;
    }
  }

  private show(lines: Lines): "again" {
    this.screen.print(lines);
    return "again";
  }

  private choose(reach: Reach) {
    return { reach, actor: "person" as const, ...(this.text === undefined ? {} : { text: this.text }) };
  }

  private async skip(): Promise<KeepStep> {
    const { id, name } = this.suggestion.lesson;
    await this.knack.decide(id, "rejected");
    this.screen.print([
      `It will not be suggested again. To allow it again: ${this.screen.knack} skills unskip ${name}`,
    ]);
    return "decided";
  }

  private async edit(): Promise<KeepStep> {
    const edited = editText(this.seen, this.text, this.env);
    if (edited.because !== null) return this.show([edited.because]);
    this.text = edited.text;
    const { lesson, reaches } = this.suggestion;
    const next = await this.knack.plan(lesson, this.choose(reaches[0] as Reach));
    if (!next.ok) return this.show([`Cannot be kept like that: ${next.because}.`]);
    this.seen = next;
    return this.show(describePlan(next, this.screen, { whole: true }));
  }

  /** Keeps it where lessons like it are kept, without a question; one that belongs nowhere here is left for later. */
  async keepUsual(): Promise<KeepStep> {
    const { knack, screen, suggestion, usual } = this;
    const { lesson, reaches } = suggestion;
    const because = explainNoPlace(suggestion);
    const reach = usual.get(reachKey(lesson)) ?? (because === null ? reaches[0] : undefined);
    screen.print(
      reach === undefined
        ? [`Not kept: ${because}. ${screen.knack} asks again.`]
        : describeKeeping(await knack.keep(lesson, this.choose(reach)), suggestion, screen),
    );
    return "all";
  }

  private async keep(): Promise<KeepStep> {
    const { knack, screen, suggestion } = this;
    const { lesson, reaches } = suggestion;
    const reach = await this.askWhere();
    if (reach === null) return "left";
    if (reach === "nowhere") return "decided";
    if (reach !== reaches[0]) {
      const plan = await knack.plan(lesson, this.choose(reach));
      if (!plan.ok) return this.show([`Cannot be kept there: ${plan.because}.`]);
      screen.print(describePlan(plan, screen));
      const isSure = plan.steps.length === 0 || (await askYesNo("Write it?", true));
      if (isSure !== true) return isSure === null ? "left" : "again";
    }
    this.usual.set(reachKey(lesson), reach);
    const result = await knack.keep(lesson, this.choose(reach));
    screen.print(describeKeeping(result, suggestion, screen));
    return result.kept || this.text === undefined ? "decided" : "again";
  }

  private async askWhere(): Promise<Reach | "nowhere" | null> {
    const { reaches, lesson, plan } = this.suggestion;
    const [only = "everywhere"] = reaches;
    // A proposal goes where the skill is that it is for.
    if (plan.belongsTo !== null) return only;
    const because = explainNoPlace(this.suggestion);
    if (because !== null) {
      const isSure = await askYesNo(`Keep it ${places.everywhere}? (${because})`, false);
      return isSure === null ? null : isSure ? only : "nowhere";
    }
    if (reaches.length === 1) return only;
    const standard = this.usual.get(reachKey(lesson)) ?? only;
    const words: readonly LiveReach[] = ["me", "repository", "everywhere"];
    const choices = words.map(
      (one) => `  ${one.charAt(0)}  ${places[one]}${one === standard ? " (Enter)" : ""}`,
    );
    this.screen.print(["Where?", choices]);
    for (;;) {
      const answer = await ask("[m/r/e] ");
      if (answer === null) return null;
      if (answer === "") return standard;
      const reach = words.find((one) => one === answer || one.charAt(0) === answer);
      if (reach) return reach;
    }
  }

  /** Describes the changes to an existing file; a new skill is shown whole. */
  private describeDifference(): Lines {
    // One skill may go to the folders of several agents.
    const steps = new Map(
      this.seen.steps.filter(isNews).map((step) => [step.files ? step.change.after : step.change.id, step]),
    );
    return [...steps.values()].map(({ files, change, diff }) => {
      const isNew = files && change.why === "create" && !change.proposal;
      return isNew
        ? [textLines(mainText(files).trimEnd()), "", "All of this is new."]
        : describeDiff(diff, this.screen);
    });
  }
}

/** The text as the person leaves it in their editor, or why there is none. */
function editText({ steps }: Suggestion["plan"], before: string | undefined, env: CliEnv) {
  const step = steps.find(({ change }) => change.why !== "remove");
  const text = before ?? (step?.files ? mainText(step.files) : (step?.change.after ?? ""));
  const folder = mkdtempSync(join(tmpdir(), "knack-edit-"));
  const path = join(folder, step?.files ? skillFile : "rule.md");
  try {
    writeFileSync(path, text.endsWith("\n") ? text : `${text}\n`, { mode: 0o600 });
    const failure = runEditor(path, env);
    const edited = readFileSync(path, "utf8");
    const because = failure ?? (edited.trim() === "" ? "The text is empty, so nothing was changed." : null);
    return { because, text: step?.files ? edited : edited.trim() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the person's editor; returns why there is no edited text, or null. */
function runEditor(path: string, env: CliEnv): string | null {
  const chosen = env.VISUAL || env.EDITOR;
  for (const name of chosen ? [chosen] : ["vi", "nano"]) {
    // Through a shell, because it may have arguments, such as `code --wait`.
    const { error, status, signal } = spawnSync(`${name} "$KNACK_EDITED"`, {
      shell: true,
      stdio: "inherit",
      env: { ...env, KNACK_EDITED: path },
    });
    if (status === 0) return null;
    // 127: the shell found no such program.
    if (!error && (chosen || status !== 127))
      return `The editor (${name}) exited with ${status ?? signal}, so nothing was changed.`;
  }
  return "No editor was found. Set VISUAL or EDITOR.";
}
