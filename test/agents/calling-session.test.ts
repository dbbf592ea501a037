import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findCallingSession } from "../../src/agents/calling-session.ts";
import { type CallTrace, readHostCall } from "../../src/authoring/caller.ts";
import { openKnack } from "../../src/open.ts";
import { type Written, writeCopilot, writeGemini, writeOpencode } from "../helpers/agents.ts";
import { sharedFolder, tempFolder } from "../helpers/temp.ts";

const now = Date.now();
const [day, minute, second] = [86_400_000, 60_000, 1_000];
const startedAt = now - 10 * minute;
/** The call that is made now, and the one before it, which was answered a minute ago. */
const call: Written = { tool: "event_expand", args: {}, at: now };
const before = { tool: "skill_load", args: { skill_name: "learn-skill" }, at: now - minute };
const answeredAt = before.at + second;
const written = { ...before, at: answeredAt + 5 };
const trace: CallTrace = { startedAt, call, before: { ...before, answeredAt } };
const clients = { gemini: "gemini-cli-mcp-client", copilot: "copilot-cli", opencode: "opencode" };

interface Case {
  /** Writes the sessions. */
  lay(home: string, project: string): unknown;
  /** The file of the session that is meant; absent where it is none. */
  readonly is?: string;
  readonly trace?: Partial<CallTrace>;
}

const chats = ".gemini/tmp/harbor/chats";
const copilotA = ".copilot/session-state/a/events.jsonl";

/** More than is looked through at first. */
const long = `${JSON.stringify({ type: "assistant.message", data: { content: "x".repeat(512_000) } })}\n`;

/** What another process does a moment later. */
function later(deed: () => void): void {
  setTimeout(deed, 120);
}

const cases: Record<keyof typeof clients, readonly (readonly [string, Case])[]> = {
  gemini: [
    [
      "that made the call before",
      {
        lay: (home, project) => writeGemini(home, project, "a", { answered: [written], at: now }),
        is: `${chats}/session-2026-11-16T09-00-a.jsonl`,
      },
    ],
    [
      "that made the call before, though another one was at work until then",
      {
        lay: (home, project) => {
          const at = answeredAt - 5 * second;
          writeGemini(home, project, "b", { answered: [{ ...written, at }], at });
          writeGemini(home, project, "a", { answered: [written], at: now });
        },
        is: `${chats}/session-2026-11-16T09-00-a.jsonl`,
      },
    ],
    [
      "that made the call before, however much it wrote since",
      {
        lay: (home, project) => {
          const path = writeGemini(home, project, "a", { answered: [written], at: now });
          appendFileSync(path, long);
        },
        is: `${chats}/session-2026-11-16T09-00-a.jsonl`,
      },
    ],
    [
      "of the project, by whatever path it is known",
      {
        lay: (home, project) => {
          const alias = join(home, "alias");
          symlinkSync(project, alias);
          writeGemini(home, alias, "a", { answered: [written], at: now });
        },
        is: `${chats}/session-2026-11-16T09-00-a.jsonl`,
      },
    ],
    [
      "of a subagent, while its parent waits",
      {
        lay: (home, project) => {
          writeGemini(home, project, "a", { at: now - 3 * minute });
          writeGemini(home, project, "sub", { answered: [written], at: now, parent: "a" });
        },
        is: `${chats}/a/sub.jsonl`,
      },
    ],
    [
      "of none at the first call",
      { lay: (home, project) => writeGemini(home, project, "a", { at: now }), trace: { before: null } },
    ],
    [
      "of none where another one was written since: it may be what came after /clear",
      {
        lay: (home, project) => {
          writeGemini(home, project, "a", { answered: [written], at: now - 30 * second });
          writeGemini(home, project, "b", { at: now });
        },
      },
    ],
    ...[
      ["that made the like call, but earlier", { ...written, at: before.at - second }] as const,
      ["that made another call", { ...written, args: { skill_name: "other" } }] as const,
      ["that called another tool", { ...written, tool: "skill_search" }] as const,
    ].map(([name, other]): [string, Case] => [
      `of none ${name}`,
      { lay: (home, project) => writeGemini(home, project, "a", { answered: [other], at: now }) },
    ]),
    [
      "of none of another project",
      { lay: (home) => writeGemini(home, "/elsewhere", "a", { answered: [written], at: now }) },
    ],
  ],
  copilot: [
    [
      "that has begun the call and not ended it",
      {
        lay: (home, project) => {
          writeCopilot(home, project, "b", [{ ...call, ended: true }]);
          writeCopilot(home, project, "a", [{ ...before, ended: true }, call]);
        },
        is: copilotA,
      },
    ],
    [
      "that writes the call down a moment later",
      { lay: (home, project) => later(() => writeCopilot(home, project, "a", [call])), is: copilotA },
    ],
    [
      "of none where two make the same call, and one is slower to write it down",
      {
        lay: (home, project) => {
          writeCopilot(home, project, "b", [call]);
          later(() => writeCopilot(home, project, "a", [call]));
        },
      },
    ],
    [
      "that has begun the call, however much it wrote since",
      {
        lay: (home, project) => appendFileSync(writeCopilot(home, project, "a", [call]), long),
        is: copilotA,
      },
    ],
    [
      "of none where two make the same call, and one has written much since",
      {
        lay: (home, project) => {
          appendFileSync(writeCopilot(home, project, "b", [call]), long);
          writeCopilot(home, project, "a", [call]);
        },
      },
    ],
    [
      "that works in the folder, by whatever path, though others make the same call elsewhere",
      {
        lay: (home, project) => {
          const alias = join(home, "alias");
          symlinkSync(project, alias);
          writeCopilot(home, "/elsewhere", "b", [call]);
          writeCopilot(home, alias, "a", [call]);
        },
        is: copilotA,
      },
    ],
    [
      "that was resumed in the folder",
      {
        lay: (home, project) => {
          const path = writeCopilot(home, "/elsewhere", "a", [call]);
          const resumed = { type: "session.resume", data: { context: { cwd: project } }, timestamp: now };
          appendFileSync(path, `${JSON.stringify(resumed)}\n`);
        },
        is: copilotA,
      },
    ],
    ["of none of another folder", { lay: (home) => writeCopilot(home, "/elsewhere", "a", [call]) }],
    [
      "that makes the call though the clock was set back, and whatever was begun by tomorrow's",
      {
        lay: (home, project) => {
          writeCopilot(home, project, "b", [{ ...call, at: now + day }]);
          writeCopilot(home, project, "a", [call]);
        },
        is: copilotA,
        trace: { startedAt: now + minute },
      },
    ],
    [
      "of none by what was begun before the server",
      { lay: (home, project) => writeCopilot(home, project, "a", [{ ...call, at: startedAt - second }]) },
    ],
    [
      "of none by the same call that was answered before",
      {
        lay: (home, project) => writeCopilot(home, project, "a", [{ ...call, at: now - minute }]),
        trace: { before: { ...call, at: now - minute, answeredAt: now - second } },
      },
    ],
    [
      "of none that made another call",
      {
        lay: (home, project) => writeCopilot(home, project, "a", [{ ...call, args: { event_refs: ["e1"] } }]),
      },
    ],
  ],
  opencode: [
    [
      "in which the call runs, of all that are in the database",
      {
        lay: (home, project) => {
          const ended = { ...call, at: now + second, ended: true };
          writeOpencode(home, project, { a: call, b: ended, c: { ...before, at: now } });
        },
        is: ".local/share/opencode/opencode.db",
      },
    ],
    [
      "of none where two make the same call",
      { lay: (home, project) => writeOpencode(home, project, { a: call, b: call }) },
    ],
    [
      "of none where another one makes it a moment later",
      {
        lay: (home, project) => {
          writeOpencode(home, project, { b: call });
          later(() => writeOpencode(home, project, { a: call }));
        },
      },
    ],
    [
      "of none by a call that was left in the middle before the server was started",
      {
        lay: (home, project) => writeOpencode(home, project, { a: { ...call, at: startedAt - second } }),
      },
    ],
    [
      "that works in the folder, by whatever path, though others make the same call elsewhere",
      {
        lay: (home, project) => {
          const alias = join(home, "alias");
          symlinkSync(project, alias);
          writeOpencode(home, "/elsewhere", { b: call });
          writeOpencode(home, alias, { a: call });
        },
        is: ".local/share/opencode/opencode.db",
      },
    ],
    ["of none of another folder", { lay: (home) => writeOpencode(home, "/elsewhere", { a: call }) }],
    [
      "that makes the call though the clock was set back, and whatever was begun by tomorrow's",
      {
        lay: (home, project) => writeOpencode(home, project, { a: call, b: { ...call, at: now + day } }),
        is: ".local/share/opencode/opencode.db",
        trace: { startedAt: now + minute },
      },
    ],
    [
      "that makes the call which came while the same one was answered",
      {
        lay: (home, project) => writeOpencode(home, project, { a: call }),
        is: ".local/share/opencode/opencode.db",
        trace: { before: { ...call, at: now - 5, answeredAt: now + 5 } },
      },
    ],
    ["of none where there is no database", { lay: () => null }],
  ],
};

