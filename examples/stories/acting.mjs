import { setTimeout as pause } from "node:timers/promises";

export { pause };

// A question passes over keys pressed just as it appears, lest someone who is typing answers it.
const settled = 1000;

/** Gives Claude Code the leave it asks for, once. */
export async function allow(terminal) {
  await pause(settled);
  await terminal.presses("Enter");
}

/** Declines what Claude Code asks leave for, and says why. */
export async function refuse(terminal, words) {
  await pause(settled);
  const number = Number(/(\d)\. No\b/.exec(await terminal.screen())?.[1]);
  await terminal.presses(...Array(number - 1).fill("Down"), "Tab"); // Tab makes room for words beside the answer
  await terminal.says(words);
}
