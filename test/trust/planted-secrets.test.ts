import { beforeAll, describe, expect, test } from "vitest";
import { sharedFolder } from "../helpers/temp.ts";
import { isKept, type LivedHome, liveThrough } from "./planted/live.ts";
import { plantedLookalikes, plantedSecrets } from "./planted/load.ts";

describe("what Knack keeps of sessions with planted secrets", () => {
  const home = sharedFolder();
  let lived: LivedHome;
  beforeAll(async () => {
    lived = await liveThrough(home, [...plantedSecrets, ...plantedLookalikes]);
  });

  test("has at least 291 of 300 secrets in no byte", () => {
    const left = plantedSecrets.filter(({ secret }) => secret.some((one) => isKept(lived, one)));
    expect(plantedSecrets).toHaveLength(300);
    expect(left.length, name(left)).toBeLessThanOrEqual(9);
  });

  test("has at least 219 of 220 look-alikes as they were", () => {
    const touched = plantedLookalikes.filter((one) => {
      const text = lived.textOf(one);
      return text.includes("[redacted:") || one.keep.some((part) => !text.includes(part));
    });
    expect(plantedLookalikes).toHaveLength(220);
    expect(touched.length, name(touched)).toBeLessThanOrEqual(1);
  });
});

function name(cases: readonly { readonly id: number; readonly kind: string }[]): string {
  return cases.map(({ id, kind }) => `${id} ${kind}`).join(", ");
}
