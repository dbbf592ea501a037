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
} as const;

export type Policy = typeof policy;
