import { KnackError } from "../core/errors.ts";
import type { PutAway } from "../engine/archive.ts";
import type { Knack } from "../open.ts";
import { change } from "./change-skills.ts";
import { isCalled } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import type { SkillsCall } from "./skills.ts";
import { reachInWords } from "./telling.ts";
import { calledAs, day, iso, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";

/** What was put away, why, and how to have it back. */
export async function archived({ args, env }: SkillsCall): Promise<number> {
  return withKnack(env, { dryRun: args["dry-run"] === true }, async (knack) => {
    const all = await knack.archived();
    if (args.json) printJson({ archived: all.map(onWire) });
    else if (all.length === 0) printLines(["Nothing is put away."]);
    else {
      const [head = "", ...rows] = table([
        ["name", "where", "put away", "why"],
        ...all.map((one) => [one.name, reachInWords(one.reach), day(one.at), onOneLine(one.because, 160)]),
      ]);
      printLines([
        paintFor(process.stdout, env).dim(head),
        ...rows,
        `Bring one back: ${calledAs(env)} skills restore <name>`,
      ]);
    }
    return 0;
  });
}

function onWire({ name, path, reach, because, at, instinct, replacedBy }: PutAway) {
  return { name, path, reach, because, at: iso(at), instinct, replacedBy: replacedBy ?? null };
}

/** Brings something back, byte for byte. */
export async function restore(call: SkillsCall, word: string): Promise<number> {
  return changing(call.env, { dryRun: call.args["dry-run"] === true }, async (knack) => {
    const name = await archivedName(knack, word);
    return change(call, {
      none: `There is nothing to restore of ${name}.`,
      refusal: null,
      planning: () => knack.planRestore(name),
      doing: () => knack.restore(name),
      after: () => ["It is as it was when it was put away."],
    });
  });
}

async function archivedName(knack: Knack, word: string): Promise<string> {
  const names = (await knack.archived()).map(({ name }) => name);
  const found = names.find((name) => name === word) ?? names.find((name) => isCalled(name, word));
  if (found !== undefined) return found;
  throw new KnackError("UNKNOWN_NAME", `Nothing that was put away is called "${word}".`, {
    hint: "knack skills archived shows what there is.",
  });
}

/** Leaves a skill as it is, whatever happens; or lets that go. */
export async function pin(call: SkillsCall, word: string, pinned: boolean): Promise<number> {
  const { args, env } = call;
  const dryRun = args["dry-run"] === true;
  return changing(env, { dryRun }, async (knack) => {
    const known = [...(await knack.shelf()), ...(await knack.catalog({ cwd: process.cwd() })).items];
    const names = known.map(({ name }) => name);
    const name = names.find((one) => one === word) ?? names.find((one) => isCalled(one, word));
    const found = name === undefined ? [] : await knack.pin(name, pinned);
    if (found.length === 0)
      throw new KnackError("UNKNOWN_NAME", `No skill is called "${word}".`, {
        hint: "knack skills list shows the names.",
      });
    if (args.json) printJson({ done: !dryRun, name, pinned, realms: found.map(({ realm }) => realm) });
    else if (dryRun) printLines([`${name} would be ${pinned ? "pinned" : "unpinned"} (--dry-run).`]);
    else
      printLines(
        pinned
          ? [`${name} is pinned: Knack changes nothing in it and never puts it away.`]
          : [`${name} is no longer pinned.`],
      );
    return 0;
  });
}
