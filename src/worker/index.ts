export { work } from "./work.ts";
