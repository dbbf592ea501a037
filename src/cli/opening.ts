import { existsSync } from "node:fs";
import { homeOf } from "../config.ts";
import { type Knack, openKnack } from "../open.ts";
import { repairAloud } from "./learn.ts";
import type { Env } from "./main.ts";

/** Opens what is there for a command that looks or changes what is kept; a home that is not there is not made, unless with `make`. */
export async function withKnack<T>(
  env: Env,
  { dryRun = false, make = false }: { readonly dryRun?: boolean; readonly make?: boolean },
  work: (knack: Knack) => Promise<T>,
): Promise<T> {
  const nothing = dryRun || (!make && !existsSync(homeOf(env).database));
  const knack = await openKnack({ env, dryRun: nothing });
  try {
    if (!nothing) await repairAloud(knack, env);
    return await work(knack);
  } finally {
    await knack.close();
  }
}

/** The same for a command that changes something: what a person decides holds at once, also for the hooks. */
export async function changing<T>(
  env: Env,
  { dryRun, make = false }: { readonly dryRun: boolean; readonly make?: boolean },
  work: (knack: Knack) => Promise<T>,
): Promise<T> {
  return withKnack(env, { dryRun, make }, async (knack) => {
    const done = await work(knack);
    if (!dryRun && existsSync(homeOf(env).database)) await knack.renewSnapshot();
    return done;
  });
}
