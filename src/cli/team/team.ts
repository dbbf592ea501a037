import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, resolve } from "node:path";
import type { Knack } from "../../open.ts";
import type { ArrivedEntry, TeamRole } from "../../store/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, unknownName, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { notDone } from "../screen/changes.ts";
import { askYesNo, canAsk } from "../screen/screen.ts";
import { formatTime, iso, oneLine } from "../screen/text.ts";
import { parseOneOf } from "../select.ts";
import { type OpenCall, runSubcommand, type Subcommands, takes } from "../subcommands.ts";
import { acceptShares, askAuthor, listInbox, rejectShares } from "./inbox.ts";
import { describeEntries } from "./share.ts";

const args = {
  words: arg.words(
    "status (default), inbox, accept <id|@member>, reject <id|@member>, ask @member, sync, members, invite <name>, remove <name>, policy [<members>|off], create <postgres url>, join, leave, export, delete",
  ),
  from: arg.option("with create and join: a file with the address that only you can read"),
  name: arg.option("with create: what the team is called"),
  as: arg.option("with create: your name in the team (default: your login on this machine)"),
  role: arg.option("with invite and role: reader, member or maintainer"),
  repositories: arg.option("with invite and role: only these, with commas (default: all)"),
  withdraw: arg.flag("with remove: withdraw everything they shared; with leave: also what you accepted"),
  out: { ...arg.option("with export: the file"), alias: "o" },
  yes: arg.flag("with delete: do not ask"),
  ...arg.dryRun,
  ...arg.json,
};

type TeamCall = CommandCall<typeof args>;
type OpenTeamCall = OpenCall<TeamCall>;

/** Opens the person's own home, also for a dry run, which writes nothing there. */
function inTeam(
  run: (call: OpenTeamCall, word: string) => Promise<number>,
  readWord = takesNone,
  { create = false } = {},
): Subcommands<TeamCall>[string] {
  return (call, typed, name) => {
    const word = readWord(typed, name);
    const options = { dryRun: false, create, changes: !call.dryRun };
    return withKnack(call, (knack) => run({ ...call, knack }, word), options);
  };
}

const takesNone = (typed: readonly string[], name: string) => {
  if (typed.length === 0) return "";
  throw wrongUsage(`knack ${name} takes no arguments, got "${typed.join(" ")}".`);
};
const optional = (typed: readonly string[]) => typed.join(" ");
const aMember = takes("the name of a member", "knack team members lists them.");
const someShares = takes("ids, or @ with a member's name", "knack team inbox lists what waits.", {
  several: true,
});

const subcommands: Subcommands<TeamCall> = {
  list: inTeam(showStatus),
  status: inTeam(showStatus),
  inbox: inTeam(listInbox),
  accept: inTeam(acceptShares, someShares),
  reject: inTeam(rejectShares, someShares),
  ask: inTeam(askAuthor, someShares),
  sync: inTeam(sync),
  members: inTeam(listMembers),
  role: inTeam(changeRole, aMember),
  invite: inTeam(invite, takes("a name", "knack team invite ana")),
  remove: inTeam(remove, aMember),
  policy: inTeam(policy, optional),
  create: inTeam(create, optional, { create: true }),
  join: inTeam(join, optional, { create: true }),
  leave: inTeam(leave),
  export: inTeam(exportTeam),
  delete: inTeam(deleteTeam),
};

export const team = defineCommand({
  about: "Share lessons with a team, over a PostgreSQL of your own. Nothing of others is told before a yes.",
  args,
  completes: [Object.keys(subcommands)],
  run: (call: TeamCall) => runSubcommand("team", subcommands, call),
});

