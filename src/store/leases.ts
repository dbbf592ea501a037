import { randomUUID } from "node:crypto";
import { type Clock, isRunning } from "../base/index.ts";
import type { Store } from "./port.ts";

/** Background work, which one process does at a time. */
export interface BackgroundWork {
  /** Takes a lease on a piece of work until a time; false while another running process has it. */
  claim(work: string, until: number): Promise<boolean>;
  giveBack(work: string): Promise<void>;
}

export function createBackgroundWork({ leases }: Store, clock: Clock): BackgroundWork {
  const self = `${process.pid} ${randomUUID()}`;
  return {
    claim: async (work, until) => {
      const held = await leases.holder(work);
      const dead = held && !isAlive(held.holder) ? held.holder : undefined;
      return leases.take(work, { holder: self, now: clock.now(), until, insteadOf: dead });
    },
    giveBack: (work) => leases.release(work, self),
  };
}

/** Whether a running process is at a piece of work. */
export async function isClaimed({ leases }: Store, work: string, now: number): Promise<boolean> {
  const held = await leases.holder(work);
  return held !== null && held.until > now && isAlive(held.holder);
}

function isAlive(holder: string): boolean {
  return isRunning(Number.parseInt(holder, 10));
}
