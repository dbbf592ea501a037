// Whether the sum that a worker left for a file agrees with the file's control line: exits with 0 if so.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { controlOf } from "./weights.mjs";

const file = process.argv[2];
const { sum } = JSON.parse(readFileSync(`sums/${basename(file, ".csv")}.json`, "utf8"));
const control = controlOf(readFileSync(file, "utf8"));
console.log(sum === control ? "right" : `${sum ?? "no number"} instead of ${control}`);
process.exitCode = sum === control ? 0 : 1;
