import type { JsonObject } from "../base/index.ts";
import { parseCommand, type Run } from "../failures/index.ts";
import type { Doubt, Event, Finding, Provenance } from "../records/index.ts";
import { baseName, wordSet } from "../text/index.ts";
import { findDanger } from "./danger.ts";
import { ownWords } from "./own-words.ts";
import { leastTrusted, readProvenance } from "./provenance.ts";

/**
 * Why agents are not told of a finding before a person accepts it: a step that can do harm, or one whose words the
 * agent had from somebody else. Null where its steps are clean. `events` is the whole session, in order; of an earlier
 * part those that mention the words of `listTracedWords` are enough.
 */
export function findDoubt(finding: Finding, events: readonly Event[], root: string | null): Doubt | null {
  const { failed, acts, commands } = findActs(finding, events);
  const steps = [...commands, ...listQuotes(finding)];
  const danger = findDanger(steps, { root, isUnasked: true });
  if (danger !== null) return { kind: "dangerous", from: "agent", words: danger.words };
  const end = events.findLastIndex((event) => acts.includes(event));
  const before = events.slice(0, end < 0 ? events.length : end);
  for (const telling of listTraced(finding, { failed, commands, root })) {
    const from = traceWord(telling, before, { failed, root });
    if (from !== null) return { kind: "foreign", from, words: telling.word };
  }
  return null;
}

/** The words whose origin decides about a finding. */
export function listTracedWords(finding: Finding, events: readonly Event[], root: string | null): string[] {
  const { failed, commands } = findActs(finding, events);
  return listTraced(finding, { failed, commands, root }).map(({ word }) => word);
}

/** The call that failed, and what was done about it. */
function findActs({ refs }: Finding, events: readonly Event[]) {
  const named = new Map(
    events.flatMap((event) => (refs.includes(event.ref) ? [[event.ref, event] as const] : [])),
  );
  const [failed, ...later] = refs.flatMap((ref) => named.get(ref) ?? []);
  // What got past the failure comes first, and may have met another one.
  const acts = later.filter(({ kind, outcome }, at) => kind === "call" && (at === 0 || outcome !== "failed"));
  return { failed, acts, commands: acts.flatMap(({ command }) => command ?? []) };
}

/** The telling words that the failing call did not have. */
function listTraced(
  finding: Finding,
  { failed, commands, root }: Tracing & { readonly commands: readonly string[] },
): TellingWord[] {
  const tried = new Set(listTellingWords(failed?.command ?? "", root).map(({ word }) => word));
  return listTold(finding, commands, root).filter(({ word }) => !tried.has(word));
}

/** The telling words of the calls that helped, as far as they are told; and those of what is quoted. */
function listTold(finding: Finding, commands: readonly string[], root: string | null): TellingWord[] {
  const { lesson, action, steps } = finding;
  const told = [lesson, action, ...steps].join("\n");
  const called = commands.flatMap((command) => listTellingWords(command, root));
  // What is quoted may be no command at all: its first word tells nothing.
  const quoted = listQuotes(finding).flatMap((quote) => listTellingWords(quote, root));
  return [
    ...called.filter(({ word }) => mentions(told, word)),
    ...quoted.filter(({ kind }) => kind === "package" || kind === "host"),
  ];
}

