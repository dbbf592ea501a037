import * as z from "zod/mini";
import type { TeamEntry } from "../records/index.ts";
import {
  createSignatureCheck,
  type MachineKey,
  nameMachine,
  signWithInvitation,
  type TeamDraft,
} from "./signing.ts";

const machine = z.object({ member: z.string(), publicKey: z.string() });
const voucher = z.object({ key: z.string(), signature: z.string() });

/** By which a machine shows that its member was invited: the invitation's public key, and its signature. */
export type Voucher = z.infer<typeof voucher>;

export const trustShape = z.object({
  /** The machine that made the team. */
  root: z.string(),
  /** Whose each machine is. */
  machines: z.record(z.string(), machine),
  /** Whom each invitation is for, by its public key. */
  invitations: z.record(z.string(), z.string()),
  /** Members who were maintainers at some time. */
  maintainers: z.array(z.string()),
});

type TrustState = z.infer<typeof trustShape>;

const registration = z.object({ key: z.string(), voucher: z.nullable(voucher) });
const invitation = z.object({ key: z.nullable(z.string()), maintainer: z.boolean() });

/** What is in an invitation besides the address: the machine to begin with, and a key of its own. */
export interface Invitation {
  readonly root: string;
  /** Base64 of the DER form of the private key. */
  readonly key: string;
}

/**
 * Whose machines are believed. It begins with the machine that made the team, whose name comes with the invitation and
 * not from the database: so whoever can write the tables of the database can neither add a machine in a member's name
 * nor make somebody a maintainer. Maintainers invite members, and each member further machines of their own.
 */
export class Trust {
  readonly #root: string;
  readonly #machines: Map<string, z.infer<typeof machine>>;
  readonly #invitations: Map<string, string>;
  readonly #maintainers: Set<string>;
  readonly #isSignedBy = createSignatureCheck();

  constructor({ root, machines, invitations, maintainers }: TrustState) {
    this.#root = root;
    this.#machines = new Map(Object.entries(machines));
    this.#invitations = new Map(Object.entries(invitations));
    this.#maintainers = new Set(maintainers);
  }

  get state(): TrustState {
    return {
      root: this.#root,
      machines: Object.fromEntries(this.#machines),
      invitations: Object.fromEntries(this.#invitations),
      maintainers: [...this.#maintainers],
    };
  }

  /** Why an entry is not its author's; null where it is. What it says of other machines is believed from then on. */
  admit(entry: TeamEntry): string | null {
    const known = this.#machines.get(entry.machine);
    const registered = known ?? this.#readRegistration(entry);
    if (typeof registered === "string") return registered;
    if (registered.member !== entry.author) return "it is signed by another member's machine";
    if (!this.#isSignedBy(entry, registered.publicKey)) return "its signature is not its machine's";
    if (!known) this.#register(entry, registered);
    return entry.kind === "member.invited" ? this.#invite(entry) : null;
  }

  /** The machine that an entry registers, or why it registers none. */
  #readRegistration({ kind, team, author, machine: name, body }: TeamEntry) {
    const unknown = "it is signed by a machine that nobody registered";
    if (kind !== "machine.registered") return unknown;
    const { success, data } = z.safeParse(registration, JSON.parse(body));
    if (!success || nameMachine(data.key) !== name) return unknown;
    const isInvited =
      name === this.#root ||
      (data.voucher !== null &&
        this.#invitations.get(data.voucher.key) === author &&
        this.#isSignedBy(
          {
            content: describeMachine({ team, member: author, machine: name }),
            signature: data.voucher.signature,
          },
          data.voucher.key,
        ));
    return isInvited
      ? { member: author, publicKey: data.key }
      : "it is signed by a machine that nobody invited";
  }

  #register({ machine: name, author }: TeamEntry, registered: z.infer<typeof machine>): void {
    this.#machines.set(name, registered);
    if (name === this.#root) this.#maintainers.add(author);
  }

  #invite({ author, subject, body }: TeamEntry): string | null {
    const isMaintainer = this.#maintainers.has(author);
    if (!isMaintainer && author !== subject) return "its author is no maintainer, who may invite others";
    const { success, data } = z.safeParse(invitation, JSON.parse(body));
    if (!success) return "it cannot be read";
    if (data.key !== null && !this.#invitations.has(data.key)) this.#invitations.set(data.key, subject);
    if (isMaintainer && data.maintainer) this.#maintainers.add(subject);
    return null;
  }
}

/** What is believed before anything was read. */
export function beginTrust(root: string): TrustState {
  return { root, machines: {}, invitations: {}, maintainers: [] };
}

function describeMachine(about: {
  readonly team: string;
  readonly member: string;
  readonly machine: string;
}) {
  return ["knack machine", about.team, about.member, about.machine].join("\n");
}

/** Says that an invitation was for this machine's member; null where it is damaged. */
export function vouchFor(
  { key }: Invitation,
  about: { readonly team: string; readonly member: string; readonly machine: string },
): Voucher | null {
  return signWithInvitation(key, describeMachine(about));
}

/** An invitation as it stands after the address. */
export function writeInvitation({ root, key }: Invitation): string {
  return new URLSearchParams({ root, key }).toString();
}

/** The invitation after an address; null where there is none. */
export function readInvitation(text: string): Invitation | null {
  const said = new URLSearchParams(text);
  const [root, key] = [said.get("root"), said.get("key")];
  return root && key ? { root, key } : null;
}

export function draftRegistration(
  { machine: subject, publicKey }: Pick<MachineKey, "machine" | "publicKey">,
  vouched: Voucher | null,
  at: number,
): TeamDraft {
  const body = { key: publicKey, voucher: vouched };
  return { repository: null, at, kind: "machine.registered", subject, body };
}

/** Invites a member, or another machine of one's own; with no key it only says that they are a maintainer. */
export function draftInvitation(
  subject: string,
  body: { readonly key: string | null; readonly maintainer: boolean },
  at: number,
): TeamDraft {
  return { repository: null, at, kind: "member.invited", subject, body };
}
