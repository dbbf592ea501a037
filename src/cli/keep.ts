import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Reach } from "../core/change.ts";
import type { Instinct } from "../core/instinct.ts";
import { skillFile } from "../core/skill.ts";
import type { Keeping, Suggestion } from "../engine/keep.ts";
import type { Knack } from "../open.ts";
import type { Env } from "./main.ts";
import { reachInWords, tellDiff, tellOutcomes, tellSuggestion } from "./telling.ts";
import { calledAs, type Paint, paintFor, printLines, short } from "./terminal.ts";

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
  const { instinct } = suggestion;
  let text: string | undefined;
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
    if (answer === "d") printLines(suggestion.plan.steps.flatMap(({ diff }) => tellDiff(diff, paint)));
    else if (answer === "e") {
      const edited = edit(suggestion, text, env);
      if (edited === null) continue;
      text = edited;
    } else if (answer !== "" && answer !== "y" && answer !== "yes") {
      printLines([legend]);
      continue;
    }
    if (answer === "d") continue;
    const reach = await askWhere(suggestion, usual);
    if (reach === null) return "left";
    const keeping = await knack.keep(instinct, {
      reach,
      actor: "person",
      ...(text === undefined ? {} : { text }),
    });
    printLines(tellKeeping(keeping, suggestion, env));
    if (keeping.kept || text === undefined) return keeping;
  }
}

/** What keeping did, and how to take it back. */
export function tellKeeping(keeping: Keeping, { instinct }: Suggestion, env: Env): string[] {
  if (!keeping.kept) return [`Not kept: ${keeping.because}.`];
  const written = keeping.outcomes.filter(({ change, done }) => change.why !== "remove" || !done);
  const [first] = written;
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
  const byKey: Readonly<Record<string, Reach>> = { m: "me", r: "repository", e: "everywhere" };
  const standard = usual.get(kindOf(instinct)) ?? only;
  for (;;) {
    const answer = await ask(
      `Where? [m]e, [r]epository, [e]verywhere (Enter: ${standard === "me" ? "only me" : standard}) `,
    );
    if (answer === null) return null;
    const word = answer.trim().toLowerCase();
    const reach = word === "" ? standard : byKey[word.charAt(0)];
    if (reach) {
      usual.set(kindOf(instinct), reach);
      return reach;
    }
  }
}

/** The person's answer; null when they left instead (Ctrl-C, Ctrl-D). */
function ask(question: string): Promise<string | null> {
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

/** The text as the person leaves it in their editor; null when it was not opened, or left empty. */
function edit({ plan: { steps } }: Suggestion, before: string | undefined, env: Env): string | null {
  const step = steps.find(({ change }) => change.why !== "remove");
  const file = step?.files?.find(({ path }) => path === skillFile);
  const text = before ?? (file ? new TextDecoder().decode(file.bytes) : (step?.change.after ?? ""));
  const folder = mkdtempSync(join(tmpdir(), "knack-edit-"));
  const path = join(folder, file ? skillFile : "rule.md");
  try {
    writeFileSync(path, text.endsWith("\n") ? text : `${text}\n`);
    if (!openEditor(path, env)) {
      printLines(["No editor was found. Set VISUAL or EDITOR."]);
      return null;
    }
    const edited = readFileSync(path, "utf8");
    return edited.trim() === "" ? null : file ? edited : edited.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openEditor(path: string, env: Env): boolean {
  const chosen = env.VISUAL || env.EDITOR;
  // Through a shell, because it may be a command with words of its own, such as `code --wait`.
  if (chosen)
    return (
      spawnSync(`${chosen} "$KNACK_EDITED"`, {
        shell: true,
        stdio: "inherit",
        env: { ...env, KNACK_EDITED: path },
      }).status === 0
    );
  return ["vi", "nano"].some((name) => spawnSync(name, [path], { stdio: "inherit" }).status === 0);
}
