import { describe, expect, it } from "vitest";
import type { Provenance } from "../../src/records/index.ts";
import { leastTrusted, type OriginFacts, readProvenance } from "../../src/trust/provenance.ts";

const root = "/home/ada/shop";

function event(facts: Partial<OriginFacts>): OriginFacts {
  return {
    ...{ kind: "call", sidechain: false, tool: "Bash", input: null, command: null, files: [] },
    ...{ cwd: root, text: "" },
    ...facts,
  };
}

describe("the origin of a text", () => {
  it("is the person for a prompt, and the program for one that a program gave", () => {
    expect(readProvenance(event({ kind: "prompt", tool: null }), root)).toBe("person");
    expect(readProvenance(event({ kind: "prompt", tool: null, given: "program" }), root)).toBe("program");
    expect(readProvenance(event({ kind: "prompt", tool: null, sidechain: true }), root)).toBe("agent");
    expect(readProvenance(event({ kind: "reply", tool: null }), root)).toBe("agent");
  });

  it("is the repository for its instruction files, and a program for the client's own marks", () => {
    const mark = (text: string) => readProvenance(event({ kind: "mark", tool: null, text }), root);
    expect(mark("Instructions in AGENTS.md:\nrun make")).toBe("repository");
    expect(mark("Conversation compacted")).toBe("program");
  });

  it.each<[command: string, from: Provenance]>([
    ["npm test", "program"],
    ["cat src/a.ts", "repository"],
    ["cd src && head -n 20 a.ts", "repository"],
    ["sed -n '1,40p' README.md", "repository"],
    ["grep -rn TODO src | head -5", "repository"],
    ["rg TODO", "repository"],
    ["npm test | head -n 5", "program"],
    ["sed -i s/a/b/ README.md", "program"],
    ["cat /etc/hosts", "file"],
    ["cat ~/notes.md", "file"],
    ["cat ../other/README.md", "file"],
    ["cat node_modules/left-pad/README.md", "file"],
    ["cat .venv/lib/python3/site-packages/x/README", "file"],
    ["cat src/a.ts /tmp/b.ts", "file"],
    ["curl -s https://example.com/install.md", "web"],
    ["curl -s https://example.com/a.json | jq .", "web"],
    ["npm test && wget -qO- example.com", "web"],
    ['echo "$(curl -s https://example.com)"', "web"],
    ["python -c \"import requests; print(requests.get('https://example.com').text)\"", "web"],
    ["curl -s http://localhost:3000/health", "program"],
    ["curl -s http://localhost.example.com/x", "web"],
    ["gh issue view 12", "web"],
    ["gh pr view 12 --comments", "web"],
    ["gh api repos/a/b/issues/3/comments", "web"],
    ["gh auth status", "program"],
    ["gh pr create --fill", "program"],
    ["git show FETCH_HEAD:README.md", "web"],
    ["git show HEAD:README.md", "program"],
    ["npm view left-pad readme", "web"],
    ["npm install left-pad", "program"],
    ["apt-get install -y curl git", "program"],
  ])("of `%s` is %s", (command, from) => {
    expect(readProvenance(event({ command }), root)).toBe(from);
  });

  it.each<[tool: string, files: readonly string[], from: Provenance]>([
    ["Read", ["/home/ada/shop/src/a.ts"], "repository"],
    ["Read", ["/home/ada/shopping/src/a.ts"], "file"],
    ["read_file", ["src/a.ts"], "repository"],
    ["view", ["../a.ts"], "file"],
    ["Read", ["/home/ada/shop/vendor/x/a.go"], "file"],
    ["Grep", [], "repository"],
    ["Edit", ["/home/ada/shop/src/a.ts"], "agent"],
    ["WebFetch", [], "web"],
    ["google_web_search", [], "web"],
    ["browser_snapshot", [], "web"],
    ["mcp__github__get_issue", [], "mcp"],
    ["github-mcp-server-get_issue", [], "mcp"],
    ["context7_query-docs", [], "mcp"],
    ["mcp__fs__read_file", ["/home/ada/shop/src/a.ts"], "mcp"],
    ["TodoWrite", [], "program"],
    ["Task", [], "import"],
  ])("of what %s gives for %j is %s", (tool, files, from) => {
    expect(readProvenance(event({ tool, files }), root)).toBe(from);
  });

  it("is a file from elsewhere where no project is known, also on Windows", () => {
    expect(readProvenance(event({ tool: "Read", files: ["src/a.ts"] }), null)).toBe("file");
    const windows = { tool: "Read", cwd: "C:\\shop" };
    expect(readProvenance(event({ ...windows, files: ["src\\a.ts"] }), "C:\\shop")).toBe("repository");
    expect(readProvenance(event({ ...windows, files: ["C:\\shop2\\a.ts"] }), "C:\\shop")).toBe("file");
  });

  it("of several is the least trusted", () => {
    expect(leastTrusted("person", "web", "repository")).toBe("web");
    expect(leastTrusted("agent")).toBe("agent");
  });
});
