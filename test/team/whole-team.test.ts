import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noPython } from "../helpers/hook.ts";
import { asked, day, failed, ran, writeLived } from "../helpers/lived.ts";
import { freshDatabase, runSql } from "../helpers/postgres.ts";
import {
  aCure,
  aMember,
  aRule,
  ask,
  joinTeam,
  keepAndShare,
  learned,
  makeTeam,
  repository,
  run,
} from "./members.ts";

describe("A team", () => {
  it("is one person on two machines, too; and what they met tells what sharing was worth", async () => {
    const url = await freshDatabase();
    const [desk, laptop] = [aMember(), aMember()];
    await makeTeam(url, desk, "ana");
    const at = Date.now() - 3 * day;
    const steps = [
      asked("go on"),
      failed("python manage.py migrate", noPython),
      ran("python3 manage.py migrate"),
    ];
    const lived = (home: typeof desk, n: number, some = steps) =>
      writeLived(home.home, [{ name: `s${n}`, cwd: home.project, at: at + n * day, steps: some }]);
    for (const n of [0, 1]) expect(await run(desk, "learn", ...lived(desk, n))).toMatchObject({ code: 0 });
    expect(await run(laptop, "learn", ...lived(laptop, 2, steps.slice(0, 2)))).toMatchObject({ code: 0 });
    const [id = ""] = await learned(desk, aCure());
    await keepAndShare(desk, id);
    // Her other machine joins with an invitation of the first one, and need not ask her again.
    const address = join(laptop.home, "address");
    writeFileSync(address, readFileSync(join(desk.knackHome, "team/address"), "utf8"), { mode: 0o600 });
    expect(await run(laptop, "team", "join", "--from", address)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is no invitation.*\n.*knack team invite ana/),
    });
    const damaged = `${readFileSync(address, "utf8").trim()}#root=${"0".repeat(32)}&key=AAAA`;
    writeFileSync(address, damaged);
    expect((await run(laptop, "team", "join", "--from", address)).stderr).toContain("invitation is damaged");
    await joinTeam(desk, laptop, "ana");
    expect(await ask(laptop, "team")).toMatchObject({ self: { id: "ana" }, waiting: 0, accepted: 1 });
    expect(await runSql(url, "select count(distinct machine)::int as machines from knack.entry")).toEqual([
      { machines: 2 },
    ]);
    await ask(desk, "team", "sync");
    const { repositories } = await ask(desk, "report", "--team");
    expect(repositories).toMatchObject([
      { repository, lessons: 1, before: { sessions: 3, met: 3 }, after: { sessions: 0, met: 0 } },
    ]);
    expect((await run(desk, "report", "--team")).stdout).toContain("3 of 3 (100%)");
    const file = join(desk.home, "page.html");
    expect(await run(desk, "open", "--export", file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toMatch(
      /What acme shares.*github\.com\/acme\/harbor.*3 of 3 \(100%\).*no sessions/s,
    );
  });

  it("shares a skill with its files, which waits for its own yes", async () => {
    const url = await freshDatabase();
    const [ana, ben] = [aMember(), aMember()];
    await makeTeam(url, ana, "ana");
    await ask(ana, "team", "policy", "1");
    const [id = ""] = await learned(
      ana,
      aCure({ steps: ["Run `python3 manage.py check`", "Run `python3 manage.py migrate`"] }),
    );
    await run(ana, "lessons", "keep", id, "--where", "me");
    const { skills } = await ask(ana, "skills");
    const { name } = skills[0];
    expect(await ask(ana, "share", name)).toMatchObject({ sent: true });
    await learned(ben, aRule("own", "writing a changelog", "one line for each change"));
    await joinTeam(ana, ben, "ben");
    const { waiting } = await ask(ben, "team", "inbox");
    expect(waiting).toMatchObject([{ kind: "skill", name, by: ["ana"], repository: null }]);
    expect(await ask(ben, "team", "accept", "@ana")).toMatchObject({ accepted: [] });
    expect((await ask(ben, "skills")).skills).toEqual([]);
    expect(await run(ben, "skills", "accept", name)).toMatchObject({ code: 0 });
    expect((await ask(ben, "skills")).skills).toMatchObject([{ name, reach: "everywhere" }]);

    // Nothing changed, so nothing is shared again; changed by hand, it is the next version, with its own yes.
    expect((await run(ana, "share", name)).stderr).toContain("shared already");
    const [his] = (await ask(ben, "skills")).skills;
    const read = (folder: string) => readFileSync(join(folder, "SKILL.md"), "utf8");
    const shareChanged = async (from: string, to: string) => {
      writeFileSync(join(skills[0].path, "SKILL.md"), read(skills[0].path).replace(from, to));
      await ask(ana, "skills", "accept", name);
      expect(await ask(ana, "share", name)).toMatchObject({ sent: true });
      expect(await ask(ben, "team", "sync")).toMatchObject({ offered: 1 });
    };
    await shareChanged("manage.py check`", "manage.py check --deploy`");
    expect((await ask(ben, "team", "inbox")).waiting).toMatchObject([
      { kind: "skill", name, by: ["ana"], version: 2, waits: "skills wait for your own yes" },
    ]);
    expect(read(his.path)).not.toContain("--deploy");
    await ask(ben, "skills", "accept", name);
    expect(read(his.path)).toContain("manage.py check --deploy`");
    // A version that is taken back waits for nobody any more; what somebody accepted is theirs.
    await shareChanged("--deploy", "--deploy --fail-level ERROR");
    expect((await ask(ben, "team", "inbox")).waiting).toMatchObject([{ name, version: 3 }]);
    await ask(ana, "share", "--undo", name);
    expect(await ask(ben, "team", "sync")).toMatchObject({ withdrawn: 1 });
    expect((await ask(ben, "team", "inbox")).waiting).toEqual([]);
    expect(read(his.path)).toContain("manage.py check --deploy`");
    const said = await runSql(
      url,
      "select kind from knack.entry where kind in ('skill.shared', 'share.withdrawn') order by n",
    );
    expect(said.map(({ kind }) => kind)).toEqual([
      ...["skill.shared", "share.withdrawn", "skill.shared", "share.withdrawn", "skill.shared"],
      "share.withdrawn",
    ]);
  });

  it("lets readers read, exports all of itself, and is gone when its owner deletes it", async () => {
    const url = await freshDatabase();
    const [ana, ben] = [aMember(), aMember()];
    await makeTeam(url, ana, "ana");
    const ids = await learned(ana, aCure(), aRule("tidy", "closing a branch", "delete its worktree first"));
    for (const id of ids) await keepAndShare(ana, id);
    const [his = ""] = await learned(ben, aRule("own", "writing a changelog", "one line for each change"));
    await joinTeam(ana, ben, "ben", "--role", "reader", "--repositories", repository);
    const { waiting } = await ask(ben, "team", "inbox");
    await ask(ben, "team", "accept", waiting[0].id);
    // His yes is his own: it is not sent.
    expect(await ask(ben, "team", "sync")).toMatchObject({ sent: 0 });
    await run(ben, "lessons", "keep", his);
    expect(await run(ben, "share", his)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("You are a reader"),
    });
    await ask(ana, "team", "role", "ben", "--role", "member");
    expect(await ask(ben, "team", "sync")).toMatchObject({ sent: 2 });

    const file = join(ana.home, "team.jsonl");
    await ask(ana, "team", "sync");
    expect(await ask(ana, "team", "export", "--out", file)).toMatchObject({ done: true });
    const written = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    const there = await runSql(url, "select id from knack.entry");
    expect(written.sort()).toEqual(there.map(({ id }) => id).sort());

    const owner = join(ana.home, "owner");
    expect(await run(ana, "team", "delete", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("only the owner"),
    });
    await ask(ana, "team", "delete", "--from", owner, "--yes");
    expect(await runSql(url, "select count(*)::int as left from knack.entry")).toEqual([{ left: 0 }]);
    expect(await run(ana, "team")).toMatchObject({ code: 1 });
    expect(await run(ben, "team", "sync")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("refused the login"),
    });
    // What he accepted is his.
    expect((await ask(ben, "lessons")).lessons).toHaveLength(2);
  });
});
