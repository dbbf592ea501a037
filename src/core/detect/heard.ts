import type { Finding } from "../finding.ts";
import type { Scene } from "./scene.ts";
import { tell } from "./telling.ts";
import type { Verdict } from "./verdict.ts";

/** The lessons of one kind in what people said. */
export function heard({ verdicts }: Scene, kind: Verdict["kind"]): Finding[] {
  return verdicts.flatMap(({ turn, verdict }) => (verdict.kind === kind ? [tell(turn, verdict)] : []));
}