async function showStatus(call: OpenTeamCall): Promise<number> {
  const { knack, screen } = call;
  const state = knack.team();
  if (state === null)
    return call.refuse({ team: null }, [
      "This machine is in no team.",
      `  Make one: ${screen.knack} team create <postgres url>. Join one: ${screen.knack} team join --from <the file of your invitation>`,
    ]);
  const { chains, unsent } = await knack.teamChains();
  const received = await knack.received();
  const shared = (await knack.sharedThings()).size;
  const rules = await knack.teamRules();
  const self = state.members.find(({ id }) => id === state.self);
  const waiting = received.filter(({ status }) => status === "waiting");
  const nameAuthor = (id: string) => state.members.find((one) => one.id === id)?.name ?? id;
  const faults = chains.flatMap(({ author, places, entries }) =>
    entries > places
      ? `one of ${nameAuthor(author)}'s machines has two histories: it was restored or copied`
      : [],
  );
  const refused = Object.entries(state.refused).flatMap(([author, reasons]) =>
    Object.entries(reasons).map(([because, count]) => ({ author, because, count })),
  );
  const left = Object.values(state.left).filter(({ verdict }) => verdict === "refused");
  return call.answer(
    {
      team: { id: state.team, name: state.name },
      self: { id: state.self, name: self?.name ?? state.self, role: self?.role ?? null },
      ...{ members: state.members.filter(({ removedAt }) => removedAt === null).length },
      ...{ shared, unsent, waiting: waiting.length },
      accepted: received.filter(({ status }) => status === "accepted").length,
      ...{
        syncedAt: iso(state.syncedAt),
        failed: state.failed && { ...state.failed, at: iso(state.failed.at) },
      },
      policy: { yes: rules.yes, distrusted: [...rules.distrusted] },
      ...{ faults, refused, dangerous: left.length },
    },
    [
      `${screen.bold(state.name)}: you are ${self?.name ?? state.self}${self ? `, ${self.role}` : ""}, of ${several(state.members.filter(({ removedAt }) => removedAt === null).length, "member")}.`,
      state.syncedAt === null
        ? `Not synced yet: ${screen.knack} team sync`
        : `Last synced ${formatTime(state.syncedAt)}.`,
      state.failed &&
        `The last sync failed (${formatTime(state.failed.at)}): ${oneLine(state.failed.because, 200)}`,
      "",
      `You share ${several(shared, "lesson or skill", "lessons and skills")}${unsent > 0 ? `; ${several(unsent, "entry waits", "entries wait")} for the next sync` : ""}.`,
      received.length === 0
        ? "Nothing that others share is for a project of this machine yet."
        : `Of others: ${received.length - waiting.length} accepted, ${waiting.length} wait for you${waiting.length > 0 ? `: ${screen.knack} team inbox` : "."}`,
      rules.yes !== null &&
        `Accepted without asking: lessons to which ${several(rules.yes, "member")} said yes.`,
      faults.map((fault) => `! ${fault}`),
      refused.map(
        ({ author, because, count }) =>
          `! ${several(count, "entry", "entries")} in the name of ${oneLine(nameAuthor(author), 40)} refused: ${because}`,
      ),
      left.length > 0 &&
        `! ${several(left.length, "share")} not offered to you: ${oneLine(left[0]?.because ?? "", 160)}`,
    ],
  );
}

async function sync(call: OpenTeamCall): Promise<number> {
  const { knack, screen, dryRun } = call;
  if (dryRun) {
    const entries = await knack.unsentEntries();
    return call.answer({ done: false, entries }, [
      describeEntries(entries, knack.teamAddress().shown),
      "Nothing was sent or read (--dry-run).",
    ]);
  }
  const synced = await knack.syncTeam();
  if (synced.busy)
    return call.refuse({ done: false, ...synced }, [notDone("another process is syncing with the team")]);
  const waiting = await knack.countWaiting();
  return call.answer({ done: true, ...synced, waiting }, [
    `Sent ${several(synced.sent, "entry", "entries")}, received ${synced.received}${synced.refused > 0 ? `, refused ${synced.refused}: ${screen.knack} team status` : ""}.`,
    synced.accepted > 0 && `${several(synced.accepted, "lesson")} accepted, as you or the team decided.`,
    synced.withdrawn > 0 &&
      `${several(synced.withdrawn, "lesson")} withdrawn, because nobody shares them any more.`,
    waiting > 0 &&
      `${several(waiting, "thing waits", "things wait")} for your decision: ${screen.knack} team inbox`,
  ]);
}

// --- Being in a team ---

function readAddress(call: OpenTeamCall, word: string) {
  const { knack, args: given } = call;
  if (word !== "" && given.from !== undefined)
    throw wrongUsage("An address and --from were both given.", "Give one of them.");
  return knack.projectAt(process.cwd()).then(({ root }) =>
    knack.teamAddress({
      typed: word === "" ? undefined : word,
      file: given.from === undefined ? undefined : resolve(given.from),
      repository: root,
    }),
  );
}

