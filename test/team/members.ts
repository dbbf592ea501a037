import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { made } from "../helpers/findings.ts";
import { knackHere } from "../helpers/here.ts";
import { aHome, aLesson, type Home, noPython } from "../helpers/hook.ts";
import type { Ran } from "../helpers/knack.ts";

export const repository = "github.com/acme/harbor";

/** A person's home with a checkout of the repository that all of them work in. */
export function aMember(): Home {
  const home = aHome();
  mkdirSync(join(home.project, ".git"), { recursive: true });
  writeFileSync(
    join(home.project, ".git/config"),
    '[remote "origin"]\n\turl = git@github.com:acme/harbor.git\n',
  );
  return home;
}

/** Runs knack in a member's checkout. */
export function run({ home, project }: Home, ...words: string[]): Promise<Ran> {
  return knackHere(words, { home, cwd: project });
}

/** The same with --json, which must succeed. */
export async function ask(home: Home, ...words: string[]) {
  const { code, stdout, stderr } = await run(home, ...words, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** A cure of this repository, in the words that rules give it. */
export function aCure(more: Partial<Finding> = {}): Finding {
  return aLesson({
    excerpt: {
      ...{ failed: "python manage.py migrate", error: noPython, worked: "python3 manage.py migrate" },
      ...{ said: null, replied: null },
    },
    ...more,
  });
}

/** A convention of this repository. */
export function aRule(name: string, trigger: string, action: string): Finding {
  return aLesson({
    ...{ name, trigger, action, lesson: `When ${trigger}: ${action}.`, kind: "convention", artifact: "rule" },
    ...{ symptom: null, call: null, remedy: null, keywords: [] },
  });
}

/** Lets two sessions of the repository have taught lessons, as of two days ago; answers with the lessons' ids. */
export async function learned(
  { knackHome, project }: Home,
  ...lessons: readonly Finding[]
): Promise<string[]> {
  const store = await openSqlite({ path: join(knackHome, "knack.db"), clock: { now: Date.now } });
  try {
    const ids: string[] = [];
    for (const lesson of lessons)
      for (const session of ["one", "two"]) {
        const entry = made(`${lesson.name}-${session}`, lesson, 1, repository);
        if (session === "one") ids.push(entry.data.id);
        const found = {
          project: { id: repository, name: "harbor", root: project },
          path: `/s/${lesson.name}-${session}`,
        };
        await store.transaction((tx) =>
          recordEntries(tx, [
            {
              ...{ at: lesson.at, project: repository, session: found.path, actor: "knack" },
              ...{ type: "session.found", key: `session:${found.path}`, data: found },
            },
            entry,
          ]),
        );
      }
    return ids;
  } finally {
    await store.close();
  }
}

/** Makes a team in a database that somebody owns; its maintainer is the first. */
export async function makeTeam(url: string, maintainer: Home, name: string): Promise<void> {
  const owner = join(maintainer.home, "owner");
  writeFileSync(owner, url, { mode: 0o600 });
  await ask(maintainer, "team", "create", "--from", owner, "--as", name, "--name", "acme");
}

/** Invites somebody, who joins from a home that knows the repository. */
export async function joinTeam(
  maintainer: Home,
  member: Home,
  name: string,
  ...how: string[]
): Promise<string> {
  const { path } = await ask(maintainer, "team", "invite", name, ...how);
  await ask(member, "team", "join", "--from", path);
  return path;
}

/** Keeps a lesson and shares it. */
export async function keepAndShare(home: Home, id: string) {
  expect(await run(home, "lessons", "keep", id)).toMatchObject({ code: 0 });
  return ask(home, "share", id);
}
