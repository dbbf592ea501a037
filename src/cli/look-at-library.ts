import { KnackError } from "../core/errors.ts";
import type { Item, ItemProblem } from "../core/item.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { CatalogReading } from "../engine/catalog.ts";
import type { Shelved } from "../engine/shelf.ts";
import type { Knack } from "../open.ts";
import { show, states } from "./look-at-skills.ts";
import type { Env } from "./main.ts";
import { withKnack } from "./opening.ts";
import type { SkillsCall } from "./skills.ts";
import { fileOf } from "./telling.ts";
import {
  calledAs,
  iso,
  onLines,
  onOneLine,
  type Paint,
  paintFor,
  printJson,
  printLines,
  short,
  table,
} from "./terminal.ts";

/** An item with what Knack knows of it besides its file. */
interface Listed {
  readonly item: Item;
  readonly state: Shelved["state"];
  /** The project it is for, by name; null for the person. */
  readonly project: string | null;
}

/** Everything that agents can be given by name, and what is wrong with it. */
export async function listAll({ args, env }: SkillsCall): Promise<number> {
  return withKnack(env, { dryRun: args["dry-run"] === true }, async (knack) => {
    const reading = await knack.catalog({ cwd: process.cwd() });
    const { here, listed, missing } = await lookAt(knack, reading);
    const shown = listed.filter(
      ({ item }) =>
        (!args.user && !args.project) ||
        (args.user && item.realm === "user") ||
        (args.project && item.realm === here),
    );
    if (args.json)
      printJson({
        items: shown.map(itemOnWire),
        missing: missing.map((one) => ({ name: one.name, path: fileOf(one), source: one.instinct })),
        problems: reading.problems.map(problemOnWire),
        unread: reading.unread,
      });
    else tellList(shown, missing, reading, env);
    return 0;
  });
}

async function lookAt(knack: Knack, { items, here }: CatalogReading) {
  const shelf = (await knack.shelf()).filter(({ kind }) => kind !== "rule");
  const shelved = new Map(shelf.map((one) => [fileOf(one), one]));
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  const listed = items
    .map((item): Listed => {
      const own = [item.path, ...item.copies].flatMap((path) => shelved.get(path) ?? []);
      // Of several copies the one that a person changed says more.
      const changed = own.find(({ state }) => state === "edited") ?? own[0];
      const project = item.realm === "user" ? null : (names.get(item.realm) ?? lastPart(item.realm));
      return { item, project, state: changed?.state ?? "active" };
    })
    .sort((a, b) => (a.item.name < b.item.name ? -1 : a.item.name > b.item.name ? 1 : 0));
  return { here, listed, missing: shelf.filter(({ state }) => state === "missing") };
}

function tellList(
  listed: readonly Listed[],
  missing: readonly Shelved[],
  { problems, unread }: CatalogReading,
  env: Env,
): void {
  const paint = paintFor(process.stdout, env);
  const [head = "", ...rows] = table([
    ["name", "kind", "owner", "for", "status", "load", "file"],
    ...listed.map(({ item, state, project }) => [
      onOneLine(item.name, 60),
      item.kind,
      item.owner,
      project === null ? "you" : onOneLine(redact(project), 30),
      states[state],
      loadInWords(item),
      short(item.path, env),
    ]),
  ]);
  printLines(
    listed.length === 0
      ? ["There are no skills, commands or agents here.", "Where Knack looks: docs/skills.md"]
      : [paint.dim(head), ...rows, "", counts(listed)],
  );
  for (const { name } of missing)
    printLines([`Missing on disk: ${name}. What it said: ${calledAs(env)} skills diff ${name}`]);
  const errors = problems.filter(({ severity }) => severity === "error");
  if (problems.length > 0)
    printLines([
      `${several(errors.length, "file")} cannot be used, ${several(problems.length - errors.length, "remark")}: ${calledAs(env)} skills problems`,
    ]);
  if (unread.length > 0)
    printLines([`${several(unread.length, "place")} could not be read; what was known of them still holds.`]);
}

function counts(listed: readonly Listed[]): string {
  const count = (kind: Item["kind"]) => listed.filter(({ item }) => item.kind === kind).length;
  return [
    several(count("skill"), "skill"),
    several(count("command"), "command"),
    several(count("agent"), "agent"),
  ].join(", ");
}

