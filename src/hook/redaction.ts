export { redact, redactJson, redactPrompt } from "../trust/index.ts";
