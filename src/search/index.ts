export { type Ask, compareAsks, parseAsk } from "./ask.ts";
export type { IndexItem } from "./entry.ts";
export { describeProject, type FoundItem, find, itemNamed, renderFound } from "./find.ts";
export { openIndexFiles, readIndexFiles } from "./library-index.ts";
export { encodeTable, findTableFault, openTable, readFileAt, type Table } from "./table.ts";
