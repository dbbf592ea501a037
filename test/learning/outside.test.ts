import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { claudeLines } from "../helpers/claude.ts";
import { aHome, withKnack } from "../helpers/hook.ts";

type Lines = ReturnType<typeof claudeLines>;

test("sessions that used the web or MCP servers are left out if the person wants it", async () => {
  const home = aHome();
  const sessions: Record<string, (lines: Lines) => object> = {
    fetched: ({ calls }) => calls("a", "WebFetch", { url: "https://example.com" }),
    curled: ({ runs }) => runs("a", "curl -s https://example.com/setup.md"),
    served: ({ calls }) => calls("a", "mcp__notes__read", {}),
    plain: ({ runs }) => runs("a", "npm test"),
    knack: ({ calls }) => calls("a", "mcp__knack__skill_search", { query: "x" }),
  };
  const paths = Object.entries(sessions).map(([name, call]) => {
    const lines = claudeLines(name, home.project);
    const path = join(home.home, `.claude/projects/harbor/${name}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const records = [lines.user("go on"), call(lines), lines.result("a", "done")];
    writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    return path;
  });
  const learn = () =>
    withKnack(home, async (opened) => (await opened.learn(paths)).skipped.map(({ what }) => basename(what)));
  expect(await learn()).toEqual([]);
  writeFileSync(join(home.knackHome, "config.json"), JSON.stringify({ "learn.web": false }));
  expect((await learn()).sort()).toEqual(["curled.jsonl", "fetched.jsonl", "served.jsonl"]);
});
