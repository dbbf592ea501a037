import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contextOf, hook, noPython, payloads } from "../helpers/hook.ts";
import { openPage } from "../helpers/page.ts";
import { freshDatabase, runSql } from "../helpers/postgres.ts";
import {
  aCure,
  aMember,
  ask,
  joinTeam,
  keepAndShare,
  learned,
  makeTeam,
  repository,
  run,
} from "./members.ts";

describe("A team of two", () => {
  it("has what one overcame told to the other, after a yes, and tells what came of it", async () => {
    const url = await freshDatabase();
    const [ana, ben] = [aMember(), aMember()];
    await makeTeam(url, ana, "ana");
    const [id = ""] = await learned(ana, aCure());
    expect(await run(ana, "share", id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not kept it"),
    });
    expect(await run(ana, "lessons", "keep", id)).toMatchObject({ code: 0 });

    // Every byte is shown before it is sent.
    const dry = await ask(ana, "share", id, "--dry-run");
    const shown = (await run(ana, "share", id, "--dry-run")).stdout;
    expect(await runSql(url, "select kind from knack.entry")).toEqual([{ kind: "machine.registered" }]);
    await ask(ana, "share", id);
    const sent = await runSql(
      url,
      "select id, content, signature from knack.entry where kind = 'lesson.shared'",
    );
    expect(sent).toEqual(dry.entries);
    for (const text of Object.values(sent[0] as Record<string, string>)) expect(shown).toContain(text);
    // Nobody's own words go out with it, nor where it was learned on that machine.
    expect(sent[0]?.content).toContain('"said":null,"replied":null');
    expect(sent[0]?.content).not.toContain(ana.home);
    expect((await run(ana, "share", id)).stderr).toContain("shared already");

    await learned(
      ben,
      aCure({
        name: "other",
        trigger: "make fails",
        action: "use make -k",
        lesson: "Use make -k.",
        symptom: null,
        call: null,
        kind: "convention",
        remedy: null,
      }),
    );
    const invitation = await joinTeam(ana, ben, "ben");
    expect(statSync(invitation).mode & 0o777).toBe(0o600);
    expect(statSync(join(ben.knackHome, "team/machine.key")).mode & 0o777).toBe(0o600);

    // Before the yes it is shown to the person, and not told to the agent.
    const { waiting } = await ask(ben, "team", "inbox");
    expect(waiting).toMatchObject([
      {
        ...{ kind: "lesson", by: ["ana"], repository, yes: [], opposed: [] },
        ...{ says: "`python` is not installed here. What works: `python3`.", waits: "each person decides" },
        evidence: { failed: "python manage.py migrate", worked: "python3 manage.py migrate", said: null },
      },
    ]);
    const page = await openPage(ben.home);
    const inbox = (await page.get(`/inbox?item=${waiting[0].id}`)).text.replace(/\s+/g, " ");
    for (const words of [
      "from ana",
      `for ${repository}`,
      "python manage.py migrate",
      "python3 manage.py migrate",
    ])
      expect(inbox).toContain(words);
    await page.close();
    const meet = () =>
      hook(payloads(ben).failure("python manage.py migrate", noPython), { home: ben.home, cwd: ben.project });
    expect(contextOf(await meet())).toBe("");
    await ask(ben, "team", "accept", waiting[0].id);
    expect(contextOf(await meet())).toBe(
      "Knack: this failed elsewhere (from ana); what worked: use python3. `python` is not installed here. What works: `python3`.",
    );

    // His yes reaches her, and what she takes back is gone from his machine.
    await ask(ben, "team", "sync");
    await ask(ana, "team", "sync");
    expect((await ask(ben, "team", "status")).accepted).toBe(1);
    expect(
      await runSql(
        url,
        "select author, content::json #>> '{body,word}' as word from knack.entry where kind = 'vote'",
      ),
    ).toEqual([{ author: "ben", word: "yes" }]);
    await ask(ana, "share", "--undo", id);
    expect(await ask(ben, "team", "sync")).toMatchObject({ withdrawn: 1, sent: 0 });
    expect(contextOf(await meet())).toBe("");
  });

  it("sends no secret that was kept by mistake, nor whose home it is", async () => {
    const url = await freshDatabase();
    const ana = aMember();
    await makeTeam(url, ana, "ana");
    const token = `ghp_${randomBytes(27).toString("base64url").replace(/[-_]/g, "x")}`;
    const worked = `GH_TOKEN=${token} python3 /home/annabelle/harbor/manage.py migrate`;
    const [id = ""] = await learned(
      ana,
      aCure({ steps: [`Run \`${worked}\``], excerpt: { ...aCure().excerpt, worked } }),
    );
    await keepAndShare(ana, id);
    const [sent] = await runSql(url, "select content from knack.entry where kind = 'lesson.shared'");
    expect(sent?.content).toContain("python3 ~/harbor/manage.py migrate");
    expect(sent?.content).not.toContain(token);
    expect(sent?.content).not.toContain("annabelle");
  });
});
