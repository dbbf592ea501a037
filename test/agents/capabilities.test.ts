import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { agents } from "../../src/agents/agents.ts";
import {
  type Ability,
  abilities,
  type Capability,
  capabilities,
  describeLimits,
} from "../../src/agents/capabilities.ts";
import { setups } from "../../src/agents/install/setups.ts";
import { root } from "../helpers/knack.ts";

const page = readFileSync(join(root, "docs/agents.md"), "utf8");

function cell(ability: Ability): string {
  if (ability.how === "tested") return `tested, ${ability.version}`;
  return ability.how === "documented" ? "by documentation" : "not possible";
}

function row(name: string, cells: readonly string[]): string {
  return `| ${[name, ...cells].join(" | ")} |`;
}

const ids = agents.map(({ id }) => id);

describe("docs/agents.md", () => {
  test("shows what Knack does in each agent, and how that is known", () => {
    const names = agents.map(({ name }) => name);
    const table = [
      row("", names),
      row(
        "---",
        names.map(() => "---"),
      ),
      ...(Object.keys(capabilities) as Capability[]).map((one) =>
        row(
          capabilities[one],
          ids.map((id) => cell(abilities[id][one])),
        ),
      ),
    ].join("\n");
    expect(page).toContain(table);
  });

  test("says plainly what each agent cannot do", () => {
    for (const id of ids) for (const limit of describeLimits([id])) expect(page).toContain(limit);
  });

  test("names no version but those that the tests install", () => {
    const versions = new Set(
      ids.flatMap((id) =>
        Object.values(abilities[id]).flatMap((one) => (one.how === "tested" ? one.version : [])),
      ),
    );
    const pinned = ["clients", "more-clients"].flatMap((folder) => {
      const text = readFileSync(join(root, "test", folder, "package.json"), "utf8");
      const { dependencies, optionalDependencies = {} } = JSON.parse(text) as Record<string, object>;
      return Object.values({ ...dependencies, ...optionalDependencies });
    });
    expect([...versions].filter((one) => !pinned.includes(one))).toEqual([]);
  });
});

describe("an agent without an installer", () => {
  test("claims nothing that needs one", () => {
    const installable = setups.map(({ id }) => id);
    for (const id of ids.filter((one) => !installable.includes(one)))
      for (const one of ["start", "prompt", "failure", "turn end", "session end"] as const)
        expect(abilities[id][one].how, `${id} ${one}`).toBe("not possible");
  });
});
