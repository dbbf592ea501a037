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
  skill: {
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
  },
} as const;

export type Policy = typeof policy;