function loadInWords({ load, harmless }: Item): string {
  if (!harmless) return "not unasked";
  return { fit: "when it fits", always: "always", never: "never", person: "by you alone" }[load];
}

function itemOnWire({ item, state, project }: Listed) {
  const { id, kind, name, realm, owner, draft, source, path, copies, hash, tags, load, harmless } = item;
  const told = { id, kind, name, realm, project, owner, draft, status: state, source, path, copies, hash };
  const texts = { description: redact(item.description), when: redact(item.when), tags };
  return { ...told, ...texts, load, harmless, changedAt: iso(item.changedAt) };
}

function problemOnWire({ path, severity, message, hint }: ItemProblem) {
  return { path, severity, message: redact(message), hint };
}

/** What is wrong in the library and what to do about it. Exit code 1 when something cannot be used. */
export async function problems({ args, env }: SkillsCall): Promise<number> {
  return withKnack(env, { dryRun: true }, async (knack) => {
    const reading = await knack.catalog({ cwd: process.cwd() });
    const errors = reading.problems.filter(({ severity }) => severity === "error").length;
    if (args.json) printJson({ problems: reading.problems.map(problemOnWire), unread: reading.unread });
    else {
      const paint = paintFor(process.stdout, env);
      for (const { path, severity, message, hint } of reading.problems)
        printLines([
          `${severity}  ${short(path, env)}`,
          `  ${onOneLine(redact(message), 300)}`,
          `  ${paint.dim(hint)}`,
        ]);
      printLines([
        reading.problems.length === 0
          ? "Nothing is wrong with the skills, commands and agents here."
          : `${several(errors, "file")} cannot be used, ${several(reading.problems.length - errors, "remark")}.`,
      ]);
    }
    return errors === 0 ? 0 : 1;
  });
}

/** The text of something kept or learned, or else of what others wrote. */
export async function showAny(call: SkillsCall, word: string): Promise<number> {
  try {
    return await show(call, word);
  } catch (error) {
    if (!(error instanceof KnackError) || error.code !== "UNKNOWN_NAME") throw error;
    return withKnack(call.env, { dryRun: call.args["dry-run"] === true }, async (knack) => {
      const found = await itemsNamed(knack, word);
      if (found.length === 0) throw error;
      showItems(found, call);
      return 0;
    });
  }
}

/** What in the library goes by a name, with or without its plugin's; where the person is goes first. */
async function itemsNamed(knack: Knack, word: string): Promise<Listed[]> {
  const { listed, here } = await lookAt(knack, await knack.catalog({ cwd: process.cwd() }));
  const rank = ({ item }: Listed) => (item.realm === here ? 0 : item.realm === "user" ? 1 : 2);
  const exact = listed.filter(({ item }) => item.name === word || item.id === word);
  const found = exact.length > 0 ? exact : listed.filter(({ item }) => item.name.endsWith(`:${word}`));
  return found.sort((a, b) => rank(a) - rank(b));
}

function showItems(listed: readonly Listed[], { args, env }: SkillsCall): void {
  if (args.json)
    printJson({
      name: listed[0]?.item.name,
      items: listed.map((one) => ({ ...itemOnWire(one), body: redact(one.item.body) })),
    });
  else for (const one of listed) printLines(tellItem(one, paintFor(process.stdout, env), env));
}

function tellItem({ item, state, project }: Listed, paint: Paint, env: Env): string[] {
  const facts = [
    item.kind,
    item.owner,
    states[state],
    project === null ? "for you" : `for ${project}`,
    `load: ${loadInWords(item)}`,
  ];
  const line = (label: string, text: string) =>
    text === "" ? [] : [`  ${label}: ${onOneLine(redact(text), 1_100)}`];
  return [
    `${paint.bold(onOneLine(item.name))}  ${paint.dim(`${facts.join(", ")}, ${short(item.path, env)}`)}`,
    ...line("what", item.description),
    ...line("when", item.when),
    ...line("tags", item.tags.join(", ")),
    ...item.copies.map((path) => `  also at: ${short(path, env)}`),
    "",
    ...onLines(redact(item.body)).map((text) => (text === "" ? "" : `  ${text}`)),
    "",
  ];
}

function lastPart(path: string): string {
  return path.split(/[/\\]/).pop() || path;
}
