import {
  callText,
  findDropped,
  findFileNames,
  findPath,
  findQuirk,
  isLayoutRule,
  parseCommand,
  Recovery,
  type Run,
  saysNothing,
  whiteSpace,
  writeTemplate,
} from "../../failures/index.ts";
import { type Cause, type Event, type Finding, makeFinding, noExcerpt } from "../../records/index.ts";
import { baseName, extractTerms, listWords, slugify, wordSet } from "../../text/index.ts";
import { quoteError, withoutHome } from "../../trust/index.ts";

/** Writes up a recovered failure for readers without its context. */
export function writeCure(recovery: Recovery, confidence: number): Finding {
  const { failed, worked, error, again, step, remedy, fixCall: call } = recovery;
  const explained = findExplanation(recovery);
  return makeFinding(
    {
      kind: "error-recovery",
      lesson: nameByRoot(writeSentence(recovery), failed.cwd),
      trigger: describeTrigger(recovery),
      action: openValues(nameByRoot(describeAction(recovery), failed.cwd)),
      steps: remedy === "step" ? [`Run \`${writeStep(recovery)}\``, `Run \`${recovery.subject}\` again`] : [],
      keywords: findKeywords(recovery, explained),
      confidence,
      name: chooseName(recovery),
      scope: isMachineWide(recovery) ? "user" : "project",
      excerpt: {
        ...noExcerpt,
        failed: short(callText(failed), 400),
        error: error.line,
        worked: worked?.outcome === "ok" ? short(callText(worked), 400) : null,
        replied: explained,
      },
      ...{ call, symptom: recovery.symptom(droppedOperands(recovery)), remedy },
    },
    [failed, ...[worked, step, ...again].flatMap((event) => event ?? [])],
  );
}

/** A file that was looked for more than once and never found, while the work went on; who looks in silence only asks. */
export function isNowhere({ error, failed, worked, again, between }: Recovery): boolean {
  return (
    error.cause === "missing-file" &&
    !saysNothing(failed.text) &&
    error.about !== null &&
    worked === null &&
    again.length > 0 &&
    between.calls > 2
  );
}

/** The files that the call which worked does not touch. */
export function droppedOperands({ failed, run, worked }: Recovery): string[] {
  const kept = worked === null ? new Set<string>() : findFileNames(callText(worked));
  const files = run === null ? failed.files.map(baseName) : [...findFileNames(run.args.join(" "))];
  return files.filter((file) => !kept.has(file)).slice(0, 3);
}

/** The words are zsh's own; other shells hand such a pattern on. */
export function isEmptyGlob({ error }: Recovery): boolean {
  return error.line.startsWith("no matches found: ");
}

/** A program missing on the machine is missing in every project; one that a project's own runner misses is not. */
function isMachineWide({ error, run, remedy, workedRun }: Recovery): boolean {
  if (error.cause !== "missing-program") return error.cause === "shell-dialect";
  if (run?.name !== error.about) return false;
  // What starts it in its place is the project's: `uv run` here, `poetry run` there; but `sudo` may just be left out.
  const leavesOut = workedRun !== null && ![workedRun.name, ...workedRun.args].includes(error.about ?? "");
  return remedy !== "wrapper" || leavesOut;
}

// --- The sentence ---

