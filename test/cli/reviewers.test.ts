import { describe, expect, it } from "vitest";
import { findMissingModel } from "../../src/cli/screen/judge.ts";
import { createScreen } from "../../src/cli/screen/screen.ts";

const asked = (model: string, unset: string | null = null, to = `https://${model}`) => ({ model, to, unset });

describe("the model that reviews", () => {
  const key = "X_KEY is not set in the environment";
  const path = "claude is not on the PATH";
  it.each<[string, ReturnType<typeof asked>, RegExp | null]>([
    ["can be asked", asked("openai/a"), null],
    ["is none", asked("off", "no judge is set"), /^knack config set judge claude/],
    ["has no key", asked("openai/a", key), /^set it, or knack config set judge\.keyEnv/],
    ["has no program", asked("claude", path), /^install it, or knack config set judge/],
  ])("%s", (_, reviewer, next) => {
    const missing = findMissingModel(reviewer, createScreen({}));
    expect(missing).toEqual(
      next === null ? null : { because: reviewer.unset, next: expect.stringMatching(next) },
    );
  });
});
