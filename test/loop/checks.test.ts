import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCheck } from "../../src/loop/checks.ts";
import type { LoopCheck } from "../../src/loop/messages.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A work folder, with a file beside it that no check may see. */
function furnish() {
  const around = tempFolder();
  const work = join(around, "work");
  const workspace = join(work, "workspace");
  mkdirSync(join(workspace, "sub"), { recursive: true });
  for (const path of ["work/workspace/sub/a.txt", "beside.txt"]) writeFileSync(join(around, path), "one two");
  symlinkSync(around, join(workspace, "out"));
  return { work, workspace };
}

test.each<[LoopCheck, boolean, RegExp]>([
  [{ kind: "file-exists", path: "sub/a.txt" }, true, /sub\/a.txt is there/],
  [{ kind: "file-exists", path: "sub/b.txt" }, false, /is not there/],
  [{ kind: "file-exists", path: "/etc/passwd" }, false, /is not there/],
  [{ kind: "file-exists", path: "../../beside.txt" }, false, /is not there/],
  [{ kind: "file-exists", path: "out/beside.txt" }, false, /is not there/],
  [{ kind: "file-contains", path: "sub/a.txt", text: "two" }, true, /has these words/],
  [{ kind: "file-contains", path: "sub/a.txt", text: "three" }, false, /does not have these words/],
  [{ kind: "file-contains", path: "sub", text: "two" }, false, /does not have these words/],
  [{ kind: "file-contains", path: "../../beside.txt", text: "two" }, false, /does not have these words/],
  [{ kind: "command", command: "test -e sub/a.txt" }, true, /`test -e sub\/a.txt` exited with 0$/],
  [{ kind: "command", command: "echo 2 failed; exit 3" }, false, /exited with 3: 2 failed$/],
  [{ kind: "command", command: "echo $CI $DEPLOY_TOKEN >&2; false" }, false, /exited with 1: 1$/],
])("Knack's own check %j is %s", async (check, met, because) => {
  const env = { PATH: process.env.PATH, DEPLOY_TOKEN: "t" };
  const { signal } = new AbortController();
  const found = await runCheck(check, { ...furnish(), env, signal });
  expect(found).toEqual({ met, by: "code", because: expect.stringMatching(because) });
});
