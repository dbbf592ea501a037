/**
 * The task that a harness was given, without the instructions it puts around every task: those are full of "always"
 * and "must", and nobody asked for them.
 */
export function taskIn(text: string): string {
  for (const [start, end] of frames) {
    const from = text.indexOf(start);
    const to = from < 0 ? -1 : text.indexOf(end, from + start.length);
    if (to < 0) continue;
    const task = text.slice(from + start.length, to).trim();
    if (task !== "") return task.replace(/^Consider the following PR description:\s*/, "");
  }
  return text.trim();
}

/** What stands before and after the task in the templates of SWE-agent, mini-swe-agent, OpenHands and Terminus. */
const frames = [
  ["<pr_description>", "</pr_description>"],
  ["<issue_description>", "</issue_description>"],
  ["ISSUE:\n", "\nINSTRUCTIONS:"],
  ["We're currently solving the following ", "\nINSTRUCTIONS:"],
  ["Please solve this issue:", "\nYou can execute bash commands"],
  ["Task Description:\n", "\nCurrent terminal state:"],
] as const;
