/** What takes some thinking, bundled apart: the end of a turn has no need of it. */
export { atFailure } from "./failure.ts";
export { atPrompt } from "./prompt.ts";
export { record } from "./record.ts";
export { atStart } from "./start.ts";
