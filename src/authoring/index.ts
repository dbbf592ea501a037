export {
  type ActiveCaller,
  type CallTrace,
  type FoundSession,
  type HostCall,
  type MadeCall,
  readHostCall,
} from "./caller.ts";
export { openAuthoring } from "./open-authoring.ts";
export { type AuthoringResult, describeInvalid, fields, refuseWith } from "./protocol.ts";
export { openReviews, type Reviewers, type ReviewState } from "./reviews/open-reviews.ts";
export type { ProposalView } from "./reviews/proposals.ts";
export { describeReplySchema, learningSignal, readReply, skillIssueSignal } from "./signals.ts";
