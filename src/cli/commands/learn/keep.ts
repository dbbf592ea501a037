import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type PublishResult,
  parseSkill,
  type SkillPackage,
  type Suggestion,
  skillFile,
} from "../../../library/index.ts";
import type { Knack } from "../../../open.ts";
import type { Lesson, Reach } from "../../../records/index.ts";
import { extractTerms, measureSimilarity, renderDiff } from "../../../text/index.ts";
import type { AnyCall, CliEnv } from "../../command.ts";
import {
  describeDiff,
  describeOutcomes,
  describePlan,
  describeReach,
  isNews,
  stepText,
} from "../../screen/changes.ts";
import { describeSuggestion } from "../../screen/lesson.ts";
import { ask, askYesNo } from "../../screen/prompt.ts";
import type { Screen } from "../../screen/screen.ts";
import { textLines } from "../../screen/text.ts";

const legend = "y keep it   n not now   e edit it first   d show the diff   s never suggest it again";

/** Asks about one lesson after the other. Returns whether the person left early; what they kept stays. */
export async function askAboutLessons(
  call: AnyCall,
  knack: Knack,
  suggestions: readonly Suggestion[],
): Promise<boolean> {
  const { screen } = call;
  const usual = await readUsualReaches(knack);
  if (suggestions.length > 0) screen.print([screen.dim(legend), ""]);
  for (const [at, suggestion] of suggestions.entries()) {
    const [first = "", ...rest] = describeSuggestion(suggestion, screen);
    screen.print([`${screen.dim(`${at + 1} of ${suggestions.length}`)}  ${first}`, ...rest]);
    if ((await new LessonQuestion(call, knack, suggestion, usual).ask()) === "left") {
      screen.print(["", "Stopped. What you kept stays."]);
      return true;
    }
    screen.print([""]);
  }
  return false;
}

/** Where lessons were kept last, by project and scope. */
type UsualReaches = Map<string, Reach>;

async function readUsualReaches(knack: Knack): Promise<UsualReaches> {
  const lessons = new Map((await knack.lessons()).map((one) => [one.id, one]));
  const kept = (await knack.shelf()).filter(({ reach }) => reach !== "draft").sort((a, b) => a.at - b.at);
  return new Map(
    kept.flatMap(({ origin, reach }) => {
      const lesson = lessons.get(origin.id);
      return lesson ? [[reachKey(lesson), reach]] : [];
    }),
  );
}

function reachKey({ project, scope }: Lesson): string {
  return `${scope} ${project}`;
}

/** The question about one lesson: answers may be looked at and edited before it is decided. */
class LessonQuestion {
  /** The text as the person edited it. */
  private text: string | undefined;
  /** The plan that the person saw last, for the usual place. */
  private seen: Suggestion["plan"];
  private readonly screen: Screen;

  constructor(
    private readonly call: AnyCall,
    private readonly knack: Knack,
    private readonly suggestion: Suggestion,
    private readonly usual: UsualReaches,
  ) {
    this.seen = suggestion.plan;
    this.screen = call.screen;
  }

  async ask(): Promise<"decided" | "left"> {
    const { knack, screen } = this;
    const { lesson } = this.suggestion;
    for (;;) {
      switch (await ask("Keep? [Y/n/e/d/s] ")) {
        case null:
          return "left";
        case "n":
        case "no":
          return "decided";
        case "s":
          await knack.decide(lesson.id, "rejected");
          screen.print([
            `It will not be suggested again. To allow it again: ${screen.knack} skills unskip ${lesson.name}`,
          ]);
          return "decided";
        case "d":
          screen.print(await this.describeDifference());
          break;
        case "e":
          await this.edit();
          break;
        case "":
        case "y":
        case "yes": {
          const answer = await this.keep();
          if (answer !== "again") return answer;
          break;
        }
        default:
          screen.print([legend]);
      }
    }
  }

  private choose(reach: Reach) {
    return { reach, actor: "person" as const, ...(this.text === undefined ? {} : { text: this.text }) };
  }

  private async edit(): Promise<void> {
    const edited = editText(this.seen, this.text, this.call.env);
    if (edited.because !== null) return this.screen.print([edited.because]);
    this.text = edited.text;
    const { lesson, reaches } = this.suggestion;
    const next = await this.knack.plan(lesson, this.choose(reaches[0] as Reach));
    if (next.ok) this.seen = next;
    this.screen.print(
      next.ok
        ? describePlan(next, this.screen, { whole: true })
        : [`Cannot be kept like that: ${next.because}.`],
    );
  }

  private async keep(): Promise<"decided" | "left" | "again"> {
    const { knack, screen, suggestion } = this;
    const { lesson, reaches } = suggestion;
    const reach = await this.askWhere();
    if (reach === null) return "left";
    if (reach !== reaches[0]) {
      const plan = await knack.plan(lesson, this.choose(reach));
      if (!plan.ok) {
        screen.print([`Cannot be kept there: ${plan.because}.`]);
        return "again";
      }
      if (plan.steps.length > 0) {
        screen.print(describePlan(plan, screen));
        const isSure = await askYesNo("Write it?", true);
        if (isSure !== true) return isSure === null ? "left" : "again";
      }
    }
    this.usual.set(reachKey(lesson), reach);
    const keeping = await knack.keep(lesson, this.choose(reach));
    screen.print(describeKeeping(keeping, suggestion, screen));
    return keeping.kept || this.text === undefined ? "decided" : "again";
  }

