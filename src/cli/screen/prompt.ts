import { createInterface } from "node:readline";

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * A person's answer; null when they left instead (Ctrl-C, Ctrl-D).
 *
 * Plain readline rather than a prompt library: questions are answered by a letter or by Enter, Ctrl-D must leave,
 * an editor may take the terminal between two questions, and what was asked and answered stays readable above.
 */
export function ask(question: string): Promise<string | null> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve) => {
    reader.on("SIGINT", () => reader.close());
    reader.on("close", () => resolve(null));
    reader.question(question, (answer) => {
      resolve(answer.trim().toLowerCase());
      reader.close();
    });
  });
}

/** A person's yes or no; null when they left. */
export async function askYesNo(question: string, standard: boolean): Promise<boolean | null> {
  for (;;) {
    const answer = await ask(`${question} ${standard ? "[Y/n]" : "[y/N]"} `);
    if (answer === null) return null;
    if (answer === "") return standard;
    if (["y", "yes"].includes(answer)) return true;
    if (["n", "no"].includes(answer)) return false;
  }
}
