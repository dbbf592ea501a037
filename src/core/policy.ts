/** Every number Knack decides by, named for what it means. */
export const policy = {
  keep: {
    /** Characters of an event's text, and of its input, that stay in the cache. */
    eventChars: 5_000,
    /** Days that cached events stay after they were last read from their transcript. */
    eventDays: 30,
    /** Diagnostics kept for one transcript; the rest are counted. */
    diagnostics: 50,
  },
  learn: {
    /** Sessions with fewer events are read but not learned from. */
    fewestEvents: 10,
    /** Two lessons whose words overlap this much are one. */
    same: 0.5,
    /** Two triggers whose words overlap this much are the same occasion. */
    sameTrigger: 0.6,
    /** A finding this sure is shown on its own; a weaker one waits until another session agrees. */
    sure: 0.6,
    /** What an instinct starts with, by what its first finding rests on. */
    start: { "explicit-instruction": 0.85, "user-correction": 0.7, "error-recovery": 0.6, other: 0.5 },
    /** What a session changes: the second with the same lesson, any other that confirms, one where it failed, one that opposes it. */
    second: 0.15,
    confirmed: 0.05,
    failed: -0.05,
    opposed: -0.1,
    /** Lost for each whole week without evidence, when looked at. */
    weekly: -0.02,
    /** Confidence from which an instinct is active; below which one that was contradicted is held, or a silent one retires; and at which a held one is active again. */
    active: 0.8,
    held: 0.3,
    revived: 0.5,
    /** Days that a pending instinct waits for another session. */
    pendingDays: 30,
  },
  read: {
    /** Bytes fetched from a transcript at a time. */
    chunkBytes: 1 << 20,
    /** A longer line is reported and passed over: no agent writes one, and holding it would cost the memory of thousands. */
    lineBytes: 16 << 20,
    /** Bytes of a transcript that are redacted and written in one go: enough for secretlint's fixed cost, little memory. */
    pieceBytes: 1 << 20,
  },
  detect: {
    /** Calls after a failure in which what worked is looked for; a look at something counts half. */
    recoveryWithinCalls: 16,
    /** Below this a recovered failure is not reported. */
    recoveryConfidence: 0.5,
    /** Recovered failures reported of any session, and how many more of a long one: per square root of its calls. */
    recoveriesAtLeast: 2,
    recoveriesPerRootOfCalls: 0.15,
  },
  skill: {
    /** What the names of learned skills begin with. */
    prefix: "rl-",
    /** Two skills whose names and descriptions overlap this much are about the same thing. */
    near: 0.5,
    /** Characters of a learned skill's description: agents put every description before every prompt. */
    descriptionChars: 160,
    /** Characters of a learned skill's body. */
    bodyChars: 4_000,
    /** Lines of any skill's body, after which it should be split. */
    bodyLines: 500,
    /** Pieces of evidence that a learned skill shows, the newest; the rest are counted. */
    evidence: 5,
  },
  rule: {
    /** Characters of one rule line. */
    chars: 300,
    /** Two rules whose words overlap this much are one. */
    near: 0.7,
  },
} as const;

export type Policy = typeof policy;