async function create(call: OpenTeamCall, word: string): Promise<number> {
  const { knack, args: given, screen, dryRun } = call;
  const address = await readAddress(call, word);
  const person = given.as ?? userInfo().username;
  const name = given.name ?? basename(new URL(address.url).pathname);
  if (dryRun)
    return call.answer({ done: false, name, person, database: address.shown }, [
      `Would make the team ${name} in ${address.shown}, with you as ${person}.`,
    ]);
  const joined = await knack.createTeam(address, { name, person });
  await knack.syncTeam();
  return call.answer({ done: true, database: address.shown, ...joined }, [
    `Made the team ${name} in ${address.shown}. You are ${joined.self.name}, its maintainer, with a login of your own.`,
    `  Next: ${screen.knack} team invite <name>, and ${screen.knack} share <lesson>`,
  ]);
}

async function join(call: OpenTeamCall, word: string): Promise<number> {
  const { knack, screen, dryRun } = call;
  const address = await readAddress(call, word);
  const joined = await knack.joinTeam(address, { dryRun });
  if (dryRun)
    return call.answer({ done: false, ...joined }, [`Would join ${joined.name} as ${joined.self.name}.`]);
  const synced = await knack.syncTeam();
  const waiting = await knack.countWaiting();
  return call.answer({ done: true, ...joined, received: synced.received, waiting }, [
    `Joined ${joined.name} as ${joined.self.name} (${joined.self.role}); read ${several(synced.received, "entry", "entries")}.`,
    waiting > 0
      ? `  ${several(waiting, "thing waits", "things wait")} for your decision: ${screen.knack} team inbox`
      : `  Share what you have kept: ${screen.knack} share <lesson>`,
  ]);
}

async function leave(call: OpenTeamCall): Promise<number> {
  const { knack, args: given, dryRun } = call;
  const name = knack.team()?.name ?? "the team";
  const withdrawn = dryRun ? 0 : await knack.leaveTeam({ withdraw: given.withdraw === true });
  return call.answer({ done: !dryRun, withdrawn }, [
    `${dryRun ? "Would leave" : "Left"} ${name}: this machine's key, address and copy of the ledger ${dryRun ? "would be" : "are"} gone.`,
    "  What you shared stays with the team; take it back before you leave, with knack share --undo <lesson>.",
  ]);
}

// --- Members ---

async function listMembers(call: OpenTeamCall): Promise<number> {
  const members = await call.knack.teamMembers();
  const rows = members.map(({ name, role, repositories, removedAt }) => [
    oneLine(name, 40),
    role,
    repositories === null ? "all" : oneLine(repositories.join(", "), 60),
    removedAt === null ? "" : `removed ${formatTime(removedAt)}`,
  ]);
  return call.answer({ members }, call.screen.table(["name", "role", "repositories", ""], rows));
}

const roles: readonly TeamRole[] = ["reader", "member", "maintainer"];

function readRepositories(word: string | undefined): string[] | null {
  return word === undefined ? null : word.split(",").map((one) => one.trim());
}

async function invite(call: OpenTeamCall, word: string): Promise<number> {
  const { knack, args: given, screen, dryRun } = call;
  const role = parseOneOf("role", given.role, roles) ?? "member";
  if (dryRun)
    return call.answer({ done: false, name: word, role }, [`Would make a login for ${word}, as ${role}.`]);
  const { path, isOwn } = await knack.invite(word, role, readRepositories(given.repositories));
  if (isOwn)
    return call.answer({ done: true, name: word, path }, [
      `Made an invitation for another machine of yours: ${screen.path(path)}. Your password is in it.`,
      "  Bring it there as you would a password, then delete it. Run there: knack team join --from <file>",
    ]);
  return call.answer({ done: true, name: word, role, path }, [
    `Made a login for ${word}, as ${role}. Its address and password are in ${screen.path(path)}, and nowhere else.`,
    `  Give that file to ${word} as you would a password; then delete it. They run: knack team join --from <file>`,
  ]);
}

async function findMember(knack: Knack, word: string) {
  const members = await knack.teamMembers();
  const found = members.find(({ id, name }) => id === word || name === word);
  if (found) return found;
  throw unknownName(
    `No member is called "${word}".`,
    `Members: ${members.map(({ name }) => name).join(", ")}`,
  );
}

async function changeRole(call: OpenTeamCall, word: string): Promise<number> {
  const { knack, args: given, dryRun } = call;
  const { id, name, ...now } = await findMember(knack, word);
  const role = parseOneOf("role", given.role, roles) ?? now.role;
  const repositories =
    given.repositories === undefined ? now.repositories : readRepositories(given.repositories);
  if (!dryRun) await knack.changeMember(id, { role, repositories });
  return call.answer({ done: !dryRun, name, role, repositories }, [
    `${name} ${dryRun ? "would be" : "is"} ${role}, for ${repositories === null ? "all repositories" : repositories.join(", ")}.`,
  ]);
}

