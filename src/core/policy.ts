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
    /** Bytes of a file looked at to tell its format. */
    sniffBytes: 64 << 10,
  },
  ingest: {
    /** Characters redacted and written in one go: large enough for secretlint's fixed cost, small enough for memory. */
    batchChars: 1 << 20,
    batchEvents: 2_000,
  },
} as const;

export type Policy = typeof policy;
