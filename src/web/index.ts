// The local page. To add one: a file in pages/ that exports `definePage({ path, read, draw })`, a line in
// pages/pages.ts, and, where people should find it by themselves, one in the navigation of layout.ts. `read` asks Knack
// and returns a model; `draw` turns that into markup with the `html` tag, which redacts and escapes every text. Shared
// pieces (cards, diffs, evidence, empty states, pagers) are in parts.ts, charts in charts.ts. What a form does is in
// actions.ts, one entry for each change, and goes through the verbs that the command line has.
export { renderExport } from "./export.ts";
export type { Replay } from "./page.ts";
export { markDatabase, openBrowser, servePage } from "./server.ts";