/** One sentence: what to do, when, and why. */
function writeSentence(recovery: Recovery): string {
  const { error, failed, remedy, worked } = recovery;
  if (recovery.isStoppedByHook) return writeHook(recovery);
  if (isNowhere(recovery))
    return `Do not look for \`${error.about}\`: it is not here, ${recovery.again.length + 1} searches found nothing.`;
  if (recovery.isForeign) return writeForeign(recovery);
  const quirk = findQuirk(error.about);
  if (quirk !== null) return quirk.advise(error.line);
  if (error.cause === "tool-misuse") return writeEdit(recovery);
  if (error.cause === "denied") return writeDenied(recovery);
  if (worked === null || remedy === null || remedy === "none")
    return `${quoteFailed(recovery)}${because(recovery)}.`;
  if (error.cause === "missing-file" && remedy === "path")
    return writePlace(failed, worked, error.about ?? "");
  if (remedy === "edit") return writeRule(recovery);
  if (recovery.isReworded) return writeMessage(recovery);
  if (isRepaired(recovery))
    return `Run \`${writeStep(recovery)}\` when ${quoteFailed(recovery)} fails on ${isLayoutRule(error.about) ? `layout (${error.about})` : error.about}.`;
  if (remedy === "elevation")
    return error.cause === "transient"
      ? `The sandbox has no network: ask for elevated permissions where a command needs it (${quoteFailed(recovery)}${because(recovery)}).`
      : `Run ${quoteFailed(recovery)} with elevated permissions: in the sandbox it${because(recovery)}.`;
  if (remedy === "directory")
    return `Run \`${writeWithFolder(failed, worked, writeWorked(recovery))}\`: in another folder it${because(recovery)}.`;
  return remedy === "step" ? writeFirstStep(recovery) : writeOtherCall(recovery);
}

function writeHook(recovery: Recovery): string {
  const { hookSteps, subject } = recovery;
  const hook = / push\b/.test(subject) ? "pre-push" : "pre-commit";
  // Some hooks print the commands they run, others the names of their checks.
  const isCommand = (step: string) => /^[a-z.@/]/.test(step);
  const checks = hookSteps.some(isCommand) ? listCode(hookSteps.filter(isCommand)) : listWords(hookSteps);
  if (checks !== "")
    return `Let ${checks} pass before \`${subject}\`: the ${hook} hook stops at the first error.`;
  const said = quoteLine(recovery, 100);
  return `Put right what the ${hook} hook of \`${subject}\` reports before you commit${said === "" ? "" : ` (${said})`}; do not skip it.`;
}

function writeForeign(recovery: Recovery): string {
  const { worked, remedy } = recovery;
  const said = quoteLine(recovery, 100);
  const when = `When ${quoteFailed(recovery)} fails${said === "" ? "" : ` with ${said}`}`;
  const isOther = worked !== null && remedy !== null && remedy !== "none" && remedy !== "argument";
  return `${when}, do not look for the cause in your change${isOther ? `: \`${writeWorked(recovery)}\` works` : ""}.`;
}

/** Edits whose old text was not in the file. */
function writeEdit({ failed, again, said }: Recovery): string {
  const file = baseName(failed.files[0] ?? "") || "the file";
  const times = `the text to replace was not found ${again.length + 1} times`;
  return saysTabs(said)
    ? `Write tabs, not spaces, in the text to replace when you edit files such as \`${file}\`: they are indented with tabs, and ${times}.`
    : `Look at the exact white space of \`${file}\` before you edit it: ${times}.`;
}

function saysTabs(said: readonly Event[]): boolean {
  return said.some(({ text }) => /\btabs?\b|制表符/i.test(text.slice(0, 600)));
}

function writeDenied(recovery: Recovery): string {
  const { error, worked, remedy } = recovery;
  const why = /hook/i.test(error.line) ? "refused by a hook" : "denied by permission settings";
  const dropped = droppedOperands(recovery);
  if (worked !== null && remedy !== null && dropped.length > 0)
    return `Leave ${listCode(dropped)} out of \`${recovery.subject}\`, which is ${why} with it.`;
  if (worked === null || remedy === null) return `Do without ${quoteFailed(recovery)}, which is ${why}.`;
  return `Use \`${writeWorked(recovery)}\` instead of ${quoteFailed(recovery)}, which is ${why}.`;
}

function writePlace(failed: Event, worked: Event, name: string): string {
  const [sought, place] = [findPath(failed, name), findPath(worked, name) ?? name];
  const near = (path: string) => nameByRoot(path, failed.cwd);
  return sought === null || sought === name || near(sought) === near(place)
    ? `Look for \`${name}\` at \`${place}\`.`
    : `Look for \`${name}\` at \`${place}\`, not at \`${sought}\`.`;
}

