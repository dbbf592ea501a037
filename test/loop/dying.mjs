// Ends its process as a power cut would, at its nth act on the world: `node --import dying.mjs`, with DIE_AT=n. Without
// it, the number of acts is written to the file DIE_COUNT at the end.
import child from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import Database from "libsql";

const at = Number(process.env.DIE_AT ?? 0);
const counted = process.env.DIE_COUNT;
let acts = 0;

const writes = ["writeFileSync", "renameSync", "rmSync", "mkdirSync", "cpSync", "linkSync", "unlinkSync"];
for (const name of writes) watch(fs, name);
// To read is no act.
watch(fs, "openSync", (_, flags = "r") => (typeof flags === "number" ? (flags & 3) > 0 : flags !== "r"));
watch(child, "spawn");
watch(Database.prototype, "exec");
watch(Object.getPrototypeOf(new Database(":memory:").prepare("select 1")), "run");
syncBuiltinESMExports();
if (counted) process.on("exit", () => fs.writeFileSync(counted, String(acts)));

function watch(of, name, isAct = () => true) {
  const act = of[name];
  of[name] = function (...args) {
    if (isAct(...args) && ++acts === at) process.kill(process.pid, "SIGKILL");
    return act.apply(this, args);
  };
}
