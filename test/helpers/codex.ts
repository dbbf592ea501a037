/** Lines as Codex writes them, with what a test does not care about filled in. */
export function codexLines(cwd = "/home/dev/tidewatch") {
  let count = 0;
  const line = (type: string, payload: object) => ({
    timestamp: new Date(Date.UTC(2026, 10, 2, 10, 0, ++count)).toISOString(),
    type,
    payload,
  });
  const item = (payload: object) => line("response_item", payload);
  return {
    meta: (more: object = {}) =>
      line("session_meta", {
        id: "01a1de64-4370-75c2-963a-6f460798cd1d",
        cwd,
        originator: "codex-tui",
        source: "cli",
        ...more,
      }),
    typed: (message: string) => line("event_msg", { type: "user_message", message, images: [] }),
    event: (type: string, more: object = {}) => line("event_msg", { type, ...more }),
    message: (role: string, text: string) =>
      item({
        type: "message",
        role,
        content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
      }),
    call: (id: string, name: string, args: object, more: object = {}) =>
      item({ type: "function_call", name, arguments: JSON.stringify(args), call_id: id, ...more }),
    runs: (id: string, cmd: string) =>
      item({ type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd }), call_id: id }),
    output: (id: string, output: unknown) => item({ type: "function_call_output", call_id: id, output }),
    custom: (id: string, name: string, input: string) =>
      item({ type: "custom_tool_call", status: "completed", name, input, call_id: id }),
    customOutput: (id: string, output: unknown) =>
      item({ type: "custom_tool_call_output", call_id: id, output }),
    item,
    line,
  };
}

export const exited = (code: number, text = "") =>
  `Chunk ID: e63726\nWall time: 0.0100 seconds\nProcess exited with code ${code}\nOriginal token count: 9\nOutput:\n${text}`;

export const running = (session: number, text = "") =>
  `Chunk ID: e63726\nWall time: 1.0000 seconds\nProcess running with session ID ${session}\nOriginal token count: 9\nOutput:\n${text}`;
