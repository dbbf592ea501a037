export { type NewEntry, openPages, type ProjectPages } from "./open-pages.ts";
export { sections } from "./page.ts";
