import { describe, test } from "vitest";
import { playAsked } from "../clients/asked.ts";
import { playChain } from "../clients/chain.ts";
import { hasOpenCode, opencode } from "./opencode.ts";

describe.runIf(hasOpenCode)("Knack, live in OpenCode", () => {
  test("hands a fix that one session found to the next ones, and goes without a trace", () =>
    playChain(opencode));

  test("is learned from by knack run, judges, and reads what is kept", () =>
    // What is handed to `opencode run` is a program's, and no lead.
    playAsked(opencode, { asks: "opencode/scripted/scripted", makesSkill: false }));
});
