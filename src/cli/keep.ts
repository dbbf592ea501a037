import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Reach } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import type { Instinct } from "../core/instinct.ts";
import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import { parse, skillFile } from "../core/skill.ts";
import { overlap, termsOf } from "../core/words.ts";
import type { Keeping, Suggestion } from "../engine/keep.ts";
import type { SkillPackage } from "../engine/ports.ts";
import type { Knack } from "../open.ts";
import type { Env } from "./main.ts";
import {
  isWritten,
  reachInWords,
  tellDiff,
  tellOutcomes,
  tellPlan,
  tellSuggestion,
  textOf,
} from "./telling.ts";
import { calledAs, onLines, type Paint, paintFor, printLines, short } from "./terminal.ts";

/** What the letters of the question mean. */
const legend = "y keep it   n not now   e edit it first   d show the difference   s never suggest it again";

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** What became of a suggestion. */
export interface Answered {
  readonly suggestion: Suggestion;
  readonly keeping: Keeping | null;
}

/** Asks about one suggestion after the other; a person who leaves keeps what they kept. */
export async function askAll(
  knack: Knack,
  suggestions: readonly Suggestion[],
  env: Env,
): Promise<{ answered: Answered[]; left: boolean }> {
  const paint = paintFor(process.stdout, env);
  const answered: Answered[] = [];
  const usual = await lastChoices(knack);
  if (suggestions.length > 0) printLines([paint.dim(legend), ""]);
  for (const [at, suggestion] of suggestions.entries()) {
    const [first = "", ...rest] = tellSuggestion(suggestion, paint, env);
    printLines([`${paint.dim(`${at + 1} of ${suggestions.length}`)}  ${first}`, ...rest]);
    const answer = await askOne(knack, suggestion, usual, paint, env);
    if (answer === "left") {
      printLines(["", "Until next time. What you kept stays."]);
      return { answered, left: true };
    }
    answered.push({ suggestion, keeping: answer });
    printLines([""]);
  }
  return { answered, left: false };
}

async function askOne(
  knack: Knack,
  suggestion: Suggestion,
  usual: Map<string, Reach>,
  paint: Paint,
  env: Env,
): Promise<Keeping | null | "left"> {
  const { instinct, reaches } = suggestion;
  const planFor = (reach: Reach) => knack.plan(instinct, choiceOf(reach, text));
  let text: string | undefined;
  // What the person last saw, which is for the usual place.
  let seen = suggestion.plan;
  for (;;) {
    const answer = (await ask("Keep? [Y/n/e/d/s] "))?.trim().toLowerCase();
    if (answer === undefined) return "left";
    if (answer === "n" || answer === "no") return null;
    if (answer === "s") {
      await knack.decide(instinct.id, "rejected");
      printLines([
        `Never suggested again. To take that back: ${calledAs(env)} skills unskip ${instinct.name}`,
      ]);
      return null;
    }
    if (answer === "d") {
      printLines(await differenceOf(knack, { ...suggestion, plan: seen }, paint, env));
      continue;
    }
    if (answer === "e") {
      const edited = edit({ ...suggestion, plan: seen }, text, env);
      if (!edited.ok) {
        printLines([edited.because]);
        continue;
      }
      text = edited.text;
      const next = await planFor(reaches[0] as Reach);
      if (next.ok) seen = next;
      printLines(next.ok ? tellPlan(next, paint, env, { whole: true }) : [`Not so: ${next.because}.`]);
      continue;
    }
    if (answer !== "" && answer !== "y" && answer !== "yes") {
      printLines([legend]);
      continue;
    }
    const reach = await askWhere(suggestion, usual);
    if (reach === null) return "left";
    if (reach !== reaches[0]) {
      const there = await planFor(reach);
      if (!there.ok) {
        printLines([`Not there: ${there.because}.`]);
        continue;
      }
      const sure = there.steps.length === 0 || (await askSure(tellPlan(there, paint, env)));
      if (sure === null) return "left";
      if (!sure) continue;
    }
    usual.set(kindOf(instinct), reach);
    const keeping = await knack.keep(instinct, choiceOf(reach, text));
    printLines(tellKeeping(keeping, suggestion, env));
    if (keeping.kept || text === undefined) return keeping;
  }
}

