import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { claudeLines } from "../helpers/claude.ts";
import { knackHere } from "../helpers/here.ts";
import { hook } from "../helpers/hook.ts";
import { type AnsweredLesson, answering, recordIn } from "../helpers/judging.ts";
import { asked, failed, hour, ran, replied, type Step, transcriptOf } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";
import { type Host, host, session } from "./host.ts";

const words = {
  berths: "No. New berths go into docks/berths.json, never into files of their own.",
  cranes: "No, cranes are always painted yellow in this project, never green.",
};

/** Where Claude Code leaves the project's transcripts. */
function folderOf(project: string): string {
  return join(project, "../.claude/projects", project.replace(/[^A-Za-z0-9]/g, "-"));
}

/** Leaves sessions of the project where Claude Code would, in which the person corrected the agent. */
function leaves({ project }: Host, said: readonly string[], more: readonly Step[] = []): void {
  for (const [n, text] of said.entries()) {
    const steps = [
      ...["ropes", "quays", "boats", "tides"].map((thing) => ran(`ls ${thing}`)),
      ...[asked("Go on with the harbor"), ran("touch harbor.txt"), replied("Done."), asked(text)],
      ...[ran("git status", "clean"), replied("You are right."), ...more],
    ];
    const lived = { name: `earlier${n}`, cwd: project, at: Date.now() - (n + 2) * hour, pace: 1_000, steps };
    writeFileSync(join(folderOf(project), `earlier${n}.jsonl`), transcriptOf(lived));
  }
}

/** The dossier in an answer, and what an agent would hand in about the person's words in it. */
function judge(text: string, about: string, lesson: string, more: Partial<AnsweredLesson> = {}) {
  const { leads, events } = recordIn(text);
  const { ref = "" } = events.find(({ person }) => person?.includes(about)) ?? {};
  const lead = leads.find(({ refs }) => refs.includes(ref))?.lead ?? "";
  const dossier = /lesson_submit with dossier "(\w+)"/.exec(text)?.[1] ?? "";
  const taught = { leads: [lead], kind: "user-correction", lesson, refs: [ref], ...more };
  return { dossier, answer: answering([{ when: "it comes up", do: lesson, ...taught }]) };
}

/** Has nothing learned from a dossier, and answers with the next. */
async function passOver(at: Host, text: string): Promise<string> {
  const dossier = /lesson_submit with dossier "(\w+)"/.exec(text)?.[1] ?? "";
  await at.call("lesson_submit", { dossier, answer: answering([]) });
  return (await at.call("lesson_leads", {})).text;
}

async function statuses({ project }: Host): Promise<Record<string, string>> {
  const { stdout } = await knackHere(["lessons", "--json"], { home: join(project, "..") });
  const all = JSON.parse(stdout).lessons as { lesson: string; status: string }[];
  return Object.fromEntries(all.map(({ lesson, status }) => [lesson, status]));
}

function transcriptIn(project: string): string {
  return join(folderOf(project), `${session}.jsonl`);
}

/** Adds a prompt to the transcript of the session that calls. */
function types({ project }: Host, prompt: string): void {
  const timestamp = new Date().toISOString();
  const line = claudeLines(session, project).user(prompt, { uuid: randomUUID(), timestamp });
  appendFileSync(transcriptIn(project), `${JSON.stringify(line)}\n`);
}

/** What the hook says to a prompt of the session that calls. */
async function prompts({ project }: Host, prompt: string): Promise<string> {
  const home = join(project, "..");
  const payload = { hook_event_name: "UserPromptSubmit", session_id: session, cwd: project, prompt };
  const offer = join(home, ".knack/seen", session, "offer.json");
  // As if the person had had the time to read.
  if (existsSync(offer)) writeFileSync(offer, readFileSync(offer, "utf8").replace(/"at":\d+/, '"at":0'));
  return (await hook({ ...payload, transcript_path: transcriptIn(project) }, { home })).stdout;
}

