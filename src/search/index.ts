export { type Ask, compareAsks, listSubjectWords, parseAsk } from "./ask.ts";
export type { IndexItem, LibraryCard } from "./entry.ts";
export { type Embedder, embedMatches, type FoundItem, find, renderLoaded, renderOffer } from "./find.ts";
export { type IndexUpdate, type LibraryIndexFiles, openIndexFiles, openMemoryIndex } from "./index-files.ts";
export { type Catalogued, itemNamed, itemsOf } from "./items.ts";
export { describeProject } from "./query.ts";
export { encodeTable, findTableFault, openTable, readFileAt, type Table } from "./table.ts";
