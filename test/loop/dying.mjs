// Ends its process as a power cut would, at its nth act on the world: `node --import dying.mjs`, with DIE_AT=n. Without
// it, the number of acts is written to the file DIE_COUNT at the end.
import child from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import Database from "libsql";

const at = Number(process.env.DIE_AT ?? 0);
const counted = process.env.DIE_COUNT;
let acts = 0;

for (const name of ["writeFileSync", "renameSync", "cpSync", "linkSync", "unlinkSync"]) watch(fs, name);
// What is there already is not made, and what is not there is not removed.
watch(fs, "rmSync", (path) => fs.existsSync(path));
watch(fs, "mkdirSync", (path) => !fs.existsSync(path));
// To read is no act.
watch(fs, "openSync", (_, flags = "r") => (typeof flags === "number" ? (flags & 3) > 0 : flags !== "r"));
watch(child, "spawn");
// In a transaction nothing is done before its end.
let isWithin = false;
const statements = new WeakMap();
const { prepare } = Database.prototype;
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  statements.set(statement, sql);
  return statement;
};
watch(Object.getPrototypeOf(new Database(":memory:").prepare("select 1")), "run", function () {
  const [, word] = /^(begin|commit|rollback|select|pragma)\b/i.exec(statements.get(this)?.trim() ?? "") ?? [];
  if (word === "begin") isWithin = true;
  else if (word === "commit" || word === "rollback") isWithin = false;
  return word === undefined ? !isWithin : word === "commit";
});
syncBuiltinESMExports();
if (counted) process.on("exit", () => fs.writeFileSync(counted, String(acts)));

function watch(of, name, isAct = () => true) {
  const act = of[name];
  of[name] = function (...args) {
    if (isAct.apply(this, args) && ++acts === at) process.kill(process.pid, "SIGKILL");
    return act.apply(this, args);
  };
}
