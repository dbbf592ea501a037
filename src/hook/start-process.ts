/** Node's module for processes, loaded when one is really started: it takes milliseconds, and most hooks start none. */
export function startProcess(): typeof import("node:child_process") {
  return process.getBuiltinModule("node:child_process");
}
