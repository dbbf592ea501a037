/** One thing that installing or uninstalling does to the disk, as a person is told of it. */
export interface Act {
  readonly path: string;
  readonly what: "write" | "remove";
  readonly says: string;
}

/** An act, and how it is done. */
export interface Deed extends Act {
  perform(): Promise<void>;
}

export function actOf({ path, what, says }: Deed): Act {
  return { path, what, says };
}