/** Commands that the words of a finding quote: a step that is told in words is a step too. */
function listQuotes({ lesson, steps, excerpt: { failed } }: Finding): string[] {
  const quoted = [...[lesson, ...steps].join("\n").matchAll(/`([^`\n]{2,300})`/g)].map(
    ([, code = ""]) => code,
  );
  return quoted.filter((code) => failed?.includes(code) !== true);
}

// --- The words that decide what a command does ---

export interface TellingWord {
  readonly kind: "program" | "package" | "host" | "option";
  readonly word: string;
}

export function listTellingWords(command: string, root: string | null): TellingWord[] {
  return parseCommand(command).flatMap((run) => [
    ...findProgram(run, root),
    ...findPackages(run)
      .filter((word) => !everydayPrograms.has(word))
      .map((word) => ({ kind: "package" as const, word })),
    ...[...run.env, ...run.args].flatMap(findHosts).map((word) => ({ kind: "host" as const, word })),
    ...findOptions(run).map((word) => ({ kind: "option" as const, word })),
  ]);
}

/** A program that not every machine has; the project's own scripts are no strangers to it. */
function findProgram({ written, name, wrapper }: Run, root: string | null): TellingWord[] {
  const isPath = /[/\\]/.test(written);
  if (!isPath && (everydayPrograms.has(name) || cmdlet.test(name))) return [];
  if (wrapper.some((word) => packageRunners.has(baseName(word)))) return [{ kind: "package", word: name }];
  const isOwn = isPath && (!/^[/~\\]|^[a-z]:/i.test(written) || (root !== null && written.startsWith(root)));
  return isOwn ? [] : [{ kind: "program", word: written }];
}

const everydayPrograms = wordSet(
  `cd ls cat head tail sed awk grep rg find xargs sort uniq wc cut tr tee echo printf pwd mkdir rmdir touch cp mv rm ln
  chmod chown test [ [[ true false which type command env export source . set unset sleep time timeout date diff patch
  file stat tar gzip gunzip zip unzip ps kill pkill pgrep lsof ss sudo sh bash zsh fish pwsh powershell cmd curl wget
  jq yq git gh glab node npm npx pnpm pnpx yarn bun bunx deno corepack nvm fnm volta tsc tsx python python3 pip pip3
  pipx uv uvx poetry pdm hatch conda pytest ruff black mypy tox nox ruby gem bundle rake rails rspec go gofmt cargo
  rustc rustup rustfmt java javac mvn gradle kotlin scala sbt dotnet msbuild swift xcodebuild pod php composer perl
  make cmake ninja bazel just task docker docker-compose podman kubectl helm terraform aws gcloud az psql mysql sqlite3
  redis-cli systemctl service brew apt apt-get dnf yum apk pacman vitest jest mocha eslint prettier biome vite webpack
  claude codex gemini opencode knack`,
);

/** Commands that are part of PowerShell, and neither run nor fetch anything. */
const cmdlet =
  /^(?:get-(?:childitem|content|item|location|command|process|date)|(?:set|add)-content|set-location|(?:new|remove|copy|move|rename)-item|(?:test|join|split|resolve)-path|(?:select|where|foreach|sort|group|measure)-object|select-string|write-(?:output|host)|out-(?:file|null|string)|convert(?:to|from)-json)$/i;

const packageRunners = wordSet("npx pnpx bunx uvx dlx");
/** Programs that fetch what they are given by name, and the words by which they are told to. */
const installers = wordSet(
  "npm pnpm yarn bun deno pip pip3 pipx uv poetry pdm conda gem bundle go cargo brew apt apt-get dnf yum apk pacman composer dotnet rustup corepack",
);
const installVerbs =
  /^(?:i|install|add|get|require|reinstall|update|upgrade|dlx|exec|x|run|tool|global|-S|prepare|use)$/;

function findPackages({ name, args }: Run): string[] {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  if (packageRunners.has(name)) return operands.slice(0, 1).map(trimVersion);
  const isPip = /^python/.test(name) && args[0] === "-m" && /^pip|^uv$/.test(args[1] ?? "");
  const given = isPip ? operands.slice(1) : installers.has(name) ? operands : [];
  const verbs = given.findIndex((word) => !installVerbs.test(word));
  const isScript = given[0] === "run" || given[0] === "exec" || given[0] === "x";
  if (verbs < 1 || (isScript && name !== "pipx")) return [];
  return given.slice(verbs).filter(isPackageName).map(trimVersion);
}

/** Paths of this machine are no packages. */
function isPackageName(word: string): boolean {
  return !/^[./~]|^\d+$|\.(?:txt|toml|json|lock|whl|tgz)$/.test(word);
}

function trimVersion(word: string): string {
  return word.replace(/(?<=.)(?:@[^/]*|[=<>~!]=?.*|\[.*)$/, "");
}

export function findHosts(word: string): string[] {
  const urls = [...word.matchAll(/[a-z][a-z0-9+.-]*:\/\/(?:[^/@\s]*@)?([^/:\s"']+)/gi)].map(
    ([, host = ""]) => host,
  );
  const bare =
    /(?:^|@|=)((?:[\w-]+\.)+(?:com|org|net|io|co|dev|app|ai|xyz|info|cloud|me|ru|cn|example|invalid|test)|\d{1,3}(?:\.\d{1,3}){3})(?=[:/]|$)/i.exec(
      word,
    )?.[1];
  return [...urls, ...(bare === undefined ? [] : [bare])].filter((host) => !ownHosts.test(host));
}

const ownHosts = /^(?:localhost|127\.|0\.0\.0\.0|\[?::1|\$)/;

function findOptions({ args, env }: Run): string[] {
  const flags = args.flatMap((arg) => /^--[a-z][\w-]{2,}/i.exec(arg)?.[0] ?? []);
  const variables = env.flatMap((set) => /^\w{3,}(?==)/.exec(set)?.[0] ?? []);
  return [...flags, ...variables];
}

// --- Where they came from ---

interface Tracing {
  readonly failed: Event | undefined;
  readonly root: string | null;
}

/** Where the agent had a word from, if that speaks against telling it; null where it is the agent's or the person's. */
export function traceWord(
  { kind, word }: TellingWord,
  before: readonly Event[],
  { failed, root }: Tracing,
): Provenance | null {
  let from: Provenance | null = null;
  const downloads = new Set<string>();
  for (const event of before) {
    const found = findMention(event, word, root);
    // What was downloaded is the web's, whatever folder it was put into.
    const source = found !== "agent" && found !== null && reads(event, downloads) ? "web" : found;
    for (const file of findDownloads(event.command ?? "")) downloads.add(file);
    if (source === null) continue;
    if (source === "person" || (source === "agent" && from === null)) return null;
    // What the project declares is not new to it.
    if (source === "repository" && kind === "package" && declaresPackages(event)) return null;
    const isNear =
      event === failed || source === "program" || source === "repository" || isInstalledText(event);
    if (source === "agent" || (isNear && kind === "option")) continue;
    from = from === null ? source : leastTrusted(from, source);
  }
  return from;
}

/** Who says a word in an event: its author in what was typed or called, another in what came back. */
export function findMention(event: Event, word: string, root: string | null): Provenance | null {
  if (event.kind === "call" && mentions(`${event.command ?? ""}\n${listTexts(event.input)}`, word))
    return "agent";
  if (!mentions(event.text, word)) return null;
  const source = readProvenance(event, root);
  if (event.kind !== "prompt") return source;
  // What a program or another agent hands over, and what a person pastes, may be anybody's words.
  if (source !== "person") return "import";
  return mentions(ownWords(event.text), word) ? "person" : "import";
}

/** Whether a text has a word, in whatever spelling: registries take `_` for `-`, and pages hide characters in names. */
function mentions(text: string, word: string): boolean {
  const [plain, sought] = [simplify(text), simplify(word)];
  for (let at = plain.indexOf(sought); at >= 0; at = plain.indexOf(sought, at + 1))
    if (!/[\w-]/.test(plain[at - 1] ?? " ") && !/[\w-]/.test(plain[at + sought.length] ?? " ")) return true;
  return false;
}

function simplify(text: string): string {
  return text
    .replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

/** Instructions that the person installed for their agents. */
function isInstalledText({ files, command }: Event): boolean {
  const agentFolder = /\/\.(?:claude|codex|agents|gemini|copilot|opencode|pi|cursor)\//;
  return files.length > 0 ? files.every((file) => agentFolder.test(file)) : agentFolder.test(command ?? "");
}

/** Files into which a command puts what it gets from the network. */
function findDownloads(command: string): string[] {
  if (!/\b(?:curl|wget|scp|rsync|aria2c|gh|ssh|http)\b/.test(command)) return [];
  const named = command.matchAll(/(?:\s-\w*[oO]\s*|\s--output(?:-document)?[ =]|>\s*)["']?([\w./~-]+)/g);
  return [...named].map(([, file = ""]) => baseName(file)).filter((file) => file.length > 2);
}

function reads({ files, command }: Event, downloads: ReadonlySet<string>): boolean {
  if (downloads.size === 0) return false;
  const words = (command ?? "").split(/[\s"']+/);
  return [...files, ...words].some((word) => downloads.has(baseName(word)));
}

function listTexts(input: JsonObject | null): string {
  return input === null ? "" : JSON.stringify(input);
}

const manifests =
  /^(?:package(?:-lock)?\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|pyproject\.toml|requirements[\w.-]*\.txt|setup\.(?:py|cfg)|uv\.lock|poetry\.lock|Pipfile(?:\.lock)?|go\.(?:mod|sum)|Cargo\.(?:toml|lock)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|[\w.-]+\.csproj|pom\.xml|build\.gradle(?:\.kts)?)$/;

function declaresPackages({ files, command }: Event): boolean {
  const words = (command ?? "").split(/\s+/);
  return [...files, ...words].some((file) => manifests.test(baseName(file)));
}
