import { describe, test } from "vitest";
import { playChain } from "../clients/chain.ts";
import { hasOpenCode, opencode } from "./opencode.ts";

describe("Knack, live in OpenCode", () => {
  test.runIf(hasOpenCode)(
    "hands a fix that one session found to the next ones, and goes without a trace",
    () => playChain(opencode),
  );
});