/** A step before the same call. */
function writeFirstStep(recovery: Recovery): string {
  const { error } = recovery;
  const step = `\`${writeStep(recovery)}\``;
  if (error.about !== null && error.cause === "missing-program")
    return `Run ${step} before ${quoteFailed(recovery)}: without it \`${error.about}\` is not found.`;
  if (error.about !== null && error.cause === "missing-module" && !lacksExport(error))
    return `Run ${step} before ${quoteFailed(recovery)}: without it the module \`${error.about}\` is not found.`;
  const said = quoteLine(recovery, 140);
  return `If ${quoteFailed(recovery)} fails${said === "" ? "" : ` with ${said}`}, run ${step} first.`;
}

/** Another call in the place of the one that failed. */
function writeOtherCall(recovery: Recovery): string {
  const { error, remedy, run, workedRun } = recovery;
  const failing = quoteFailed(recovery);
  const works = `\`${writeWorked(recovery)}\``;
  if (error.about !== null && error.cause === "unknown-name") {
    const what = /agent|skill/i.exec(error.line)?.[0].toLowerCase() ?? "tool";
    return `Use ${works}: there is no ${what} named \`${error.about}\` here.`;
  }
  if (bypasses(recovery))
    return `Find out why ${failing}${because(recovery)} instead of going around it with ${works}.`;
  if (error.about !== null && error.cause === "missing-program")
    return isReplaced(recovery)
      ? `Use ${works} instead of \`${recovery.subject}\`: \`${error.about}\` is not installed here or not on the path.`
      : `Do without \`${error.about}\`, which is not installed here or not on the path: use ${works}.`;
  if (error.about !== null && error.cause === "missing-module")
    return `Use ${works} instead of ${failing}, which does not find the module \`${error.about}\`.`;
  if (remedy === "wrapper" && run !== null && workedRun !== null) {
    const rewrapped = describeRewrapping(run, workedRun, "`");
    if (rewrapped !== null) return `R${rewrapped.slice(1)}: ${failing}${because(recovery)}.`;
  }
  const dropped = findLeftOutWord(recovery);
  if (dropped !== null)
    return `Leave \`${short(dropped, 40)}\` out of \`${run?.head}\`: ${failing}${because(recovery)}.`;
  // Two long calls may differ only where neither is quoted.
  return works === failing
    ? `${describeAction(recovery).replace(/^\w/, (first) => first.toUpperCase())}: ${failing}${because(recovery)}.`
    : `Use ${works} instead of ${failing}, which${because(recovery)}.`;
}

/** A rule that an edit satisfied. The error names the rule, and not always what it wants. */
function writeRule(recovery: Recovery): string {
  const { error, changedLine } = recovery;
  const explained = findRuleExplanation(recovery) ?? `${quoteFailed(recovery)}${because(recovery)}.`;
  const { before = "", after = "" } = changedLine ?? {};
  const code = (line: string) => `\`${short(line.replaceAll("`", "'"), 110)}\``;
  const change =
    after === ""
      ? before === ""
        ? ""
        : ` Mended by leaving out ${code(before)}.`
      : before === ""
        ? ` Mended by adding ${code(after)}.`
        : ` Mended by writing ${code(after)} for ${code(before)}.`;
  return `\`${error.about}\` is on here: ${explained}${change}`;
}

/** Of the message that was taken, its form: the words before the colon. */
function writeMessage({ workedRun, error }: Recovery): string {
  const message =
    workedRun?.args[workedRun.args.findIndex((arg) => /^-\w*m$|^--message$/.test(arg)) + 1] ?? "";
  const form = /^[a-z]+(?:\([\w./-]{1,30}\))?!?: (?=.)/.exec(message)?.[0];
  const shape = form === undefined ? "" : `, such as \`${form}…\``;
  return `Write the message of a commit as the hook wants it${shape}: another was refused under \`${error.about}\`.`;
}

