import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { claudeLines } from "../helpers/claude.ts";
import { cli } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

export const session = "5f0c1a52-0000-4000-8000-000000000001";

interface Answered {
  readonly code: string | null;
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly error: {
    readonly code: string;
    readonly next: string;
    readonly details: readonly string[];
  } | null;
}

export interface Host {
  readonly client: Client;
  readonly project: string;
  readonly skills: string;
  readonly progress: string[];
  call(tool: string, args: object): Promise<Answered>;
}

/** A project with a session of Claude Code in it, and a client that starts Knack's server as that does. */
export async function host(
  env: Record<string, string> = {},
  {
    modern = false,
    home = tempFolder(),
    clientName = "claude-code",
    opens = "Print the tide table for May",
  }: {
    readonly modern?: boolean;
    readonly home?: string;
    readonly clientName?: string;
    /** The session's first prompt. */
    readonly opens?: string;
  } = {},
): Promise<Host> {
  const project = join(home, "harbor docks");
  const transcripts = join(home, ".claude/projects", project.replace(/[^A-Za-z0-9]/g, "-"));
  for (const folder of [join(project, ".git/info"), transcripts]) mkdirSync(folder, { recursive: true });
  const { user, runs, result } = claudeLines(session, project);
  const records = [
    user(opens),
    runs("toolu_1", "node tides.mjs --mnth may"),
    result("toolu_1", "Exit code 1\nunknown flag --mnth", { error: true }),
    runs("toolu_2", "node tides.mjs --month may"),
    result("toolu_2", "done"),
  ];
  writeFileSync(
    join(transcripts, `${session}.jsonl`),
    `${records.map((one) => JSON.stringify(one)).join("\n")}\n`,
  );
  const client = new Client(
    { name: clientName, version: "1" },
    modern ? { versionNegotiation: { mode: "auto" } } : {},
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, "mcp"],
    cwd: project,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      KNACK_HOME: join(home, ".knack"),
      CLAUDE_CODE_SESSION_ID: session,
      CLAUDE_PROJECT_DIR: project,
      ...env,
    },
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const progress: string[] = [];
  return {
    client,
    project,
    skills: join(project, ".claude/skills"),
    progress,
    call: async (tool, args) => {
      const onprogress = ({ message }: { message?: string | undefined }) => void progress.push(message ?? "");
      const answer = await client.callTool({ name: tool, arguments: { ...args } }, { onprogress });
      const data = (answer.structuredContent ?? {}) as Answered["data"];
      const [first] = answer.content;
      const text = first?.type === "text" ? first.text : "";
      if (!answer.isError) return { code: null, error: null, data, text };
      const error = data.error as Answered["error"] | undefined;
      // Each refusal of Knack's has a code.
      if (error == null) throw new Error(`${tool} failed without a code: ${text}`);
      return { code: error.code, error, data, text };
    },
  };
}
