import { type Home, isBelowHome, whyNotLearn } from "../settings/index.ts";
import type { SessionView } from "../transcripts/index.ts";

/** What may be learned from, by the settings of the moment. */
export interface LearnConsent {
  /** Why nothing is learned in a project; null where it is. */
  refuses(root: string | null, id: string): Promise<string | null>;
  /** Why a session is not learned from; null where it is. */
  isRefused(session: Pick<SessionView, "cwd" | "project">): Promise<string | null>;
  /** Those of the sessions that are learned from. */
  learnable(sessions: readonly SessionView[]): Promise<SessionView[]>;
}

export function createConsent(home: Home): LearnConsent {
  const refuses: LearnConsent["refuses"] = async (root, id) => whyNotLearn(home, root, id);
  const isRefused: LearnConsent["isRefused"] = async ({ cwd, project }) =>
    cwd !== null && isBelowHome(home, cwd) ? "Knack's own work" : refuses(project.root, project.id);
  return {
    refuses,
    isRefused,
    learnable: async (sessions) => {
      const allowed: SessionView[] = [];
      for (const session of sessions) if ((await isRefused(session)) === null) allowed.push(session);
      return allowed;
    },
  };
}
