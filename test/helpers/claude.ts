const usage = {
  input_tokens: 4,
  cache_creation_input_tokens: 1_822,
  cache_read_input_tokens: 40_119,
  output_tokens: 212,
  service_tier: "standard",
};

/** Lines as Claude Code writes them, with what a test does not care about filled in. */
export function claudeLines(session = "5f0c1a52-0000-4000-8000-000000000001", cwd = "/home/dev/harbor-api") {
  let count = 0;
  const base = (type: string) => {
    count++;
    return {
      type,
      uuid: `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`,
      parentUuid: null,
      sessionId: session,
      cwd,
      isSidechain: false,
      version: "2.1.325",
      userType: "external",
      entrypoint: "cli",
      gitBranch: "main",
      timestamp: new Date(Date.UTC(2026, 10, 1, 9, 0, count)).toISOString(),
    };
  };
  const user = (content: unknown, more: object = {}) => ({
    ...base("user"),
    message: { role: "user", content },
    ...more,
  });
  const assistant = (block: object, more: object = {}) => ({
    ...base("assistant"),
    message: { id: `msg_${count}`, role: "assistant", model: "model", content: [block], usage },
    ...more,
  });
  return {
    user,
    says: (text: string, more: object = {}) => assistant({ type: "text", text }, more),
    thinks: (thinking: string) =>
      assistant({ type: "thinking", thinking, signature: "c2lnbmF0dXJl".repeat(40) }),
    calls: (id: string, name: string, input: object, more: object = {}) =>
      assistant({ type: "tool_use", id, name, input }, more),
    runs: (id: string, command: string, more: object = {}) =>
      assistant({ type: "tool_use", id, name: "Bash", input: { command } }, more),
    result: (
      id: string,
      content: unknown,
      { error = false, ...more }: { error?: boolean; toolUseResult?: unknown; [field: string]: unknown } = {},
    ) =>
      user([{ type: "tool_result", tool_use_id: id, content, ...(error ? { is_error: true } : {}) }], more),
    attachment: (attachment: object, more: object = {}) => ({ ...base("attachment"), attachment, ...more }),
    system: (subtype: string, more: object = {}) => ({ ...base("system"), subtype, ...more }),
    queue: (operation: string, content?: string) => ({
      type: "queue-operation",
      operation,
      timestamp: new Date(Date.UTC(2026, 10, 1, 9, 30, ++count)).toISOString(),
      sessionId: session,
      ...(content === undefined ? {} : { content }),
    }),
  };
}

/** How the client records that a person refused a call. */
export const refused = {
  error: true,
  toolUseResult: "User rejected tool use",
  toolDenialKind: "user-rejected",
};

export const rejection = (words: string) =>
  `The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n${words}`;
