import { failureCount, findFailedTests } from "./error-text.ts";

/** Whether lines have the words with which a program ends badly; a check also names what failed. */
export function tellsFailure(lines: readonly string[], isCheck: boolean): boolean {
  if (lines.some((line) => failed.test(line) && !isHarmless(line))) return true;
  return (
    isCheck &&
    (lines.some((line) => /^[✗✘✕❌✖] /.test(line) && !isHarmless(line)) || findFailedTests(lines).size > 0)
  );
}

/** Whether lines have an error that may be one that was logged and overcome. */
export function tellsError(lines: readonly string[]): boolean {
  return lines.some((line) => error.test(line));
}

/** Whether lines have the words with which a test runner, a linter or a build ends well. */
export function tellsSummary(lines: readonly string[]): boolean {
  return lines.some((line) => summary.test(line));
}

/** Whether lines have words that a program says only when it worked. */
export function tellsSuccess(lines: readonly string[]): boolean {
  return lines.some((line) => worked.test(line) || summary.test(line));
}

/** `0 failed`, `0 errors`, a warning, a line that only quotes. */
function isHarmless(line: string): boolean {
  return (
    /^(?:warn|warning|note|info|hint)\b/i.test(line) || (nothingWrong.test(line) && !failureCount.test(line))
  );
}

const nothingWrong = /(?<![\w=])(?:0|no) (?:errors?|fail(?:ed|ures?|ing)?|problems?|issues?)\b/i;

const some = "[1-9][\\d,]*";

/** Tests, types, lint, builds and packages, in the order of how often they are met. */
const failed = new RegExp(
  [
    // Tests.
    `^(?:=+ )?(?:tests?|test files|test suites|snapshots|suites)?:? *(?:\\| )?${some} (?:tests? |test files? |suites? )?(?:failed|failing|failures?|fail)\\b`,
    `\\b(?:failures|failed|fail|errors)[:=] *${some}\\b(?! (?:passed|skipped))`,
    `^(?:=+ .*)?${some} (?:failed|errors?)\\b.*\\bin [\\d.]+ ?m?s`,
    `^\\d+ (?:runs|tests|examples|assertions|passed|specs),.*\\b${some} (?:failures?|errors?|failed)\\b`,
    `^Executed \\d+ tests?, with ${some} failures?\\b`,
    "^FAIL(?:ED)?(?:[:! \\t]|$)|^--- FAIL: |^not ok \\d|^test result: FAILED|^\\[FAIL\\]|^Failed! +- |^Test Run Failed|^\\(fail\\) ",
    "\\bsome tests failed\\b|^\\*\\* (?:TEST|BUILD|ARCHIVE) FAILED|\\b[1-9]\\d* tests? failed out of|: FAIL code \\d|^evaluation failed",
    "No test files? found|No tests? (?:found|ran|were run|matched|to run|suites found)|^no tests ran|^collected 0 items|ERR_MODULE_NOT_FOUND|suite failed to run|^ERROR: (?:file or directory )?not found",
    // Types and lint.
    `\\berror TS\\d+:|✖ ${some} problems? \\([1-9]|^Found ${some} (?:errors?\\b|fixable|diagnostics)|^${some} errors? (?:generated|found|emitted)|\\b${some} errors?(?:, | and )\\d+ warnings?|and ${some} errors?\\b|^error\\[[A-Z]+\\d+\\]: |^Some errors were emitted`,
    `^${some} (?:issues?|problems?|errors?|offenses?|violations?)(?: found|\\b.*detected|:$)|would reformat|Code style issues|files? would be (?:re)?formatted|^\\S+\\.\\w{1,5}:\\d+(?::\\d+)?:? (?:fatal )?error\\b|^error[ •-]+\\S.* • `,
    "^\\S+\\.(?:go|rs|swift|kt|cs):\\d+:\\d+: (?!warning|note)|^at \\S+ (?:format|lint/\\S+|assist/\\S+)\\b|Format issues found|^\\d+:\\d+ +error +|: error: |^\\S+\\(\\d+,\\d+\\): error ",
    // Builds and packages.
    "^(?:npm|pnpm|yarn|lerna) (?:ERR!|error)\\b|^Missing script: |^ninja: build stopped|^E: \\S|^psql:.*\\bERROR: |^(?:Parse e|E)rror: (?:in prepare|near line|stepping)|^ERR_PNPM|ELIFECYCLE|^\\s*ERR!? |Command failed with exit code [1-9]|exited with (?:code|status):? [1-9]|exit (?:status|code)[ :=]+[1-9]|^error Command failed|^error: (?:script|Recipe) |^No (?:projects|packages|workspaces) (?:matched|found)|^No staged changes",
    "^BUILD FAILED|^FAILURE: Build|BUILD FAILURE|^Build failed|^\\[ERROR\\]|Failed to compile|could not compile|Compilation failed|error during build|^make(?:\\[\\d+\\])?: \\*\\*\\* |^ERROR: (?:failed|Could not|No matching|process)|^FAILED:|^Error: Process completed",
    "^(?:fatal|panic|FATAL|PANIC): |^fatal error: |^\\[?(?:rejected|remote rejected)\\]? |^! \\[(?:remote )?rejected\\]|^CONFLICT \\(|^Node\\.js v\\d+\\.|^Segmentation fault|^Killed$|^Aborted\\b",
    // A request that was refused.
    "^(?:gh|HTTP)[: ]+.*\\b(?:4\\d\\d|5\\d\\d)\\b.*\\(https?:|^GraphQL: |^ERROR: .*denied|^curl: \\(\\d+\\)|failed to push some refs|^husky - .*(?:failed|exited)",
    // A program that was called wrongly says how to call it.
    "^(?:error: )?(?:unknown|unrecogni[sz]ed|unexpected|invalid) (?:option|flag|argument|command|subcommand|json field)s?\\b|^unknown shorthand flag|^Unknown (?:command|syntax error)|command not found|^.{0,30}is not a .{0,12}command\\b",
  ].join("|"),
  "i",
);