describe.each(Object.entries(cases))("with %s, the session that calls is one", (agent, rows) => {
  const homes = sharedFolder();
  test.concurrent.each(rows)("%s", async (name, { lay, is, trace: other }) => {
    const home = join(homes, name.replace(/\W/g, "-"));
    const project = join(home, "harbor");
    mkdirSync(project, { recursive: true });
    const client = clients[agent as keyof typeof clients];
    const word = readHostCall({}, {}, project, { ...trace, ...other, client });
    lay(home, project);
    const found = await findCallingSession(word, { home, env: {} });
    // A file of many sessions says which one; the others hold one each.
    const session = agent === "opencode" ? "a" : null;
    expect(found).toEqual(
      is === undefined ? null : { path: join(home, is), session, model: expect.any(String) },
    );
  });
});

describe("who calls, where the host names no session,", () => {
  test.each<[keyof typeof clients, string, (home: string, project: string) => string]>([
    [
      "gemini",
      "gemini-2.5-pro",
      (home, project) => writeGemini(home, project, "a", { answered: [written], at: now }),
    ],
    [
      "copilot",
      "gpt-6",
      (home, project) => writeCopilot(home, project, "a", [{ ...before, ended: true }, call]),
    ],
    [
      "opencode",
      "big",
      (home, project) =>
        writeOpencode(home, project, { a: call, b: { ...call, at: now + minute, ended: true } }),
    ],
  ])("is known with its events and model: %s", async (agent, model, lay) => {
    const home = tempFolder();
    const project = join(home, "harbor");
    mkdirSync(join(project, ".git"), { recursive: true });
    const knack = await openKnack({ env: { HOME: home, KNACK_HOME: join(home, ".knack") } });
    onTestFinished(() => knack.close());
    const path = lay(home, project);
    const present = await knack.resolveCaller(
      readHostCall({}, {}, project, { ...trace, client: clients[agent] }),
    );
    expect(present.session?.path).toBe(path);
    expect(present.caller).toMatchObject({
      session: "a",
      invocation: "a#1",
      model,
      project: { root: project },
    });
    expect(await knack.expandEvents(present, ["e1"])).toMatchObject({
      ok: true,
      value: [{ text: expect.stringContaining("tide table") }],
    });
  });
});
