import fc from "fast-check";

/** `npm test` draws the same values each time, so that it fails for a change and not by chance; `test:all` draws others. */
if (process.env.KNACK_TEST_ALL !== "1") fc.configureGlobal({ seed: 20_261_116 });