/** The agent's sentence about the rule, by its name. */
export function findRuleExplanation(recovery: Recovery): string | null {
  const rule = recovery.error.about?.split(/[ /]/).at(-1)?.toLowerCase() ?? "";
  const explained = findExplanation(recovery);
  return rule !== "" && explained?.toLowerCase().includes(rule) === true ? explained : null;
}

function lacksExport({ signature }: Recovery["error"]): boolean {
  return signature.endsWith(" lacks an export");
}

/** The word that had to go, where nothing took its place. */
function findLeftOutWord(recovery: Recovery): string | null {
  const { remedy, run, workedRun } = recovery;
  const dropped = remedy === "flag" || remedy === "argument" ? findDropped(recovery) : null;
  const isNew = (arg: string) => arg.startsWith("-") && !run?.args.includes(arg);
  return run === null || workedRun?.args.some(isNew) ? null : dropped;
}

/** ` fails with "…"`. Agents are told this text, and the error is a program's words: only its shape is quoted. */
function because(recovery: Recovery): string {
  const line = quoteLine(recovery, 140);
  return line === "" ? " fails" : ` fails with ${line}`;
}

function quoteLine({ error }: Recovery, most: number): string {
  const line = quoteError(error.line.replace(label, ""))
    // A link to read is left out; one in quotes is what the error is about.
    .replace(/[,;:]?\s*(?:see:?\s*)?(?<!['"])<url>.*$/i, "");
  // A name in the code is of the day; a file of the project is not.
  const lasting =
    error.cause === "code" || lacksExport(error) ? line.replace(/(['"])[A-Za-z_$][\w$]*\1/g, "'…'") : line;
  const told = short(lasting, most)
    .replace(/[.:?!]$/, "")
    .replaceAll('"', "'");
  return told === "" ? "" : `"${told}"`;
}

/** What stands before a message and says that it is an error, and whose. */
const label = /^(?:(?:error|err!?|fatal|✘|✖|\*\*|\[ERROR\])[:\s]+)+(?:\([\w.-]{1,60}\)\s+)?/i;

function listCode(words: readonly string[]): string {
  return listWords(words.map((word) => `\`${word}\``));
}

/** A text in which files of the session's folder are named from there on, and a home folder is `~`. */
function nameByRoot(text: string, folder: string | null): string {
  const place = (folder ?? "").replace(/\/$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return withoutHome(place === "" ? text : text.replace(new RegExp(`(?<![\\w.~/-])${place}/`, "g"), ""));
}

/** The call that failed, as code. */
function quoteFailed(recovery: Recovery): string {
  const { failed, run, worked, workedRun } = recovery;
  const told = asWritten(recovery) ? null : inPlace(recovery, run);
  const call = openValues(cutAfterScript(writeCall(failed, told, worked, workedRun), recovery));
  return `\`${run?.isLook ? openLook(call) : call}\``;
}

/** The arguments of a script do not matter if another step was missing. */
function cutAfterScript(call: string, { remedy, run }: Recovery): string {
  const [script = "", ...rest] = run?.args ?? [];
  const isScript = /^[\w@.-]*(?:\/[\w@.-]+)+\.\w{1,4}$/.test(script) && rest.length > 0;
  const end = call.indexOf(`${script} `);
  return remedy === "step" && isScript && end >= 0 ? call.slice(0, end + script.length) : call;
}

/** The call that worked. */
function writeWorked(recovery: Recovery): string {
  const { remedy, failed, worked, workedRun, run, error } = recovery;
  if (worked === null) return "";
  if (isReplaced(recovery)) return (workedRun as Run).describeChange(run as Run);
  // A look may be right only as a whole: what one program shows, the next makes visible.
  if ((remedy === "other-way" || remedy === "program") && run?.isLook && worked.command !== null)
    return openLook(
      parseCommand(worked.command)
        .map((part) => part.with({ directory: null }).retell())
        .slice(0, 3)
        .join(" | "),
    );
  const whole = worked.command ?? "";
  // A few commands in one: what comes before may be half of the remedy.
  const isChain = whole.length <= 90 && /&&/.test(whole.replace(/^cd \S+ && /, ""));
  const isScript = workedRun?.args.some((arg) => arg === "-c" || arg === "-e") === true;
  const isWhole = asWritten(recovery) || isChain || isScript;
  const told = isWhole && error.cause !== "unknown-name" ? null : inPlace(recovery, workedRun);
  return openValues(writeCall(worked, told, failed, run));
}

/** A call without numbers and files of the moment: `gh pr view 1533 --json body`. The port of a service lasts. */
function openValues(call: string): string {
  return call
    .replace(/(?<!\s(?:-[pP]|--port) )(?<=[\s/])\d{3,}(?=[\s/]|$)/g, "<number>")
    .replace(/(?:\/private)?\/(?:tmp|var\/folders)\/[^\s'")]+/g, "<file>");
}

/** A look whatever file and line it is at. */
function openLook(call: string): string {
  return call
    .replace(/(?<=\s)(?:…|~|\.{0,2})\/\S+|(?<=\s)[\w@.-]+(?:\/[\w@.-]+)*\.[a-z]{1,5}(?=\s|$)/g, "<file>")
    .replace(/(?<=\s)\d+(?:,\d+)?p(?=\s|$)/g, "<line>p");
}

/** One program in the place of another that is not there: what they were given does not matter. */
function isReplaced({ error, remedy, workedRun, run }: Recovery): boolean {
  const replaces = remedy === "program" || remedy === "wrapper";
  return error.cause === "missing-program" && replaces && workedRun !== null && run?.name === error.about;
}

/** A run without the folder it ran in, unless the folder is what made the difference. */
function inPlace({ remedy }: Recovery, run: Run | null): Run | null {
  return remedy === "directory" ? run : (run?.with({ directory: null }) ?? null);
}

/** A rule that the tool itself put right. */
function isRepaired(recovery: Recovery): boolean {
  return recovery.isRepaired && !recovery.isStoppedByHook;
}

function writeStep(recovery: Recovery): string {
  const { step, stepRun } = recovery;
  // The files were of that time.
  if (stepRun !== null && isRepaired(recovery)) return openFiles(writeTemplate(stepRun));
  return openValues(stepRun === null ? short(step?.command ?? "", 90) : stepRun.retell());
}

/** The word after `--write` is not its value. */
function openFiles(call: string): string {
  const words = call.split(" ").map((word) => (/^[\w@./-]*[\w-]\.\w{1,5}$/.test(word) ? "<path>" : word));
  return words.filter((word, at) => word !== "<path>" || words[at - 1] !== word).join(" ");
}

/** Quotes and globs show only in the text as it was typed. */
function asWritten({ error, failed, worked }: Recovery): boolean {
  const isShort = (event: Event | null) => (event?.command?.length ?? 0) < 90;
  return error.cause === "shell-dialect" && isShort(failed) && isShort(worked);
}

/** A way around a check is what happened, not what to do. */
function bypasses({ workedRun, run }: Recovery): boolean {
  const isAdded = (flag: string) => workedRun?.args.includes(flag) && !run?.args.includes(flag);
  return ["--no-verify", "--force"].some(isAdded);
}

function writeWithFolder(failed: Event, worked: Event, call: string): string {
  const folder = worked.input?.workdir ?? worked.cwd;
  if (call.startsWith("cd ") || typeof folder !== "string" || folder === failed.cwd) return call;
  return `cd ${folder.split("/").slice(-2).join("/")} && ${call}`;
}

/** A call in short. Of a tool's input only what differs from the other call tells something. */
function writeCall(event: Event, run: Run | null, other: Event | null, otherRun: Run | null = null): string {
  if (run !== null) return run.retell(otherRun);
  if (event.command !== null) return short(event.command, 90);
  const isSame = (key: string, value: string) => event.tool === other?.tool && other.input?.[key] === value;
  const values = Object.entries(event.input ?? {}).flatMap(([key, value]) =>
    typeof value === "string" && !isSame(key, value) ? [short(value, 60)] : [],
  );
  return [event.tool, ...values.slice(0, 2)].join(" ");
}

function describeTrigger(recovery: Recovery): string {
  if (isNowhere(recovery)) return `${recovery.error.about} is looked for`;
  if (isEmptyGlob(recovery)) return "zsh: no matches found for a glob";
  if (recovery.isStoppedByHook) return `${recovery.subject} stopped by a hook`;
  if (recovery.isForeign) return `${recovery.subject} fails outside the change`;
  const said = recovery.error.signature.split(/(?<=\w)\. /)[0] ?? "";
  const named = `${recovery.run?.name ?? ""}: `;
  const signature = said.startsWith(named) ? said.slice(named.length) : said;
  const files = recovery.error.cause === "denied" ? droppedOperands(recovery) : [];
  return `${[recovery.subject, ...files].join(" ")} fails: ${signature.slice(0, 100)}`;
}

function describeAction(recovery: Recovery): string {
  const { remedy, worked, workedRun, run, failed, hookSteps } = recovery;
  if (recovery.isStoppedByHook)
    return `${hookSteps.length > 0 ? `run ${hookSteps.join(", ")}` : "satisfy the hook"} before ${recovery.subject}`;
  if (recovery.isForeign && (worked === null || remedy === "none" || remedy === "argument"))
    return "do not look for the cause in the change; run it again or run only what belongs to the change";
  if (recovery.error.cause === "denied")
    return `leave out ${droppedOperands(recovery).join(", ") || "what is denied"}`;
  const quirk = findQuirk(recovery.error.about);
  if (quirk !== null) return quirk.action;
  if (isNowhere(recovery)) return `go on without ${recovery.error.about}`;
  if (worked === null || remedy === "none") return "run it again";
  if (remedy === "edit") return `write it as ${recovery.error.about} wants`;
  if (recovery.error.cause === "missing-file" && remedy === "path")
    return `use ${findPath(worked, recovery.error.about ?? "") ?? ""}`;
  if (recovery.error.cause === "tool-misuse") return "look at the exact white space before the next edit";
  if (isRepaired(recovery)) return `run ${writeStep(recovery)}`;
  if (remedy === "step") return `first ${writeStep(recovery)}`;
  if (remedy === "elevation") return "ask for elevated permissions at once";
  if (remedy === "directory")
    return `run it in ${baseName(workedRun?.directory ?? worked.cwd ?? "") || "the right folder"}`;
  if (remedy === "wrapper" && run !== null && workedRun !== null)
    return describeRewrapping(run, workedRun) ?? `use ${workedRun.describeChange(run)}`;
  const dropped = remedy === "flag" || remedy === "argument" ? findDropped(recovery) : null;
  if (dropped !== null && run !== null) return `use ${run.head} without ${short(dropped, 40)}`;
  if (workedRun === null) return `use ${writeCall(worked, null, failed)}`;
  return `use ${run === null ? workedRun.call().join(" ") : workedRun.describeChange(run)}`;
}

/** `bun` without `rtk`, or `pytest` through `uv run`, for any arguments; null where neither starts the other. */
function describeRewrapping(before: Run, after: Run, mark = ""): string | null {
  const code = (text: string) => `${mark}${text}${mark}`;
  const words = [after.name, ...after.args];
  const at = words.indexOf(before.name);
  if (at > 0) return `run ${code(before.name)} through ${code(words.slice(0, at).join(" "))}`;
  return before.args.includes(after.name) ? `run ${code(after.name)} without ${code(before.name)}` : null;
}

/** The sentence in which the agent says what it understood: the one that has most in common with the error and the remedy. */
function findExplanation({ said, reaction, error, failed, worked, isForeign }: Recovery): string | null {
  const calls = `${callText(failed).slice(0, 300)} ${worked === null ? "" : callText(worked)}`;
  const about = extractTerms(`${error.line} ${calls}`.slice(0, 800));
  const asked = worked?.input?.justification;
  const texts = (isForeign ? reaction : said.slice(0, 6)).map(({ text }) => text);
  let best = { sentence: "", shared: 0 };
  for (const sentence of [...texts, typeof asked === "string" ? asked : ""].flatMap(splitIntoSentences)) {
    if (announces.test(sentence) || /[?？:：]$/.test(sentence)) continue;
    const same = [...extractTerms(sentence)].filter((word) => about.has(word)).length;
    const isWhy = error.cause === "tool-misuse" && whiteSpace.test(sentence);
    const shared = same + (isWhy ? 5 : 0) + (isForeign && Recovery.saysUnrelated(sentence) ? 4 : 0);
    if (shared > best.shared) best = { sentence, shared };
  }
  return best.shared === 0 ? null : short(best.sentence, 240);
}

/** Announcements of the next call; the call itself tells more. */
const announces =
  /^(?:let me|let's|now\b|next\b|first,|i(?:'|’)m \w+ing\b|i(?:'|’)ll|i will|i(?:'|’)m (?:going|now)|perfect|great|good|done|all )/i;

function splitIntoSentences(text: string): string[] {
  const sentences = text
    .slice(0, 800)
    .split(/(?<=[。！？])|(?<=[^.][.!?])\s+(?=[^a-z])|(?<=[.!?:])\s+(?=[A-Z])|\n+/);
  return sentences.flatMap((each) => (each.trim().length >= 12 ? each.trim() : [])).slice(0, 4);
}

function short(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

function findKeywords(recovery: Recovery, explained: string | null): string[] {
  const { error, run, workedRun } = recovery;
  const quoted = [...(explained ?? "").matchAll(/`([^`\s][^`]{1,40})`/g)].map(([, word]) => word ?? "");
  const words = [
    recovery.subject,
    error.about ?? "",
    ...(error.cause === "denied" ? droppedOperands(recovery) : []),
    ...(workedRun === null ? [] : workedRun.call(run)),
    ...quoted.slice(0, 2),
    ...listTerms(error.signature, 4).slice(0, 4),
  ];
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, 8);
}

/** The words of an error that tell it from others. */
function listTerms(signature: string, shortest: number): string[] {
  return [...extractTerms(signature)].filter((word) => word.length >= shortest && !commonplace.has(word));
}

const commonplace = wordSet("error errors fails failed found command line exit code");

function chooseName(recovery: Recovery): string {
  const { cause, about, signature } = recovery.error;
  const head = recovery.subject;
  if (recovery.isStoppedByHook) return slugify(`${head} hook`);
  if (recovery.isForeign) return slugify(`${head} unrelated failures`);
  if (isEmptyGlob(recovery)) return "zsh-glob-without-match";
  if (cause === "denied") return slugify(`${droppedOperands(recovery)[0] ?? head} denied`);
  const named = about !== null && !head.split(" ").includes(about) ? about : "";
  const terms = listTerms(signature, 2).filter((word) => word !== named.toLowerCase());
  const what = causeNames[cause] ?? terms.slice(0, 4).join(" ");
  const isThing = cause === "missing-program" || cause === "missing-module";
  const name = slugify(`${isThing ? (about ?? head) : `${head} ${named}`} ${what}`);
  // What a linter's rule is called is often what its error says.
  return name.replace(/(?<=^|-)(\w+(?:-\w+)*)-\1(?=-|$)/g, "$1") || slugify(cause);
}

/** How a cause is called in a name; the others are called by the words of the error. */
// biome-ignore format: a table reads better in rows
const causeNames: Partial<Record<Cause, string>> = {
  "unknown-name": "unknown", denied: "denied", "missing-program": "not on path",
  "missing-script": "script not found", "wrong-place": "wrong folder", "missing-module": "not installed",
  permission: "permission", service: "not running", timeout: "timeout",
};
