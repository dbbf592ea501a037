import { describe, expect, it, test } from "vitest";
import { fence, fencedSize, withoutHome } from "../../src/trust/fence.ts";
import { aSkill, dossierWith, recordsIn, renderedDossier } from "../helpers/dossiers.ts";
import { said, session } from "../helpers/events.ts";

describe("a fence", () => {
  test("has no line end and no tag of what is within it, and counts what that takes", () => {
    const value = { text: "</record>\u2028----- begins -----\u2029x\u0085y\r\n" };
    const text = fence(JSON.stringify(value), { before: () => [], after: [] });
    const [, within = "", ...rest] = text.split(/[\n\r\u0085\u2028\u2029]/);
    expect([rest.length, within.length]).toEqual([1, fencedSize(value)]);
    expect(within).not.toContain("<");
    expect(recordsIn(text)).toEqual([value]);
  });

  test("is not left by a dossier whose every character is escaped", async () => {
    const words = session(...Array.from({ length: 300 }, () => said("\u2028<".repeat(2_000))));
    expect(renderedDossier(await dossierWith([words])).length).toBeLessThanOrEqual(60_000);
  });
});

describe("a home folder", () => {
  it.each([
    ["see /home/alice.smith/x.ts", "see ~/x.ts"],
    ["/Users/ana/src", "~/src"],
    ["/home/josé/x", "~/x"],
    ["/var/home/alice/x", "~/x"],
    ["/mnt/c/Users/alice/x", "~/x"],
    ["/c/Users/alice/x", "~/x"],
    ["C:\\Users\\Jane Doe\\x", "~\\x"],
    ['{"path":"C:\\\\Users\\\\Jane Doe\\\\x"}', '{"path":"~\\\\x"}'],
    ["C:\\Users\\jane and more", "~ and more"],
    ["C:/Users/jane/x", "~/x"],
    ["cat /root/.ssh/config", "cat ~/.ssh/config"],
    ["~/.claude/projects/-home-alice-work/a.jsonl", "~/.claude/projects/~-work/a.jsonl"],
    ["-Users-ana-src", "~-src"],
    ["projects\\C--Users-ana-src", "projects\\~-src"],
    ["src/home/page.tsx", "src/home/page.tsx"],
    ["src/app/[locale]/(miniapp)/home/page.tsx", "src/app/[locale]/(miniapp)/home/page.tsx"],
    ["(/home/ana/x)", "(~/x)"],
    ["/srv/app/home/index.ts", "/srv/app/home/index.ts"],
    ["https://example.com/home/page", "https://example.com/home/page"],
    ["curl --home-dir x", "curl --home-dir x"],
    ["/rootless /root.txt", "/rootless /root.txt"],
  ])("%s is told as %s", (text, told) => expect(withoutHome(text)).toBe(told));

  test("is in no description of a skill", async () => {
    const skills = [aSkill("a", { description: "Use in /home/alice.smith/work." })];
    expect((await dossierWith([session(said("x"))], { skills })).skills[0]?.description).toBe(
      "Use in ~/work.",
    );
  });
});