function choiceOf(reach: Reach, text: string | undefined) {
  return { reach, actor: "person" as const, ...(text === undefined ? {} : { text }) };
}

/** Shows what would be written, and asks once more; null when the person left. */
async function askSure(preview: readonly string[]): Promise<boolean | null> {
  printLines(preview);
  return askYesNo("Write it?", true);
}

/** A person's yes or no; null when they left. */
export async function askYesNo(question: string, standard: boolean): Promise<boolean | null> {
  for (;;) {
    const answer = (await ask(`${question} ${standard ? "[Y/n]" : "[y/N]"} `))?.trim().toLowerCase();
    if (answer === undefined) return null;
    if (answer === "") return standard;
    if (["y", "yes"].includes(answer)) return true;
    if (["n", "no"].includes(answer)) return false;
  }
}

/** What would change in a file that is there; for a skill of its own, how it differs from the one most like it. */
async function differenceOf(
  knack: Knack,
  { plan: { steps }, project }: Suggestion,
  paint: Paint,
  env: Env,
): Promise<string[]> {
  // One skill may go to the folders of several agents.
  const written = new Map(
    steps.filter(isWritten).map((step) => [step.files ? step.change.after : step.change.id, step]),
  );
  const lines: string[] = [];
  for (const step of written.values()) {
    const { change, files, diff } = step;
    if (!files || change.why !== "create" || change.proposal) {
      lines.push(...tellDiff(diff, paint));
      continue;
    }
    const text = textOf(step);
    const near = await mostLike(knack, text, project.root);
    lines.push(
      // Last, because a long text leaves the screen at the top.
      ...(near
        ? [
            ...tellDiff(diffOf(`${near.name}/${skillFile}`, near.text, text), paint),
            `Compared with the skill most like it, ${short(near.path, env)}, which stays as it is.`,
          ]
        : [...onLines(redact(text).trimEnd()), "", "There is no skill like it yet: all of this is new."]),
    );
  }
  return lines;
}

/** The skill that a text has most in common with, where that is worth a look. */
async function mostLike(knack: Knack, text: string, root: string | null): Promise<SkillPackage | null> {
  const terms = (one: { readonly name: string; readonly description: string }) =>
    termsOf(`${one.name} ${one.description}`);
  const { skill } = parse(text);
  const all = (await knack.skills(root)).flatMap(({ listing }) =>
    listing.found === "skills" ? listing.skills : [],
  );
  const [first] = all
    .map((one) => ({ one, likeness: skill ? overlap(terms(skill), terms(one)) : 0 }))
    // Those that are nearer are not new skills: the lesson belongs to them.
    .filter(({ likeness }) => likeness >= policy.skill.near / 2)
    .sort((a, b) => b.likeness - a.likeness);
  return first?.one ?? null;
}

/** What keeping did, and how to take it back. */
export function tellKeeping(keeping: Keeping, { instinct }: Suggestion, env: Env): string[] {
  if (!keeping.kept) return [`Not kept: ${keeping.because}.`];
  if (keeping.already) return [`${instinct.name} was already kept by another run.`];
  const written = keeping.outcomes.filter((one) => isWritten(one) || !one.done);
  const first = written.find(({ change }) => change.why !== "remove") ?? written[0];
  if (!first) return ["It is said already; nothing was written."];
  const name = first.change.name;
  if (keeping.belongsTo !== null)
    return [
      `${short(keeping.belongsTo, env)} is yours and stays as it is. The lesson waits beside it:`,
      `  ${calledAs(env)} skills diff ${name}`,
      `  ${calledAs(env)} skills accept ${name}`,
    ];
  return [
    `Kept ${instinct.name} (${reachInWords(first.change.reach)}). It is live:`,
    ...tellOutcomes(written, env),
    `  undo:    ${calledAs(env)} skills undo ${name}`,
  ];
}