describe("lesson_leads and lesson_submit", () => {
  const [berths, cranes] = [
    "Put new berths into docks/berths.json, never into files of their own.",
    "Always paint cranes yellow in this project, never green.",
  ];

  test("have the agent judge one session after the other; the person's next prompt says what is kept", async () => {
    const at = await host();
    leaves(at, [words.berths, words.cranes]);
    const first = (await at.call("lesson_leads", {})).text;
    expect(first).toMatch(/never an instruction to you/);
    expect(first).toMatch(/(?:1|2) more dossiers? after this one\.$/);
    const [about, lesson] = first.includes(words.berths) ? ["berths", berths] : ["cranes", cranes];
    const good = judge(first, about === "berths" ? words.berths : words.cranes, lesson);
    // A form that is wrong can be repaired, and counts for nothing.
    expect(await at.call("lesson_submit", { ...good, answer: { boats: 3 } })).toMatchObject({
      code: "invalid_argument",
      error: { next: expect.stringContaining("lesson_submit again") },
    });
    expect(await at.call("lesson_submit", { ...good, dossier: "d0" })).toMatchObject({
      code: "invalid_argument",
    });
    const submitted = await at.call("lesson_submit", good);
    expect(submitted.data).toMatchObject({ kept: [], waiting: [{ number: 1, lesson }] });
    expect(submitted.text).toContain(`1. ${lesson}`);
    expect(submitted.data.next).toMatch(
      /show the person each lesson in one line[\s\S]*knack lessons keep i\w+/,
    );
    // Answered is answered.
    expect(await at.call("lesson_submit", good)).toMatchObject({ code: "invalid_argument" });

    const [other, text] = about === "berths" ? [words.cranes, cranes] : [words.berths, berths];
    let second = (await at.call("lesson_leads", {})).text;
    // The session that asks may be the next.
    if (!second.includes(other)) second = await passOver(at, second);
    // Models also write the object as a text.
    const { dossier, answer } = judge(second, other, text);
    const more = await at.call("lesson_submit", { dossier, answer: JSON.stringify(answer) });
    expect(more.data).toMatchObject({ waiting: [{ number: 2, lesson: text }] });

    // No file is written for agents before a yes, and the yes is the person's.
    expect(existsSync(at.skills)).toBe(false);
    expect(readdirSync(at.project).sort()).toEqual([".git"]);
    expect(await statuses(at)).toMatchObject({ [berths]: "pending", [cranes]: "pending" });
    expect(await prompts(at, "keep 2")).toContain(text);
    const works = () => knackHere(["work"], { home: join(at.project, "..") });
    expect((await works()).code).toBe(0);
    expect(await statuses(at)).toMatchObject({ [lesson]: "pending", [text]: "pending" });
    // Anybody can call a hook: the session itself must have the prompt.
    types(at, "keep 2");
    expect((await works()).code).toBe(0);
    expect(await statuses(at)).toMatchObject({ [lesson]: "pending", [text]: "active" });
  });

  test("say what the checks left aside, and that nothing is left", async () => {
    const at = await host();
    leaves(at, [words.berths]);
    for (let n = 0; n < 3; n++) {
      const { text } = await at.call("lesson_leads", {});
      if (text === "No leads wait in this project.") break;
      const { dossier } = judge(text, words.berths, berths);
      const { leads } = recordIn(text);
      const answer = answering(
        text.includes(words.berths)
          ? [{ leads: [], lesson: berths, refs: ["e999"], kind: "user-correction" }]
          : [],
        leads.map(({ lead }) => ({ lead, because: "only this task" })),
      );
      const { data, text: said } = await at.call("lesson_submit", { dossier, answer });
      expect(data.waiting).toEqual([]);
      expect(said).toContain("Left aside: ");
    }
    expect((await at.call("lesson_leads", {})).text).toBe("No leads wait in this project.");
    expect(await statuses(at)).not.toHaveProperty([berths]);
  });

  test("hand a long dossier out in parts that agents take whole", async () => {
    const at = await host();
    const noise = (n: number) =>
      Array.from({ length: 60 }, (_, line) => `error ${n}: quay ${line} is taken by boat ${n * line}`).join(
        "\n",
      );
    leaves(
      at,
      [words.berths],
      Array.from({ length: 18 }, (_, n) => failed(`make quay${n}`, noise(n))),
    );
    const { text } = await at.call("lesson_leads", {});
    const [, id, parts] = /^Dossier (\w+), part 1 of (\d)\.\n/.exec(text) ?? [];
    expect(Number(parts)).toBeGreaterThan(1);
    const all = [text];
    for (let part = 2; part <= Number(parts); part++)
      all.push((await at.call("lesson_leads", { dossier: id, part })).text);
    for (const one of all) expect(one.length).toBeLessThan(33_000);
    const whole = all
      .map((one) => one.replace(/^Dossier .*\n/, "").replace(/\n(?:Read on|This is the last part).*$/, ""))
      .join("");
    expect(recordIn(whole).leads.length).toBeGreaterThan(0);
    expect(whole).toContain(`lesson_submit with dossier "${id}"`);
    expect(await at.call("lesson_leads", { dossier: id, part: 9 })).toMatchObject({
      code: "invalid_argument",
    });
  });

  it.each<[string, Record<string, string>, object, string | null]>([
    ["works in the background", { KNACK_KIND: "background" }, {}, "learning_unavailable"],
    [
      "is known to nobody, about this session",
      { CLAUDE_CODE_SESSION_ID: "" },
      { session: "current" },
      "learning_unavailable",
    ],
    ["is known to nobody, about the project's", { CLAUDE_CODE_SESSION_ID: "" }, {}, null],
  ])("answer one who %s as they must", async (_, env, args, code) => {
    const at = await host(env);
    leaves(at, [words.berths]);
    expect((await at.call("lesson_leads", args)).code).toBe(code);
  });

  test("do nothing where the project says so", async () => {
    const at = await host();
    leaves(at, [words.berths]);
    mkdirSync(join(at.project, ".knack"));
    writeFileSync(join(at.project, ".knack/config.json"), JSON.stringify({ learn: false }));
    for (const args of [{}, { session: "current" }])
      expect((await at.call("lesson_leads", args)).code).toBe("learning_unavailable");
    expect((await at.call("lesson_submit", { dossier: "d1", answer: {} })).code).toBe("learning_unavailable");
  });
});

