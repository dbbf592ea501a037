import { beforeAll, describe, expect, test } from "vitest";
import { sharedFolder } from "../helpers/temp.ts";
import { countByClass, tellFigures } from "./planted/figures.ts";
import { isKept, type LivedHome, liveThrough, toBytes } from "./planted/live.ts";
import {
  type Lookalike,
  listEvents,
  type PlantedSecret,
  plantedLookalikes,
  plantedSecrets,
} from "./planted/load.ts";

describe("what Knack keeps of sessions with planted secrets", () => {
  const home = sharedFolder();
  let lived: LivedHome;
  beforeAll(async () => {
    lived = await liveThrough(home, [...plantedSecrets, ...plantedLookalikes]);
  });

  test("has at least 97 % of the secrets in no byte", () => {
    const left = new Set(plantedSecrets.filter((one) => one.secret.some((text) => isLeft(lived, one, text))));
    const isGone = (one: PlantedSecret) => !left.has(one);
    tellFigures({
      title: "planted secrets",
      columns: ["class", "cases", "gone"],
      rows: countByClass(plantedSecrets, (one) => one.class, isGone),
    });
    expect(plantedSecrets.length).toBeGreaterThanOrEqual(300);
    expect(left.size, listKinds(left)).toBeLessThanOrEqual(0.03 * plantedSecrets.length);
  });

  test("has all look-alikes but one as they were", () => {
    const touched = plantedLookalikes.filter((one) => isTouched(lived, one));
    const isOne = (one: Lookalike) => touched.includes(one);
    tellFigures({
      title: "look-alikes",
      columns: ["class", "cases", "touched"],
      rows: countByClass(plantedLookalikes, (one) => one.class ?? "", isOne),
    });
    expect(plantedLookalikes.length).toBeGreaterThanOrEqual(200);
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

/** Whether a secret is left; one that others' cases hold as an innocent word is looked for in its own texts only. */
function isLeft(lived: LivedHome, own: PlantedSecret, text: string): boolean {
  const isElsewhere = [...plantedSecrets, ...plantedLookalikes].some(
    (one) => one !== own && listEvents(one).some((event) => event.text.includes(text)),
  );
  return isKept(isElsewhere ? { kept: toBytes(lived.textOf(own)) } : lived, text);
}

function isTouched(lived: LivedHome, one: Lookalike): boolean {
  const text = lived.textOf(one);
  return text.includes("[redacted:") || one.keep.some((part) => !text.includes(part));
}

function listKinds(cases: Iterable<{ readonly id: number; readonly kind: string }>): string {
  return [...cases].map(({ id, kind }) => `${id} ${kind}`).join(", ");
}
