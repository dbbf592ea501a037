import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { jsonBytes, KnackError, readPlainText, writeFileAtomically } from "../base/index.ts";
import { type Env, type Home, isWithin } from "../settings/index.ts";
import { type PostgresAddress, parseAddress, readAddressFile } from "../store/index.ts";
import type { TeamDigest } from "./digest.ts";
import { type MachineKey, makeMachineKey, readMachineKey } from "./signing.ts";
import { trustShape } from "./trust.ts";

const member = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(["reader", "member", "maintainer"]),
  removedAt: z.nullable(z.number()),
});

const shape = z.object({
  /** The team, and who this person is in it. */
  team: z.string(),
  name: z.string(),
  self: z.string(),
  /** How far the team's ledger was read for each repository ("" for none), its workers' digests, and when it last was. */
  cursors: z.record(z.string(), z.number()),
  digestsAt: z.number(),
  syncedAt: z.nullable(z.number()),
  /** Why the last sync did not come to its end, and when that was. */
  failed: z.nullable(z.object({ at: z.number(), because: z.string() })),
  /** The members as they were then. */
  members: z.array(member),
  /** Whose machines are believed. */
  trust: trustShape,
  /** By which this machine shows that its member was invited; null for the one that made the team. */
  voucher: z.nullable(z.object({ key: z.string(), signature: z.string() })),
  /** How many entries of each author were not taken in, by the reason. */
  refused: z.record(z.string(), z.record(z.string(), z.number())),
  /** Shares that are not put before the person, and why: they have the same already, or it is dangerous. */
  left: z.record(z.string(), z.object({ verdict: z.string(), because: z.string() })),
  /** What decided about all shares alike when they were last taken in; "" while something that came is not. */
  taken: z.string(),
});

/** What this machine knows of its team, beside the ledger itself. */
export type TeamState = z.infer<typeof shape>;

/** This machine's files for its team, in a folder that only the person may enter. */
export function openTeamFolder({ team: folder }: Pick<Home, "team">) {
  const paths = {
    state: join(folder, "team.json"),
    digests: join(folder, "digests.json"),
    address: join(folder, "address"),
    key: join(folder, "machine.key"),
  };
  const write = (path: string, text: string) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    writeFileAtomically(path, [Buffer.from(text)], 0o600);
  };
  return {
    ...paths,
    readState: (): TeamState | null => {
      const text = readPlainText(paths.state, { maxBytes: 64 << 20 });
      return text === null ? null : parseState(text, paths.state);
    },
    writeState: (state: TeamState) => write(paths.state, String(Buffer.concat(jsonBytes(state)))),
    /** What the team's workers computed, as it was last fetched; it was checked then. */
    readDigests: (): TeamDigest[] =>
      JSON.parse(readPlainText(paths.digests, { maxBytes: 256 << 20 }) ?? "[]"),
    writeDigests: (digests: readonly TeamDigest[]) => write(paths.digests, JSON.stringify(digests)),
    /** The machine's key, made when it is first asked for. */
    key: (): MachineKey => {
      const known = readPlainText(paths.key);
      if (known !== null) return readMachineKey(known);
      const made = makeMachineKey();
      write(paths.key, made.secret);
      return made;
    },
    writeAddress: (url: string) => write(paths.address, `${url}\n`),
    /** A file for somebody else: their address with their password. */
    writeInvitation: (name: string, url: string): string => {
      const path = join(folder, `invitation-${name}`);
      write(path, `${url}\n`);
      return path;
    },
    clear: () => {
      for (const path of Object.values(paths)) if (existsSync(path)) rmSync(path);
    },
  };
}

export type TeamFolder = ReturnType<typeof openTeamFolder>;

function parseState(text: string, path: string): TeamState {
  try {
    return z.parse(shape, JSON.parse(text));
  } catch (cause) {
    throw new KnackError("CONFIG_BROKEN", `${path} is not what Knack wrote.`, {
      hint: "Remove it and join again with your invitation: knack team join --from <file>",
      cause,
    });
  }
}

/** Where an address may be given: the environment, a file, or what was kept when the person joined. */
export interface AddressSource {
  /** As it was typed, without a password. */
  readonly typed?: string | undefined;
  readonly file?: string | undefined;
  /** Folders that are no place for a password: the repositories. */
  readonly repository?: string | null;
}

/** The address of the team's database, with the password. */
export function findAddress(
  folder: TeamFolder,
  env: Env,
  { typed, file, repository = null }: AddressSource = {},
): PostgresAddress {
  const password = env.KNACK_TEAM_PASSWORD;
  if (typed !== undefined) return addPassword(parseAddress(typed), typed, password);
  if (file !== undefined && repository !== null && isWithin(repository, file))
    throw new KnackError(
      "TEAM_REFUSED",
      `${file} lies in a repository, where others may read or replace it.`,
      {
        hint: "Move it to your home folder.",
      },
    );
  const found = file === undefined ? null : readAddressFile(file);
  if (file !== undefined && found === null)
    throw new KnackError("NOTHING_READABLE", `There is no file ${file}.`);
  if (found) return found;
  if (env.KNACK_TEAM_URL) return addPassword(parseAddress(env.KNACK_TEAM_URL), null, password);
  const kept = readAddressFile(folder.address);
  if (kept) return kept;
  throw new KnackError("WRONG_USAGE", "The address of the team's database is not known.", {
    hint: "Set KNACK_TEAM_URL, or give the file of your invitation: knack team join --from <file>",
  });
}

/** Everybody on a machine can read the command line of a process. */
function addPassword(
  address: PostgresAddress,
  typed: string | null,
  password: string | undefined,
): PostgresAddress {
  const url = new URL(address.url);
  if (typed !== null && url.password !== "")
    throw new KnackError(
      "TEAM_REFUSED",
      "A password on the command line can be read by others on this machine.",
      {
        hint: "Leave it out of the address and set KNACK_TEAM_PASSWORD, or put the whole address into a file: knack team create --from <file>",
      },
    );
  if (url.password === "" && password !== undefined) url.password = encodeURIComponent(password);
  return { ...address, url: url.href };
}

/** The address by which another login reaches the same database. */
export function withLogin(
  { url }: PostgresAddress,
  { login, password }: { readonly login: string; readonly password: string },
): string {
  const next = new URL(url);
  next.username = login;
  next.password = password;
  return next.href;
}
