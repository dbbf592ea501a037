import { idOf } from "./ids.ts";

/** Whether something that fits is held back from a session: so often as the share says, and the same throughout it. */
export function isHeldBack(share: number, session: string, id: string): boolean {
  if (share <= 0) return false;
  const drawn = Number.parseInt(idOf("", `holdout ${session} ${id}`), 36) / 2 ** 53;
  return drawn < share;
}
