import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { relative } from "node:path";

// Loaded before Knack: ends its process by SIGKILL right after it made or moved something at a path that matches.
const { KNACK_HOME = "", KNACK_DIES_AT = "" } = process.env;
const point = new RegExp(KNACK_DIES_AT);
const strike = (path) => {
  if (point.test(relative(KNACK_HOME, String(path)))) process.kill(process.pid, "SIGKILL");
};

for (const [name, at] of [
  ["open", 0],
  ["mkdir", 0],
  ["rename", 1],
]) {
  const [now, later] = [fs[`${name}Sync`], fs.promises[name]];
  fs[`${name}Sync`] = (...words) => {
    const done = now(...words);
    strike(words[at]);
    return done;
  };
  fs.promises[name] = async (...words) => {
    const done = await later(...words);
    strike(words[at]);
    return done;
  };
}
syncBuiltinESMExports();
