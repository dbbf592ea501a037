import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import {
  addExample,
  exampleSessions,
  filesIn,
  machine,
  nameOfLesson,
  nameOfSkill,
} from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";

const heights = await nameOfLesson(/metres/);

describe("knack lessons", () => {
  test("lists what was noticed, by project and status", async () => {
    const { home } = machine();
    await knackHere([], { home });
    const { code, stdout } = await knack(["instincts"], { home });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +status +sure +sessions +last +for +lesson\n/);
    expect(stdout).toMatch(/i\w{11} +pending +0\.75 +2 +\d{4}-\d\d-\d\d +harbor-api +`npm test` fails/);
    const json = async (...words: string[]) =>
      JSON.parse((await knackHere(["lessons", ...words, "--json"], { home })).stdout).lessons as {
        status: string;
        project: string;
      }[];
    const all = await json("--all");
    expect((await json("--status", "pending")).every(({ status }) => status === "pending")).toBe(true);
    const tide = await json("--project", "TIDE", "--all");
    expect(tide.length > 0 && tide.length < all.length).toBe(true);
    expect((await knackHere(["lessons", "--status", "happy"], { home })).code).toBe(2);
    expect((await knackHere(["lessons", "dance"], { home })).code).toBe(2);
  });

  test("shows all that speaks for and against one", async () => {
    const { home } = machine();
    await knackHere(["learn", "--yes"], { home });
    const { stdout } = await knackHere(["lessons", "show", await nameOfSkill()], { home });
    expect(stdout.match(/worked: cp \.env\.test \.env && npm test/g)).toHaveLength(2);
    const rule = await knackHere(["lessons", "show", heights], { home });
    expect(rule.stdout).toMatch(/Decided by you:\n {2}\S+ {2}accepted/);
    const json = await knackHere(["lessons", "show", heights, "--json"], {
      home,
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      lesson: { status: "active", sessions: 1 },
      findings: [{ refs: expect.any(Array), events: expect.any(Array) }],
      against: [],
      decisions: [{ decision: "accepted" }],
    });
    expect((await knackHere(["lessons", "show", "nothing"], { home })).code).toBe(2);
  });
});

test("nothing that turns the direction of a line or cannot be seen reaches the terminal", async () => {
  const own = machine({ sessions: /nothing/ });
  const example = exampleSessions().find((one) => one.includes("generated-schema")) as string;
  const path = addExample(own, example);
  const hidden = "\u202e\u200b\u2066\u{e0041}\u{e0042}";
  writeFileSync(
    path,
    readFileSync(path, "utf8").replaceAll("schema/harbor.json", `schema/${hidden}harbor.json`),
  );
  const words = [[], ["instincts"], ["sessions"], ["learn", "--yes"], ["skills"], ["status"]];
  let printed = "";
  for (const one of words) {
    const { stdout, stderr } = await knackHere(one, { home: own.home });
    printed += stdout + stderr;
  }
  expect(printed).toContain("schema/harbor.json");
  expect(printed).not.toMatch(/[\u202e\u200b\u2066\u{e0041}\u{e0042}]/u);
});

describe("knack status", () => {
  test("on a new machine says what to do next, and makes nothing", async () => {
    const home = tempFolder();
    const { code, stdout } = await knackHere(["status"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("use an agent") });
    expect(filesIn(home)).toEqual({});
  });

  test("counts what is known, kept, waiting and off", async () => {
    const { home } = machine();
    await knackHere(["learn", "--yes"], { home });
    const { code, stdout } = await knackHere(["status", "--json"], { home, env: { KNACK_DISABLE: "1" } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      sessions: 8,
      projects: 2,
      rules: expect.any(Number),
      broken: [],
      off: [expect.stringContaining("KNACK_DISABLE")],
      learnedAt: expect.stringMatching(/^\d{4}-/),
    });
  });
});