async function remove(call: OpenTeamCall, word: string): Promise<number> {
  const { knack, args: given, screen, dryRun } = call;
  const { id, name } = await findMember(knack, word);
  const withdraw = given.withdraw === true;
  if (!dryRun) {
    await knack.removeMember(id);
    if (withdraw) await knack.distrust(id, true);
    await knack.syncTeam();
  }
  return call.answer({ done: !dryRun, name, withdrawn: withdraw }, [
    `${name}'s login ${dryRun ? "would end" : "has ended"}.`,
    withdraw
      ? `What they shared ${dryRun ? "would be" : "is"} withdrawn; each machine takes it away with its next sync.`
      : `What they shared stays. To withdraw all of it: ${screen.knack} team remove ${name} --withdraw`,
  ]);
}

async function policy(call: OpenTeamCall, word: string): Promise<number> {
  const { knack, screen, dryRun } = call;
  const describe = (yes: number | null) =>
    yes === null
      ? "Each person decides about every lesson of others."
      : `A lesson is accepted on every machine when ${several(yes, "member")} besides its author said yes and none said no. A person's no wins on their machine.`;
  if (word === "") {
    const { yes } = await knack.teamRules();
    return call.answer({ yes }, [describe(yes)]);
  }
  if (word !== "off" && !/^[1-9]\d{0,2}$/.test(word))
    throw wrongUsage(
      `"${word}" is no number of members.`,
      `${screen.knack} team policy 2, or ${screen.knack} team policy off`,
    );
  const yes = word === "off" ? null : Number(word);
  const state = knack.team();
  const role = state?.members.find(({ id }) => id === state.self)?.role;
  if (role !== undefined && role !== "maintainer")
    return call.refuse({ done: false, yes: null, because: "only maintainers decide" }, [
      notDone(`only maintainers set the team's policy, and you are a ${role}`),
    ]);
  if (!dryRun) {
    await knack.setPolicy(yes);
    await knack.syncTeam();
  }
  return call.answer({ done: !dryRun, yes }, [describe(yes), dryRun && "Nothing was changed (--dry-run)."]);
}

// --- All of it ---

async function exportTeam(call: OpenTeamCall): Promise<number> {
  const { knack, args: given, screen, dryRun } = call;
  const shown: ArrivedEntry[] = [];
  const file = given.out === undefined || dryRun ? null : openSync(given.out, "wx", 0o600);
  const { count, missing } = await knack
    .exportTeam((entries) => {
      if (given.out === undefined) shown.push(...entries);
      if (file !== null) writeSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    })
    .catch((error: unknown) => {
      // Half a file would pass for all of it.
      if (given.out !== undefined && file !== null) rmSync(given.out);
      throw error;
    })
    .finally(() => file !== null && closeSync(file));
  const nameAuthor = (id: string) => knack.team()?.members.find((one) => one.id === id)?.name ?? id;
  const gaps = missing.map(
    ({ author, entries }) =>
      `! ${several(entries, "entry", "entries")} of ${oneLine(nameAuthor(author), 40)} ${entries === 1 ? "is" : "are"} missing in the team's database.`,
  );
  if (given.out === undefined)
    return call.answer({ entries: shown, missing }, [shown.map((entry) => JSON.stringify(entry)), gaps]);
  return call.answer({ done: !dryRun, entries: count, path: given.out, missing }, [
    `${dryRun ? "Would write" : "Wrote"} ${several(count, "entry", "entries")} to ${screen.path(given.out)}.`,
    gaps,
  ]);
}

async function deleteTeam(call: OpenTeamCall): Promise<number> {
  const { knack, args: given, screen, dryRun } = call;
  const name = knack.team()?.name ?? "";
  const address = await readAddress(call, "");
  const members = await knack.teamMembers();
  const what = `the team ${name} with every entry and the logins of ${several(members.length, "member")}`;
  if (dryRun) return call.answer({ done: false, name }, [`Would delete ${what} from ${address.shown}.`]);
  if (!given.yes && !canAsk())
    throw wrongUsage("knack team delete needs a terminal to ask in.", `${screen.knack} team delete --yes`);
  if (!given.yes && (await askYesNo(`Delete ${what}? It cannot be undone.`, false)) !== true)
    return call.refuse({ done: false, name }, [notDone("you said no")]);
  await knack.deleteTeam(address);
  return call.answer({ done: true, name }, [`Deleted ${what}.`]);
}
