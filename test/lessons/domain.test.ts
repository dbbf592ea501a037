import { describe, expect, it } from "vitest";
import { classifyDomain } from "../../src/lessons/topic.ts";

type Topical = Parameters<typeof classifyDomain>[0];
type Domain = ReturnType<typeof classifyDomain>;

const said = (trigger: string, action: string): Topical => ({ kind: "user-correction", trigger, action });
const ran = (...call: string[]): Topical => ({
  kind: "error-recovery",
  trigger: "it fails",
  action: `run ${call.join(" ")}`,
  call,
});

describe("the domain of a lesson", () => {
  it.each<[string, Topical, Domain]>([
    ["git is about git", ran("git", "push", "--force-with-lease"), "git"],
    ["what npm runs counts, not npm", ran("npm", "test", "--", "--run"), "testing"],
    ["a package manager alone is a tool", ran("pnpm", "install", "--frozen-lockfile"), "tooling"],
    ["a linter is about style", ran("eslint", "--fix"), "code-style"],
    ["commits are git's, in words too", said("writing a commit", "write conventional commits"), "git"],
    ["tests in words", said("before the suite runs", "apply the fixtures of the tests"), "testing"],
    ["secrets go first", said("an error is logged", "never log the password or the token"), "security"],
    ["where files go", said("adding a helper", "put the file into the folder lib"), "file-patterns"],
    ["how to go about it", said("before you deploy", "ask first and plan the release"), "workflow"],
    [
      "nothing told: of a recovery, debugging",
      { kind: "error-recovery", trigger: "x", action: "y" },
      "debugging",
    ],
    ["nothing told: otherwise the workflow", said("x", "y"), "workflow"],
    ["other scripts", said("提交", "写提交说明"), "git"],
  ])("%s", (_, lesson, domain) => expect(classifyDomain(lesson)).toBe(domain));
});