  private async askWhere(): Promise<Reach | null> {
    const { reaches, project, lesson, plan } = this.suggestion;
    const [only = "everywhere"] = reaches;
    // A proposal goes where the skill is that it is for.
    if (plan.belongsTo !== null) return only;
    if (reaches.length === 1) {
      this.screen.print([`Where: everywhere (the folder of ${project.name} is not on this machine)`]);
      return only;
    }
    const standard = this.usual.get(reachKey(lesson)) ?? only;
    for (;;) {
      const answer = await ask(
        `Where? [m]e, [r]epository, [e]verywhere (Enter: ${standard === "me" ? "only me" : standard}) `,
      );
      if (answer === null) return null;
      const word = answer.replace(/^only /, "");
      const reach = (["me", "repository", "everywhere"] as const).find(
        (one) => one === word || one.charAt(0) === word,
      );
      if (word === "" || reach) return reach ?? standard;
    }
  }

  /** What would change in a file that exists; for a new skill, how it differs from the most similar one. */
  private async describeDifference(): Promise<string[]> {
    const { screen } = this;
    // One skill may go to the folders of several agents.
    const steps = new Map(
      this.seen.steps.filter(isNews).map((step) => [step.files ? step.change.after : step.change.id, step]),
    );
    const lines: string[] = [];
    for (const step of steps.values()) {
      if (!step.files || step.change.why !== "create" || step.change.proposal) {
        lines.push(...describeDiff(step.diff, screen));
        continue;
      }
      const text = stepText(step);
      const near = await findSimilarSkill(this.knack, text, this.suggestion.project.root);
      lines.push(
        // The explanation comes last, because a long text scrolls off the top of the screen.
        ...(near
          ? [
              ...describeDiff(renderDiff(`${near.name}/${skillFile}`, near.text, text), screen),
              `Compared with the most similar skill, ${screen.path(near.path)}, which is not changed.`,
            ]
          : [...textLines(text.trimEnd()), "", "No similar skill exists: all of this is new."]),
      );
    }
    return lines;
  }
}

/** Overlap of the words of two descriptions from which a comparison is worth showing. */
const worthComparing = 0.25;

async function findSimilarSkill(
  knack: Knack,
  text: string,
  root: string | null,
): Promise<SkillPackage | null> {
  const terms = (one: { readonly name: string; readonly description: string }) =>
    extractTerms(`${one.name} ${one.description}`);
  const { skill } = parseSkill(text);
  const [first] = (await knack.skills(root))
    .flatMap(({ listing }) => (listing.found === "skills" ? listing.skills : []))
    .map((one) => ({ one, likeness: skill ? measureSimilarity(terms(skill), terms(one)) : 0 }))
    .filter(({ likeness }) => likeness >= worthComparing)
    .sort((a, b) => b.likeness - a.likeness);
  return first?.one ?? null;
}

/** What keeping did, and how to undo it. */
export function describeKeeping(keeping: PublishResult, { lesson }: Suggestion, screen: Screen): string[] {
  if (!keeping.kept) return [`Not kept: ${keeping.because}.`];
  if (keeping.already) return [`${lesson.name} was already kept by another run.`];
  const written = keeping.outcomes.filter((one) => isNews(one) || !one.done);
  const first = written.find(({ change }) => change.why !== "remove") ?? written[0];
  if (!first) return ["Nothing was written: your instructions already say it."];
  const name = first.change.name;
  if (keeping.belongsTo !== null)
    return [
      `${screen.path(keeping.belongsTo)} is yours and was not changed. The lesson is kept as a proposal for it:`,
      `  ${screen.knack} skills diff ${name}`,
      `  ${screen.knack} skills accept ${name}`,
    ];
  return [
    `Kept ${lesson.name} (${describeReach(first.change.reach)}). It is live:`,
    ...describeOutcomes(written, screen),
    `  undo:    ${screen.knack} skills undo ${name}`,
  ];
}

/** The text as the person leaves it in their editor, or why there is none. */
function editText({ steps }: Suggestion["plan"], before: string | undefined, env: CliEnv) {
  const step = steps.find(({ change }) => change.why !== "remove");
  const file = step?.files?.find(({ path }) => path === skillFile);
  const text = before ?? (file ? new TextDecoder().decode(file.bytes) : (step?.change.after ?? ""));
  const folder = mkdtempSync(join(tmpdir(), "knack-edit-"));
  const path = join(folder, file ? skillFile : "rule.md");
  try {
    writeFileSync(path, text.endsWith("\n") ? text : `${text}\n`);
    const failure = runEditor(path, env);
    const edited = readFileSync(path, "utf8");
    const because = failure ?? (edited.trim() === "" ? "The text is empty, so nothing was changed." : null);
    return { because, text: file ? edited : edited.trim() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Why there is no edited text; null when there is. */
function runEditor(path: string, env: CliEnv): string | null {
  const chosen = env.VISUAL || env.EDITOR;
  for (const name of chosen ? [chosen] : ["vi", "nano"]) {
    // Through a shell, because it may have arguments, such as `code --wait`.
    const { error, status, signal } = chosen
      ? spawnSync(`${name} "$KNACK_EDITED"`, {
          shell: true,
          stdio: "inherit",
          env: { ...env, KNACK_EDITED: path },
        })
      : spawnSync(name, [path], { stdio: "inherit" });
    if (status === 0) return null;
    if (!error) return `The editor (${name}) exited with ${status ?? signal}, so nothing was changed.`;
  }
  return "No editor was found. Set VISUAL or EDITOR.";
}
