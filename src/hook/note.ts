import type { Occasion } from "../core/ledger.ts";

/** What the hook hands over to the worker: small files in the spool, each written whole and read once. */
export type Note =
  /** There is something new in a transcript. One per session: the latest takes the place of the one before. */
  | {
      readonly type: "place";
      readonly session: string;
      readonly transcript: string;
      readonly cwd: string | null;
      readonly event: string;
      readonly at: number;
    }
  | {
      readonly type: "shown";
      readonly session: string;
      readonly transcript: string | null;
      readonly project: string;
      readonly instinct: string;
      readonly occasion: Occasion;
      readonly text: string;
      readonly at: number;
    }
  | {
      readonly type: "asked";
      readonly session: string;
      readonly project: string;
      /** What the agent was asked to write down; null when it ended its turn after that. */
      readonly instinct: string | null;
      readonly at: number;
    };

/** A name that is safe in any file system. */
export function fileName(text: string): string {
  return text.replace(/[^\w.-]/g, "_").slice(0, 100);
}
