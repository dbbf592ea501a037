import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import * as z from "zod/mini";
import type { TeamEntry } from "../records/index.ts";
import { computeEntryId, type SignedEntry } from "../store/index.ts";

/** The key of a machine, by which what it says can be told from what others say in its name. */
export interface MachineKey {
  readonly machine: string;
  /** Base64 of its DER form. */
  readonly publicKey: string;
  /** PEM; it never leaves this machine. */
  readonly secret: string;
  readonly privateKey: KeyObject;
}

/** An entry before it has its place in a chain. */
export type TeamDraft = Pick<TeamEntry, "repository" | "at" | "kind" | "subject"> & { readonly body: object };

export function makeMachineKey(): MachineKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  return readMachineKey(privateKey.export({ type: "pkcs8", format: "pem" }) as string);
}

export function makeTeamId(): string {
  return randomBytes(5).toString("hex");
}

export function readMachineKey(secret: string): MachineKey {
  const privateKey = createPrivateKey(secret);
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const publicKey = der.toString("base64");
  return { machine: nameMachine(publicKey), publicKey, secret, privateKey };
}

/** A machine is called by its key, so that no other key can go by its name. */
export function nameMachine(publicKey: string): string {
  return hashText(publicKey).slice(0, 32);
}

/** What is shared goes by its words and whom they are for. */
export function nameShare(repository: string | null, body: string): string {
  return hashText(`${repository ?? ""}\n${body}`).slice(0, 40);
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Gives a draft its place after the last entry of the machine's chain, the machine's signature, and its id. */
export function sealEntry(
  { repository, at, kind, subject, body }: TeamDraft,
  { team, author, sequence, previous }: Pick<TeamEntry, "team" | "author" | "sequence" | "previous">,
  key: MachineKey,
): TeamEntry {
  const said = { team, repository, machine: key.machine, author, sequence, previous, at, kind, subject };
  const content = JSON.stringify({ ...said, body });
  const signature = signText(content, key);
  return {
    ...{ id: computeEntryId({ content, signature }), content, signature },
    ...{ ...said, body: JSON.stringify(body) },
  };
}

const shape = z.object({
  team: z.string(),
  repository: z.nullable(z.string()),
  machine: z.string(),
  author: z.string(),
  sequence: z.int().check(z.gte(1)),
  previous: z.string(),
  at: z.int(),
  kind: z.string(),
  subject: z.string(),
  body: z.looseObject({}),
});

/** What an entry says; null where it is none. One of a kind that this Knack does not know yet is kept for a later one. */
export function readEntry(signed: SignedEntry): TeamEntry | null {
  try {
    const parsed = z.safeParse(shape, JSON.parse(signed.content));
    if (!parsed.success) return null;
    const { body, kind, ...said } = parsed.data;
    const { id, content, signature } = signed;
    return { ...said, id, content, signature, kind: kind as TeamEntry["kind"], body: JSON.stringify(body) };
  } catch {
    return null;
  }
}

export function signText(text: string, { privateKey }: Pick<MachineKey, "privateKey">): string {
  return sign(null, Buffer.from(text), privateKey).toString("base64");
}

/** The key of a new invitation: the private one for who is invited, the public one for everybody else. */
export function makeInvitationKey(): { readonly key: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    key: privateKey.export({ type: "pkcs8", format: "der" }).toString("base64url"),
    publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
  };
}

/** Signs with an invitation's key, and says which that is; null where it is none. */
export function signWithInvitation(
  key: string,
  text: string,
): { readonly key: string; readonly signature: string } | null {
  try {
    const privateKey = createPrivateKey({ key: Buffer.from(key, "base64url"), type: "pkcs8", format: "der" });
    const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
    return { key: publicKey.toString("base64"), signature: signText(text, { privateKey }) };
  } catch {
    return null;
  }
}

type SignatureCheck = (signed: Pick<SignedEntry, "content" | "signature">, publicKey: string) => boolean;

/** Checks signatures; each public key is read once, because that takes as long as checking. */
export function createSignatureCheck(): SignatureCheck {
  const keys = new Map<string, KeyObject>();
  return ({ content, signature }, publicKey) => {
    try {
      const key =
        keys.get(publicKey) ??
        createPublicKey({ key: Buffer.from(publicKey, "base64"), type: "spki", format: "der" });
      keys.set(publicKey, key);
      return verify(null, Buffer.from(content), key, Buffer.from(signature, "base64"));
    } catch {
      return false;
    }
  };
}