describe("what the person asks to remember", () => {
  const prompt = "Remember this: tide tables are printed with --month, never with --mnth.";
  const lesson = "Print tide tables with --month, never with --mnth.";

  test.each<[string, { readonly seen: boolean; readonly refs?: readonly string[] }, string]>([
    ["holds at once, where the hook saw it", { seen: true }, "active"],
    ["waits for a yes, where no hook saw it", { seen: false }, "pending"],
    [
      "waits for a yes, where the lesson rests on something else",
      { seen: true, refs: ["e2", "e3"] },
      "pending",
    ],
  ])("%s", async (_, { seen, refs }, status) => {
    const at = await host({}, { opens: prompt });
    if (seen) {
      // The agent is told how, once there is a snapshot.
      await knackHere(["work"], { home: join(at.project, "..") });
      expect(await prompts(at, prompt)).toMatch(
        /asks to remember something[^\n]*lesson_leads[^\n]*lesson_submit/,
      );
    }
    const { text } = await at.call("lesson_leads", { session: "current" });
    const kind = refs === undefined ? {} : { kind: "error-recovery", refs };
    const { data } = await at.call("lesson_submit", judge(text, "Remember this", lesson, kind));
    const told = status === "active" ? data.kept : data.waiting;
    expect(told).toMatchObject([{ lesson }]);
    expect(await statuses(at)).toMatchObject({ [lesson]: status });
  });

  test("as a skill is told to be written as one", async () => {
    const home = tempFolder();
    const at = await host({}, { home });
    await knackHere(["work"], { home });
    expect(await prompts(at, "Please make a skill of what we just did")).toMatch(
      /asks for a skill[^\n]*skill_learning_start[^\n]*explicit_user_request/,
    );
    expect(await prompts(at, "Save this as docker-dev")).toContain("skill_learning_start");
    expect(await prompts(at, "Which skill did we use here?")).not.toContain("skill_learning_start");
  });
});
