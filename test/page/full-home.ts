import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recordEntries } from "../../src/lessons/fold.ts";
import { packBundle } from "../../src/library/exchange/formats.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { getSessionId } from "../../src/records/session.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { carriedLesson } from "../helpers/carried.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { grownHome } from "../helpers/grown.ts";
import { knackHere } from "../helpers/here.ts";
import { withKnack } from "../helpers/hook.ts";
import { asked, day, failed, type Lived, ran, writeLived } from "../helpers/lived.ts";
import { type Machine, machine } from "../helpers/machine.ts";
import { aCreate, answering, looking, signals } from "../helpers/reviewing.ts";

const asks = ["Translate the pilot book into Norwegian", "Please translate the pilot book into Danish"];
const handWritten =
  "---\nname: pnpm-add-epeer\ndescription: Use when pnpm add fails with EPEER.\n---\n\nMine.\n";

/** A home in which each kind of thing waits for the person. */
export async function fillHome(): Promise<Machine> {
  const at = await looking(
    {
      reviewer: (_, told) => ({
        value: answering([
          aCreate(told),
          aCreate(told, { name: "rl-close-tunnel", description: "Use when make deploy has ended." }),
        ]),
      }),
    },
    { review: "suggest" },
  );
  const { home, repository } = at;
  const run = async (...words: string[]) => {
    const ran = await knackHere(words, { home, cwd: repository, env: { TEST_KEY: "not-a-secret-word" } });
    if (ran.code !== 0) throw new Error(`knack ${words.join(" ")}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  };
  const opened = await at.open();
  await signals(opened, await at.lives(opened));
  await opened.close();
  await run("review", "--now");
  writeFileSync(join(home, ".knack/config.json"), "{}");

  const made = machine({ home });
  writeLived(home, listSessions(made));
  writeByHand(made.tidewatch);
  await run("learn");
  await grownHome(home, made.harbor);
  await run("evolve", "--generate");
  await teach(home, made);
  await withKnack({ home, knackHome: join(home, ".knack"), project: home }, async (knack) => {
    const lesson = (await knack.lessons()).find(({ name }) => name === "pnpm-add-epeer");
    // As knack learn keeps it: beside a skill of the person's own it is a proposal.
    if (lesson) await knack.keep(lesson, { reach: "me", actor: "person" });
  });
  await run("lessons", "keep", "buoys-need-a-token", "--where", "me");
  const file = join(made.tidewatch, ".claude/skills/rl-buoys-need-a-token/SKILL.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\nAsk the harbour master for it.\n`);
  await importLessons(home, run);
  return made;
}

/** Three sessions that met what none of them overcame, and two that asked for the same thing. */
function listSessions({ harbor, tidewatch }: Machine): Lived[] {
  const unsolved = failed("quarry build", "quarry: engine 4 is required, this is engine 3");
  const at = (n: number) => Date.now() - (n + 2) * day;
  return [
    ...["one", "two", "three"].map((name, n) => ({
      ...{ name: `quarry-${name}`, cwd: tidewatch, at: at(n), steps: [asked("Go on"), unsolved] },
    })),
    ...asks.flatMap((text, n) => ({
      ...{ name: `asked-${n}`, cwd: harbor, at: at(n) },
      steps: [
        asked(text),
        ran("node translate.mjs pilot.md", "translated"),
        ran("node check-terms.mjs", "ok"),
      ],
    })),
  ];
}

/** A skill that a person wrote. */
function writeByHand(project: string): void {
  const own = join(project, ".claude/skills/pnpm-add-epeer");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "SKILL.md"), handWritten);
}

/** Lessons of one project: about the person's own skill, about a token, and two that say the opposite of each other. */
async function teach(home: string, { harbor, tidewatch }: Machine): Promise<void> {
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
  const projects = await store.projects.list();
  const idOf = (root: string) => projects.find((one) => one.root === root)?.id ?? "";
  const project = idOf(tidewatch);
  const askers = (await store.sessions.list()).filter(({ path }) => path.includes("asked-"));
  const one = (n: number, trigger: string, action: string, more: Partial<Finding> = {}) =>
    made(
      `/s/taught-${n}.jsonl`,
      aFinding({
        ...{ trigger, action, lesson: `${trigger}: ${action}.`, refs: [`e${n}`], at: Date.now() - n * day },
        ...{ name: trigger.replaceAll(" ", "-").toLowerCase(), keywords: trigger.split(" ") },
        ...more,
      }),
      1,
      project,
    );
  const npm = one(9, "packages", "Install packages with npm", { artifact: "rule", by: "judge" });
  await store.transaction((tx) =>
    recordEntries(tx, [
      npm,
      one(8, "other packages", "Install packages with pnpm", {
        ...{ artifact: "rule", by: "judge", contradicts: npm.data.id },
      }),
      one(7, "pnpm add fails with EPEER", "add --no-strict-peer-dependencies", { name: "pnpm-add-epeer" }),
      one(6, "buoys need a token", "export BUOY_TOKEN first"),
      ...askers.map(
        (session, n): LedgerEntry => ({
          ...{
            at: Date.now() - n * day,
            project: idOf(harbor),
            session: getSessionId(session),
            actor: "knack",
          },
          ...{ type: "prompt.unmatched", key: `asked ${n}`, data: { text: asks[n] ?? "" } },
        }),
      ),
    ]),
  );
  await store.close();
}

async function importLessons(home: string, run: (...words: string[]) => Promise<string>): Promise<void> {
  const carried = (name: string, action: string) =>
    carriedLesson({
      ...{
        name,
        trigger: "writing dates",
        action,
        lesson: `${action}.`,
        confidence: 0.9,
        domain: "code-style",
      },
    });
  const path = join(home, "lessons.json");
  const instincts = [
    carried("iso-dates", "Write dates as year, month and day"),
    carried("utc-times", "Store times in UTC"),
  ];
  writeFileSync(path, await packBundle({ instincts, skills: [] }, 0, path));
  await run("import", path);
}
