import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { statSync } from "node:fs";
import { errorMessage, KnackError, readPlainText } from "../../base/index.ts";

/** Where a team's database is, and who one is there. Never from a repository, and never on a command line. */
export interface PostgresAddress {
  /** With the password in it: never shown. */
  readonly url: string;
  /** The invitation to a team, which may stand after a "#"; "" where there is none. */
  readonly invitation: string;
  /** Without name and password, for messages. */
  readonly shown: string;
  readonly isLoopback: boolean;
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** What an address may carry besides name, password, host and database: certificates. */
const options = ["sslmode", "sslrootcert", "sslcert", "sslkey"];
const encrypted = ["require", "verify-ca", "verify-full"];

/** Reads an address, and refuses one whose connection would not be encrypted. */
export function parseAddress(text: string): PostgresAddress {
  const url = readUrl(text.trim());
  const invitation = url.hash.slice(1);
  url.hash = "";
  const isLoopback = loopback.test(url.hostname);
  const mode = url.searchParams.get("sslmode");
  const shown = `${url.hostname}${url.port && `:${url.port}`}${url.pathname}`;
  if (!isLoopback && mode !== null && !encrypted.includes(mode))
    throw new KnackError(
      "TEAM_REFUSED",
      `The connection to ${shown} would not be encrypted and checked (sslmode=${mode}).`,
      {
        hint: "Remove sslmode from the address. If the server's certificate is signed by an authority of your own, name that with sslrootcert=<file>.",
      },
    );
  if (!isLoopback) url.searchParams.set("sslmode", "verify-full");
  return { url: url.href, invitation, shown, isLoopback };
}

function readUrl(text: string): URL {
  const wrong = (why: string, cause?: unknown) =>
    new KnackError("WRONG_USAGE", `The address of the team's database is not usable: ${why}.`, {
      hint: "It looks like postgres://name:password@host:5432/database.",
      cause,
    });
  try {
    const url = new URL(text);
    if (!["postgres:", "postgresql:"].includes(url.protocol))
      throw wrong("it does not begin with postgres://");
    if (url.hostname === "" || url.pathname.length < 2) throw wrong("host and database must be named");
    const strange = [...url.searchParams.keys()].find((name) => !options.includes(name));
    if (strange !== undefined)
      throw wrong(`"${strange}" is not an option it may have (${options.join(", ")})`);
    return url;
  } catch (error) {
    // The message of the platform would show the password.
    throw error instanceof KnackError ? error : wrong("it is not a URL");
  }
}

/** Reads an address from a file that nobody but its owner may read; null where there is none. */
export function readAddressFile(path: string): PostgresAddress | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0)
    throw new KnackError("TEAM_REFUSED", `${path} holds a password and can be read by others.`, {
      hint: `Run: chmod 600 ${path}`,
    });
  return parseAddress(readPlainText(path, { maxBytes: 10_000 }) ?? "");
}

/** A failure of the database in words; any other error is passed on. */
export function explainPostgresError(cause: unknown, { shown }: Pick<PostgresAddress, "shown">): unknown {
  const { code = "" } = cause as { code?: string };
  const explain = (
    message: string,
    hint: string,
    kind: "TEAM_UNAVAILABLE" | "TEAM_REFUSED" = "TEAM_REFUSED",
  ) => new KnackError(kind, message, { hint, cause });
  if (code === "28P01" || code === "28000")
    return explain(
      `The database ${shown} refused the login.`,
      "Check name and password, or ask a maintainer of the team for a new invitation.",
    );
  if (/client password must be a string/.test(errorMessage(cause)))
    return explain(
      `The database ${shown} asks for a password, and none was given.`,
      "Set KNACK_TEAM_PASSWORD, or put the whole address into a file that only you can read: --from <file>",
    );
  if (code === "3D000") return explain(`There is no database ${shown}.`, "Check the address.");
  if (code === "42501")
    return explain(
      `Your login may not do this in ${shown}: ${errorMessage(cause)}.`,
      "Ask a maintainer of the team to do it, or for another role.",
    );
  if (code === memberCode)
    return explain(
      `${errorMessage(cause)}.`,
      "Choose another name. Or remove them first: knack team remove <name>",
    );
  if (code === quotaCode)
    return explain(`${errorMessage(cause)}.`, "The rest is shared tomorrow; nothing is lost.");
  if (isConnectionFault(cause))
    return explain(
      `The database ${shown} cannot be reached: ${errorMessage(cause) || code}.`,
      "Nothing is lost: what is not shared yet is kept here and shared when the database answers again.",
      "TEAM_UNAVAILABLE",
    );
  return cause;
}

/** Raised by the database when a member shared more in a day than the team allows. */
const quotaCode = "KN001";
/** … and when somebody is invited who is a member. */
const memberCode = "KN002";

/** The network, or a server that is starting, stopping or full. */
function isConnectionFault(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  const message = errorMessage(error);
  return (
    /^(?:ECONN|ENOTFOUND|ETIMEDOUT|EAI_|EHOST|ENET|EPIPE|08|53|57P|CERT|DEPTH|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL)/.test(
      code,
    ) || /connection terminated|timeout|does not support SSL|Connection ended/i.test(message)
  );
}

/**
 * What PostgreSQL keeps of a password: sent instead of the password when a login is made, so that no log of the server
 * shows it.
 */
export function makeScramVerifier(password: string, salt: Buffer): string {
  const rounds = 4096;
  const salted = pbkdf2Sync(password, salt, rounds, 32, "sha256");
  const sign = (words: string) => createHmac("sha256", salted).update(words).digest();
  const stored = createHash("sha256").update(sign("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${rounds}:${salt.toString("base64")}$${stored}:${sign("Server Key").toString("base64")}`;
}
