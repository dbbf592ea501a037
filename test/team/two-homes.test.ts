import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { aHome, aLesson, contextOf, type Home, hook, payloads } from "../helpers/hook.ts";
import { asked, day, failed, ran, writeLived } from "../helpers/lived.ts";
import { freshDatabase, runSql } from "../helpers/postgres.ts";

const noPython = "/bin/bash: line 1: python: command not found";

/** A person's home with a checkout of the repository that all of them work in. */
function aMember(): Home {
  const made = aHome();
  mkdirSync(join(made.project, ".git"), { recursive: true });
  writeFileSync(
    join(made.project, ".git/config"),
    '[remote "origin"]\n\turl = git@github.com:acme/harbor.git\n',
  );
  return made;
}

function run({ home, project }: Home, ...words: string[]) {
  return knackHere(words, { home, cwd: project });
}

async function json(home: Home, ...words: string[]) {
  const { code, stdout, stderr } = await run(home, ...words, "--json");
  return { code, stderr, said: stdout === "" ? null : JSON.parse(stdout) };
}

describe("A team of two", () => {
  it("has what one overcame told to the other, after a yes", async () => {
    const url = await freshDatabase();
    const [ana, ben] = [aMember(), aMember()];
    const at = Date.now() - 2 * day;
    const steps = [asked("go on"), failed("python manage.py migrate", noPython), ran("python3 manage.py migrate")];
    const files = writeLived(ana.home, [
      { name: "first", cwd: ana.project, at, steps },
      { name: "second", cwd: ana.project, at: at + day, steps },
    ]);
    expect(await run(ana, "learn", ...files)).toMatchObject({ code: 0 });
    const { lessons } = (await json(ana, "lessons")).said;
    console.log(lessons.map((l: any) => [l.id, l.name, l.lesson, l.project]));
    console.log((await run(ana, "lessons", "keep", lessons[0].id)).stdout);
    const owner = join(ana.home, "owner");
    writeFileSync(owner, url, { mode: 0o600 });
    console.log(await run(ana, "team", "create", "--from", owner, "--as", "ana", "--name", "acme"));
    const shown = await run(ana, "share", lessons[0].id, "--dry-run");
    console.log(shown);
    console.log(await run(ana, "share", lessons[0].id));
    const invited = (await json(ana, "team", "invite", "ben")).said;
    console.log(invited);
    const theirs = writeLived(ben.home, [{ name: "third", cwd: ben.project, at, steps: [asked("hello")] }]);
    await run(ben, "learn", ...theirs);
    console.log(await run(ben, "team", "join", "--from", invited.path));
    console.log(await run(ben, "team", "inbox"));
    const inbox = (await json(ben, "team", "inbox")).said;
    console.log(JSON.stringify(inbox, null, 1));
    console.log(await run(ben, "team", "accept", inbox.waiting[0].id));
    console.log(contextOf(await hook(payloads(ben).failure("python manage.py migrate", noPython), { home: ben.home })));
    console.log(await run(ben, "team", "sync"));
    console.log(await run(ana, "team", "sync"));
    console.log((await run(ana, "team")).stdout);
    console.log((await run(ben, "team", "status")).stdout);
    console.log(await runSql(url, "select n, kind, author, sequence, content from knack.entry order by n"));
  });
});
