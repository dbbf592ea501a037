import { describe } from "vitest";
import { keepInMemory } from "../../src/store/memory.ts";
import { openScratch } from "../../src/store/sqlite.ts";
import { findingsContract } from "./contract.ts";

describe("what is kept in memory", () => {
  findingsContract(async () => keepInMemory(await openScratch({ now: () => 1_760_000_000_000 })));
});
