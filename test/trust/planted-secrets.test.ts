import { beforeAll, describe, expect, test } from "vitest";
import { sharedFolder } from "../helpers/temp.ts";
import { countByClass, tellFigures } from "./planted/figures.ts";
import { isKept, type LivedHome, liveThrough } from "./planted/live.ts";
import { type Lookalike, type PlantedSecret, plantedLookalikes, plantedSecrets } from "./planted/load.ts";

describe("what Knack keeps of sessions with planted secrets", () => {
  const home = sharedFolder();
  let lived: LivedHome;
  beforeAll(async () => {
    lived = await liveThrough(home, [...plantedSecrets, ...plantedLookalikes]);
  });

  test("has at least 388 of 400 secrets in no byte", () => {
    const left = new Set(plantedSecrets.filter(({ secret }) => secret.some((one) => isKept(lived, one))));
    const isGone = (one: PlantedSecret) => !left.has(one);
    tellFigures({
      title: "planted secrets",
      columns: ["class", "cases", "gone"],
      rows: countByClass(plantedSecrets, (one) => one.class, isGone),
    });
    expect(plantedSecrets).toHaveLength(400);
    expect(left.size, listKinds(left)).toBeLessThanOrEqual(12);
  });

  test("has at least 293 of 294 look-alikes as they were", () => {
    const touched = plantedLookalikes.filter((one) => isTouched(lived, one));
    const row = [plantedLookalikes.length, touched.length];
    tellFigures({ title: "look-alikes", columns: ["cases", "touched"], rows: [row] });
    expect(plantedLookalikes).toHaveLength(294);
    expect(touched.length, listKinds(touched)).toBeLessThanOrEqual(1);
  });

  test("shows most of them to a model, so that secrets would be found there", () => {
    const toJson = (part: string) => JSON.stringify(part).slice(1, -1);
    const shown = plantedLookalikes.filter(({ keep }) =>
      keep.some((part) => lived.requests.includes(toJson(part))),
    );
    expect(shown.length).toBeGreaterThan(150);
  });
});

function isTouched(lived: LivedHome, one: Lookalike): boolean {
  const text = lived.textOf(one);
  return text.includes("[redacted:") || one.keep.some((part) => !text.includes(part));
}

function listKinds(cases: Iterable<{ readonly id: number; readonly kind: string }>): string {
  return [...cases].map(({ id, kind }) => `${id} ${kind}`).join(", ");
}
