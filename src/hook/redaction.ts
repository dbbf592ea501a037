export { maskLikely, redact, redactJson, redactPrompt } from "../trust/index.ts";
