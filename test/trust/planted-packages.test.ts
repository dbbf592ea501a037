import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Concern, type ConcernCode, needsPerson, scanFiles } from "../../src/trust/index.ts";
import { jsonLines } from "../helpers/knack.ts";
import { countByClass, tellFigures } from "./planted/figures.ts";
import { benignPackages, type PlantedPackage, plantedPackages } from "./planted/load.ts";

/** Reasons in the words of the packages' authors, by what the scan calls them. */
const reasons: Record<ConcernCode, readonly string[]> = {
  injection: ["talks over the person's head"],
  "role-tag": ["talks over the person's head"],
  deception: ["talks over the person's head", "asks for secrets"],
  concealment: ["asks for secrecy", "hides"],
  "hidden-code": ["hides"],
  "hidden-comment": ["hides"],
  "hidden-character": ["hides"],
  "file-name": ["hides"],
  "run-on-load": ["hides", "downloads and runs"],
  exfiltration: ["sends out", "asks for secrets"],
  "download-and-run": ["downloads and runs"],
  registry: ["downloads and runs"],
  permissions: ["widens permissions"],
  verification: ["widens permissions"],
  keys: ["persists", "sends out", "asks for secrets"],
  "shell-start": ["persists"],
  "git-hooks": ["persists"],
  persistence: ["persists"],
  deletion: ["deletes", "destroys"],
  secret: [],
  "personal-path": [],
  "too-long": [],
};

function scanAll(files: Readonly<Record<string, string>>): Concern[] {
  return scanFiles(Object.entries(files).map(([path, text]) => ({ path, text })));
}

describe("the scan of malicious packages", () => {
  const scanned = plantedPackages.map((one) => ({ ...one, concerns: scanAll(one.files) }));
  const isHeld = ({ concerns }: { readonly concerns: readonly Concern[] }) => needsPerson(concerns);
  const isNamed = ({ reason, also, concerns }: PlantedPackage & { readonly concerns: readonly Concern[] }) =>
    concerns
      .filter((one) => needsPerson([one]))
      .some(({ code }) => reasons[code].some((name) => name === reason || also.includes(name)));
  tellFigures({
    title: "malicious packages",
    columns: ["reason", "packages", "held", "held for the right reason"],
    rows: countByClass(scanned, ({ reason }) => reason, isHeld, isNamed),
  });

  // Their author knew no rule, but the rules were mended after these had been seen: other packages get through more often.
  test("holds 95 % for a person and gives the right reason for 85 %", () => {
    const unnamed = scanned.filter((one) => !isNamed(one));
    const missed = scanned.filter((one) => !isHeld(one));
    const count = plantedPackages.length;
    expect(count).toBeGreaterThanOrEqual(100);
    expect(missed.length, missed.map(describePackage).join("\n")).toBeLessThanOrEqual(0.05 * count);
    expect(unnamed.length, unnamed.map(describePackage).join("\n")).toBeLessThanOrEqual(0.15 * count);
  });
});

test.skipIf(benignPackages.length === 0)("the scan holds at most 5 % of a set's innocent packages", () => {
  const held = benignPackages
    .map(({ id, files }) => ({ id, concerns: scanAll(files).filter((one) => needsPerson([one])) }))
    .filter(({ concerns }) => concerns.length > 0);
  const row = ["all", benignPackages.length, held.length];
  tellFigures({ title: "innocent packages", columns: ["", "packages", "held"], rows: [row] });
  const list = held.map(
    ({ id, concerns }) => `${id} ${concerns.map(({ code, where }) => `${code} ${where}`)}`,
  );
  expect(held.length, list.join("\n")).toBeLessThanOrEqual(0.05 * benignPackages.length);
});

function describePackage(one: PlantedPackage & { readonly concerns: readonly Concern[] }): string {
  return `${one.id} ${one.reason} (${one.note}): ${one.concerns.map(({ severity, code }) => `${severity} ${code}`).join(", ")}`;
}

const library = join(process.env.KNACK_EVAL_DIR ?? "", "retrieval-bench/skills.jsonl.gz");
const hasLibrary = Boolean(process.env.KNACK_EVAL_DIR) && existsSync(library);
if (!hasLibrary)
  console.log(
    "skipped: the scan of 300 public skills needs retrieval-bench/skills.jsonl.gz in KNACK_EVAL_DIR",
  );

describe.skipIf(!hasLibrary)("the scan of 300 public skills", () => {
  test("holds at most 15 for a person", () => {
    const drawn = drawSkills(readFileSync(library));
    const held = drawn
      .map(({ id, text }) => ({
        id,
        concerns: scanAll({ "SKILL.md": text }).filter((one) => needsPerson([one])),
      }))
      .filter(({ concerns }) => concerns.length > 0);
    tellFigures({ title: "public skills", columns: ["skills", "held"], rows: [[drawn.length, held.length]] });
    expect(drawn).toHaveLength(300);
    const list = held.map(
      ({ id, concerns }) => `${id} ${concerns.map(({ code, where }) => `${code} ${where}`)}`,
    );
    expect(held.length, list.join("\n")).toBeLessThanOrEqual(15);
  });
});

/** Every 66th skill in the order of their ids, which are hashes of their content. */
function drawSkills(packed: Buffer): { readonly id: string; readonly text: string }[] {
  const all = jsonLines<Record<"id" | "name" | "description" | "body", string>>(
    gunzipSync(packed).toString(),
  );
  return all
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .filter((_, at) => at % 66 === 0)
    .slice(0, 300)
    .map(({ id, name, description, body }) => ({
      id,
      text: `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}\n`,
    }));
}
