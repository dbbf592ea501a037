import type { Cause } from "../../src/records/lesson.ts";

/**
 * Lines by the cause that they tell, at least one for every alternative of every pattern: before a pattern is tried, a
 * line must have one of its hints, so a hint that is lost shows here.
 */
// biome-ignore format: a table reads better in rows
export const linesByCause: readonly (readonly [Cause, readonly string[]])[] = [
  ["tool-misuse", [
    "InputValidationError", "has not been read yet", "String to replace not found",
    "File has been modified", "Found 6 matches of the stringW", "Sibling tool call errored",
    "could not be parsed as JSON", "Blocked: sleep", "exceeds maximum allowed tokens",
    "illegal operation on a directory", "verification failed", "Request interrupted", "PostToolUse",
    "MCP error -32602", "Invalid arguments for tool",
  ]],
  ["denied", [
    "has been denied", "denied by your permission settings", "blocked by hookK", "hook error:",
    "hook denied", "hook blocked",
  ]],
  ["unknown-name", [
    "Unknown skill 5/@", "Agent type @` not found", "No such tool+,", "unknown tool 5/@",
  ]],
  ["transient", [
    "ECONNRESET", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "deadline exceeded", "ratelimit",
    "too many requests", "504<gateway", "%429;erroro>", "^503:error+)u", "502{X(too many-",
    "1{504 2too manyK", "/503&unavailable:51", "temporarily unavailable", "service unavailable",
    "connection reset", "connection resetw", "could not resolve host", "network unreachable", "overloaded",
  ]],
  ["timeout", [
    "timed out after", "time limit", "timed out",
  ]],
  ["permission", [
    "index.lockdeniedK", "XNindex.lockdenied", "Gindex.lock(denied$B", "index.lock<read-only",
    "@: permission denied", "permission denied: Q", "are too open", "please run i login]",
    "permission denied", "operation not permitted", "EACCES", "EPERM", "read-only file system", "sandbox",
    "access denied", "not permitted", "unauthorized", "forbidden", "not authenticated", "not logged in",
    "authentication failed", "authentication failedK",
  ]],
  ["state", [
    "cd: c", "EADDRINUSE", "address already in use", "port 8 is !", "port 5 was @", "kport 01 is Vz",
    "would be overwritten", "nothing to commit", "no changes added", "nothing added to commit", "unmerged",
    "CONFLICT (", "merge conflict", "already exists", "non-fast-forward", "fetch first",
    "uncommitted changes", "local changes", "index.lock", "corrupt patch", "patch does not apply",
    "did not match any file", "Could not resolve to a",
  ]],
  ["failing-test", [
    "78 fail", "2 failed-", "8 tests fail", "708 test fail\"", "✗ L", "--- FAIL", "AssertionError",
    "Failures: 1", "test failed", "mtest failed", "test result: FAILED", "No test files found", "FAIL",
  ]],
  ["lint", [
    "error TS6W", "A✖ 7 problem", "lint/1", "2:6 error", "83:57  warning", "Formatter would have",
    "[warn] Code style issues", "[error] Code style issues", "would reformat", "import is not sorted",
    "imports is not sorted", "trailing whitespace", "[f--]", "error[E6]W", "Found 3 error",
  ]],
  ["missing-script", [
    "missing script :/P", "amissing script ':", "No rule to make target .", "recipe :- could not",
    "recipe @+ not found", "does not contain recipe .", "task @+ not found", "task \"F not foundO",
    "Couldn't find a script named .",
  ]],
  ["missing-program", [
    "command not found: .", "r: not found", "+: command not found", "Command @\" not found",
    "executable file not found", "Executable doesn't exist", "make: -: No such file",
    "Failed to spawn 5/@", "spawn . ENOENT", "+ is not recognized as an internal",
    "/ is not recognized as an internalG", "could not determine executable", "exec: .: ]Onot found",
  ]],
  ["shell-dialect", [
    "no matches found:", "invalid command code", "extra characters at the end", "undefined label",
    "bad substitution", "event not found", "bad pattern:", "unknown file attribute", "read-only variable",
  ]],
  ["wrong-place", [
    "could not find go.mod", "could not find go.modk", "ccould not find go.modX",
    "){xocould not find go.mod", "no package.json", "no manifest", "not a git repository",
    "go.mod file not found", "outside workspace", "youtside workspace", "outside workspaceU",
    "no project found", "no project foundW", "ERR_PNPM_NO_", "cannot find main module", "no config file",
    "no config filew",
  ]],
  ["wrong-usage", [
    "gunknown switch: -@~", "lengthbad flags --:-:", "Sbad field found:-:.@", "#bad arguments: -/+u.0",
    "Junknown commands --.+", "invalid choice found .", "unrecognized subcommand .", "require value",
    "requires flag", "require option", "U=require flag", "require flagmt", "is not supported",
    "are not supported", "6is not supportedm", "is being deprecated", "must use", "must usew", "zmust use",
    "rmust useE", "usage: k", "mutually exclusive", "cannot be used with", "expected one of",
  ]],
  ["code", [
    "Can't resolve './", "aCan't resolve './", "Could not resolve './", "Cannot find module './",
    "unexpected EOF while", "syntax error near unexpected", "parse error near", "unmatched '", "KeyError",
    "NameError", "TypeError", "IndexError", "ValueError<", "SyntaxError", "panicked at", "Traceback",
    "undefined:", "cannot find symbol", "Type error: k", "does not compile", "build failed",
    "compilation error", "compilation failed", "Invalid package.json", "I~d.c:2: W",
  ]],
  ["missing-module", [
    "No module named 5/@", "Cannot find module UG+", "OCannot find package :",
    "failed to resolve import .", "Can't resolve .", "Could not resolve ':", "cannot find -lcx",
    "Hcannot find -l+.", "cannot load such file -- .", "there is no package called .",
    "no required module provides package .", "Qf_$kCould not find r-0 in any of the sources^5",
    "Could not find .wk..-0\"et in any of the sources", "^module @. not found", "fHdmodule @ not found",
    "@ is not installed", "+ is not installedx",
  ]],
  ["service", [
    "ECONNREFUSED", "connection refused", "docker daemon", "is it running", "is it runningK",
    "could not connect", "failed to connect", "can't reach", "can't reachK", "connection to w was refused",
    "no such container",
  ]],
  ["missing-setting", [
    "v!ZG9_4_F(<required", "9}B_1__87\"|missing! j", "`KMZF6_0_A'^`8v&not set", "1bi(*LEX19_1'undefined)",
    "[JO0_72R``not defined)`", "{!X700P80N8__\"p7(unset$o", "1{env var G6QN_8", "ESetting: T5M_5_",
    "&environment variable: D_0G-", "environment variable", "is not set", "is not sety", "are not set",
    "is required", "missing env", "missing key", "Amissing env", "missing keya", "mymissing key",
    "missing config", "api key", "credential",
  ]],
  ["missing-file", [
    "no such file or directory", "ENOENT", "folder<not found", "9Npath,not foundoc", "path{not found`n5i",
    "L%?file|vrnot found", "(Mfile$kmnot found=", "/w does not exist", "cannot find the file",
    "cannot find the path", "no file found", "no files found",
  ]],
];