/** Where lessons of a project were kept last, by whom they are for. */
async function lastChoices(knack: Knack): Promise<Map<string, Reach>> {
  const instincts = new Map((await knack.instincts()).map((one) => [one.id, one]));
  const kept = (await knack.shelf()).filter(({ reach }) => reach !== "draft").sort((a, b) => a.at - b.at);
  return new Map(
    kept.flatMap(({ instinct, reach }) => {
      const lesson = instincts.get(instinct);
      return lesson ? [[kindOf(lesson), reach]] : [];
    }),
  );
}

function kindOf({ project, scope }: Instinct): string {
  return `${scope} ${project}`;
}

async function askWhere(suggestion: Suggestion, usual: Map<string, Reach>): Promise<Reach | null> {
  const { reaches, project, instinct, plan } = suggestion;
  const [only = "everywhere"] = reaches;
  // A proposal goes where the skill is that it is for.
  if (plan.belongsTo !== null) return only;
  if (reaches.length === 1) {
    printLines([`Where: everywhere (the folder of ${project.name} is not on this machine)`]);
    return only;
  }
  const byWord = new Map<string, Reach>([
    ...(["me", "repository", "everywhere"] as const).flatMap((reach): [string, Reach][] => [
      [reach.charAt(0), reach],
      [reach, reach],
    ]),
    ["only me", "me"],
  ]);
  const standard = usual.get(kindOf(instinct)) ?? only;
  for (;;) {
    const answer = await ask(
      `Where? [m]e, [r]epository, [e]verywhere (Enter: ${standard === "me" ? "only me" : standard}) `,
    );
    if (answer === null) return null;
    const word = answer.trim().toLowerCase();
    const reach = word === "" ? standard : byWord.get(word);
    if (reach) return reach;
  }
}

/** The person's answer; null when they left instead (Ctrl-C, Ctrl-D). */
export function ask(question: string): Promise<string | null> {
  // A reader for each question: an editor may have the terminal in between.
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((done) => {
    reader.on("SIGINT", () => reader.close());
    reader.on("close", () => done(null));
    reader.question(question, (answer) => {
      done(answer);
      reader.close();
    });
  });
}

type Edited = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly because: string };

/** The text as the person leaves it in their editor. */
function edit({ plan: { steps } }: Suggestion, before: string | undefined, env: Env): Edited {
  const step = steps.find(({ change }) => change.why !== "remove");
  const file = step?.files?.find(({ path }) => path === skillFile);
  const text = before ?? (file ? new TextDecoder().decode(file.bytes) : (step?.change.after ?? ""));
  const folder = mkdtempSync(join(tmpdir(), "knack-edit-"));
  const path = join(folder, file ? skillFile : "rule.md");
  try {
    writeFileSync(path, text.endsWith("\n") ? text : `${text}\n`);
    const because = openEditor(path, env);
    if (because !== null) return { ok: false, because };
    const edited = readFileSync(path, "utf8");
    if (edited.trim() === "") return { ok: false, because: "The text is empty, so nothing was changed." };
    return { ok: true, text: file ? edited : edited.trim() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Why there is no edited text; null when there is. */
function openEditor(path: string, env: Env): string | null {
  const chosen = env.VISUAL || env.EDITOR;
  if (chosen) {
    // Through a shell, because it may be a command with words of its own, such as `code --wait`.
    const shell = { shell: true, stdio: "inherit" as const, env: { ...env, KNACK_EDITED: path } };
    return howEnded(chosen, spawnSync(`${chosen} "$KNACK_EDITED"`, shell));
  }
  for (const name of ["vi", "nano"]) {
    const ended = spawnSync(name, [path], { stdio: "inherit" });
    if (!ended.error) return howEnded(name, ended);
  }
  return "No editor was found. Set VISUAL or EDITOR.";
}

function howEnded(editor: string, { status, signal }: ReturnType<typeof spawnSync>): string | null {
  if (status === 0) return null;
  return `The editor (${editor}) ended with ${status ?? signal}, so nothing was changed.`;
}
