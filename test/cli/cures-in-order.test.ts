import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { asked, day, failed, ran, type Step, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const jammed = "Error: the gauge is jammed at its lower stop";
const met = failed("gauge read dock", jammed);
const slow = [met, ran("gauge read --slow dock")];
const calm = [met, ran("gauge read --calm dock")];
const inVain = [met, failed("gauge read --calm dock", jammed)];

/** A home in which some sessions were lived through and learned from. */
async function learnFrom(sessions: readonly (readonly Step[])[]) {
  const home = tempFolder();
  const cwd = join(home, "w", "harbor");
  mkdirSync(cwd, { recursive: true });
  const lived = sessions.map((steps, n) => ({
    ...{ name: `s${n}`, cwd, at: Date.now() - (20 - n) * day, steps: [asked("go on"), ...steps] },
  }));
  writeLived(home, lived);
  await knackHere(["learn"], { home });
  return { home, cwd };
}

/** The cures that a person is shown for the failure after some sessions, best first. */
async function listCures(sessions: readonly (readonly Step[])[]): Promise<string[]> {
  const { home, cwd } = await learnFrom(sessions);
  const words = ["recall", "--error", "--command", "gauge read dock", "--output", jammed, "--json"];
  const { matches } = JSON.parse((await knackHere(words, { home, cwd })).stdout);
  return (matches as { action: string }[]).map(({ action }) => action);
}

test("cures of one failure are told in the order of what speaks for each, less what speaks against it", async () => {
  expect(await listCures([slow, calm, calm])).toEqual(["use gauge read --calm", "use gauge read --slow"]);
  const failing = [inVain, inVain, inVain, inVain];
  expect(await listCures([slow, calm, calm, ...failing])).toEqual([
    "use gauge read --slow",
    "use gauge read --calm",
  ]);
});

test("opposite cures hold each other, and neither is shown, until a third session decides", async () => {
  const quick = [failed("gauge read --slow dock", jammed), ran("gauge read dock")];
  const statuses = async (...sessions: (readonly Step[])[]) => {
    const place = await learnFrom(sessions);
    const { lessons } = JSON.parse((await knackHere(["lessons", "--all", "--json"], place)).stdout);
    return (lessons as { status: string }[]).map(({ status }) => status).sort();
  };
  expect(await statuses(slow, quick)).toEqual(["conflict-hold", "conflict-hold"]);
  expect(await listCures([slow, quick])).toEqual([]);
  expect(await listCures([slow, quick, slow])).toEqual(["use gauge read --slow"]);
});
