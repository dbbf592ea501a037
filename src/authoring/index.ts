export {
  type ActiveCaller,
  type CallTrace,
  type FoundSession,
  type HostCall,
  type MadeCall,
  type RunningSession,
  readHostCall,
} from "./caller.ts";
export { openAuthoring } from "./open-authoring.ts";
export { type AuthoringResult, describeInvalid, fields, refuseWith } from "./protocol.ts";
export {
  type Dossier,
  type OmittedSpan,
  parseDossierRef,
  type ReviewedSkill,
  type TimelineEntry,
} from "./reviews/dossier.ts";
export { openReviews, type Reviewers, type ReviewState } from "./reviews/open-reviews.ts";
export type { ProposalView } from "./reviews/proposals.ts";
export type { ReviewPreview, ReviewResult } from "./reviews/review.ts";
export type { ReplyTaken } from "./signals/give.ts";
export { describeReplySchema, learningSignal, readReply, skillIssueSignal } from "./signals/signal.ts";