const error = /^error: (?!0\b)\S|^Error: \S|^✘ \[ERROR\]|^thread '.*' panicked/i;

const summary = new RegExp(
  [
    `^(?:=+ )?(?:tests?|test files|test suites)?:? *(?:\\| )?${some} (?:tests? )?(?:passed|passing|pass)\\b`,
    `\\b${some} pass(?:ed|ing)\\b|\\b0 (?:tests |chart\\(s\\) )?fail(?:ed|ures?|ing)?\\b|^ok[ \\t]+\\S+|^test result: ok|^OK(?: \\(|$)|^PASS$|^Passed! |All tests passed|^\\# fail 0$|^All \\d+ tests|^Executed \\d+ tests?, with 0 failures`,
    "(?:^|\\b)(?:0|no) (?:errors?|problems|issues|offenses|type errors)\\b|^Success: |All checks passed|All (?:matched )?files|files? (?:already|left) (?:formatted|unchanged)|^Checked \\d+ files? in .*(?:No fixes|Fixed)|already formatted|No ESLint warnings|are formatted",
    "BUILD SUCCESS|buil[dt] (?:successful|succeeded|complete|finished|in \\d)|built in [\\d.]+|compiled (?:successfully|in \\d)|^Finished (?:`|\\w+ \\[)|^Done in [\\d.]+|^✨|^Built with |\\bwrote \\d+|Complete!|completed? successfully|^naming to \\S+ (?:\\S+ )?done|prerendered as static|^Total Upload|page\\(s\\) built",
  ].join("|"),
  "i",
);

const worked = new RegExp(
  [
    "^(?:✓|✔|√) |^PASS(?:ED)?\\b|^(?:added|removed|changed) \\d+ packages?|^up to date|Already up[ -]to[ -]date|^Successfully |^Installed \\d+|^Resolved \\d+|Lockfile is up to date|^Everything up-to-date|^Audited \\d+|Requirement already satisfied|packages? installed|^Bundle complete",
    "^\\[[\\w/.-]+(?: \\(root-commit\\))? [0-9a-f]{7,}\\] |\\d+ files? changed|^[*+ ]*(?:[0-9a-f]{5,}\\.+[0-9a-f]{5,}|\\[new \\w+\\]) +\\S+ +-> +\\S+|^(?:create|delete|rename) mode |^Switched to |^branch '|^HEAD is now at|^Updating [0-9a-f]{7}|^Fast-forward|^Deleted branch|^To (?:https?:|git@|ssh:|github)",
    "^https?://\\S+/(?:pull|issues)/\\d+\\S*$|^(?:Created|Updated|Deleted|Closed|Merged|Wrote|Saved|Generated|Published|Deployed|Uploaded|Copied|Started|Stopped|Pulled)\\b|^(?:✅|👍|🎉|🚀)",
  ].join("|"),
  "i",
);
