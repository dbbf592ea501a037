import { existsSync, readFileSync } from "node:fs";
import { homeOf } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import type { SignalGiven } from "../core/signal.ts";
import type { ReplyTaken } from "../engine/signal.ts";
import { type Knack, openKnack } from "../open.ts";
import type { Env } from "./main.ts";
import { changing } from "./opening.ts";
import { runNamed } from "./rate.ts";
import { calledAs, onOneLine, printJson, printLines } from "./terminal.ts";

interface TakeCall {
  readonly args: {
    readonly session?: string | undefined;
    readonly json?: boolean | undefined;
    readonly "dry-run"?: boolean | undefined;
  };
  readonly env: Env;
}

/** Takes an agent's structured reply from a file, or from standard input. Exit 1 when something of it does not count. */
export async function take({ args, env }: TakeCall, words: readonly string[]): Promise<number> {
  const [file, ...more] = words;
  if (file === undefined || more.length > 0 || args.session === undefined)
    throw new KnackError("WRONG_USAGE", "knack review take needs a file, or -, and the session it is of.", {
      hint: `${calledAs(env)} review take reply.json --session <id>; its form: ${calledAs(env)} schema reply`,
    });
  const reply = jsonIn(file === "-" ? await standardInput() : textAt(file));
  const dryRun = args["dry-run"] === true;
  const { session } = args;
  return taking(env, dryRun, async (knack) => {
    const present = await knack.present({
      session: await runNamed(knack, session),
      ...{ callId: null, turn: null, kind: "foreground", cwd: process.cwd(), format: null, model: null },
    });
    const taken = await knack.takeReply(present, reply);
    if (args.json) printJson({ ...taken, noted: !dryRun });
    else printLines(linesOf(taken, dryRun));
    return taken.problems.length === 0 && taken.signals.every(({ refusal }) => refusal === null) ? 0 : 1;
  });
}

/** A dry run takes it in a copy: whether it counts depends on the sessions and on all that was said before. */
async function taking(env: Env, dryRun: boolean, work: (knack: Knack) => Promise<number>): Promise<number> {
  if (!dryRun || !existsSync(homeOf(env).database)) return changing(env, { dryRun }, work);
  const knack = await openKnack({ env, copy: true });
  try {
    return await work(knack);
  } finally {
    await knack.close();
  }
}

function textAt(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new KnackError("WRONG_USAGE", `${file} cannot be read.`, { hint: "Name a file, or -.", cause });
  }
}

async function standardInput(): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

function jsonIn(text: string): unknown {
  if (text.length > policy.protocol.replyChars)
    throw new KnackError("WRONG_USAGE", `A reply has at most ${policy.protocol.replyChars} characters.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KnackError("WRONG_USAGE", "The reply is no JSON.", {
      hint: "Its form: knack schema reply",
      cause,
    });
  }
}

function linesOf({ receipts, signals, problems }: ReplyTaken, dryRun: boolean): string[] {
  const lines = [
    ...receipts.map((text) => onOneLine(text, 200)),
    ...signals.map((given) => lineOf(given, dryRun)),
    ...problems.map((text) => `Not taken: ${onOneLine(text, 200)}`),
  ];
  return lines.length > 0 ? lines : ["It reports nothing."];
}

function lineOf({ signal, refusal, message }: SignalGiven, dryRun: boolean): string {
  const name = signal === null ? "a signal" : signal.kind === "create" ? signal.nameHint : signal.skill;
  return refusal === null
    ? `${dryRun ? "Would be noted" : "Noted"} for a review: ${onOneLine(name, 80)}`
    : `Does not count (${refusal}): ${onOneLine(name, 80)}: ${onOneLine(message, 200)}`;
}