/** Lines that say no more than that something failed. */
// biome-ignore format: a table reads better in rows
export const hollowLines: readonly string[] = [
  "FAILURE: Build failed", "BUILD FAILED", "* What went wrong", "Failed to update packages",
  "Traceback (most", "code N", "errno Q", "path d", "syscall v", "syscall call", "command sh",
  "command git", "A complete log", "Lifecycle script", "Test failed", "failed to run custom build command",
  "Execution failed for task", "warning: build failed", "make: *** [", "build failed", "> Task M FAILED",
  "> Task 7 FAILEDV", "[ERROR] Re-run", "[ERROR] To see", "COMPILATION ERROR", "Error: Process completed",
  "Command failed", "error Command failed", "ELIFECYCLE", "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL",
  "did not complete successfully", "failed to solve: process", "process > did not complete",
  "process A did not completeS", "husky - k", "failed to push some refs", "Found N error", "✖ N problem",
  "process timed out", "command timed out", "Request failed with status", "Background command  failed",
  "Background command  exited", "Permission to use v has been denied",
  "Permission to use SGM9k5erm has been denied", "at s:4)", "script \"\" exited",
  "bundler: failed to load command", "[warn] Code style issues", "[error] Code style issues",
  "test failed, to rerun", "/returned&code(-N", "exited{X(status-N", "failed,*status (N).",
  "^returned:status:(N", "failure~#X|code 71170", "'exited?L,code (48400",
];

/** Lines that complain. */
// biome-ignore format: a table reads better in rows
export const complainingLines: readonly string[] = [
  "abort", "can't", "errors", "denied", "do not", "(fatal", "cannot", "Gerror", "missing", "has not",
  "`unable", "unknown", "problem", "invalid", "couldn't", "failed! )", "could not<", "Ec6O.error",
  ".failure}D", "]Cu]refused", "2&\"can only~", "Mi{not found", "please run.J^", "unsupported&|",
  "\"$was not*Gc#tB", "B(p,are not\\#0zFo", ";no VKprope found`*X", "vOygl+R#no 8 available",
  "966!XO{;were not&KOtJa?4%%", "uError",
];
