import { parseCommand } from "./command.ts";
import { classifyRun, interpreters, readSqlVerbs, sqlStatement } from "./command-form.ts";
import { assignment, type Run } from "./run.ts";

/** Characters of a template. */
const maxChars = 120;

/** A run as one writes it down for another time: values that were of that time are left open, those that other times had too are kept. */
export function writeTemplate(run: Run, others: readonly Run[] = []): string {
  const words = [...openWrapping(run), shortPath(run.written), ...openArgs(run, others)];
  const told: string[] = [];
  let length = 0;
  for (const word of words) {
    if (word === told.at(-1) && word.startsWith("<") && !copies(run)) continue;
    length += word.length + 1;
    if (length > maxChars) return `${told.join(" ")} …`;
    told.push(word);
  }
  return told.join(" ");
}

/** The words before the program: variables, placed behind `env` where that sets them. */
function openWrapping({ env, wrapper }: Run): string[] {
  const open = (set: string) =>
    set.replace(/=(.*)$/s, (_, value) => `=${openValue(value, set.slice(0, set.indexOf("=")))}`);
  const set = env.filter((each) => assignment.test(each)).map(open);
  const prepared = env.filter((each) => !assignment.test(each)).map((each) => `${each} &&`);
  const behind = wrapper.indexOf("env") + 1;
  if (behind === 0)
    return [...env.map((each) => (assignment.test(each) ? open(each) : `${each} &&`)), ...wrapper];
  return [...prepared, ...wrapper.slice(0, behind), ...set, ...wrapper.slice(behind)];
}

/** From where and to where are two things, whatever they look like. */
function copies({ name, args }: Run): boolean {
  return (
    /^(?:scp|rsync|cp|mv|ln)$/.test(name) || args.slice(0, 2).some((arg) => /^(?:cp|mv|sync)$/.test(arg))
  );
}

function openArgs(run: Run, others: readonly Run[]): string[] {
  const { name, args } = run;
  const verbs = new Set(classifyRun(run).form?.split(" ") ?? []);
  const script = interpreters.test(name) ? args.findIndex((arg) => !arg.startsWith("-")) : -1;
  return args.map((arg, at) => {
    const before = args[at - 1] ?? "";
    if (at === script) return shortPath(arg);
    if (
      others.length > 0 &&
      isKept(arg) &&
      !secret.test(arg + before) &&
      others.every((other) => other.args.includes(arg))
    )
      return arg;
    if (isTestName(name, before)) return "<test>";
    const [, flag, value = ""] = /^(-{1,2}\w[\w-]*)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined) return `${flag}=${openValue(value, flag)}`;
    if (arg.startsWith("-") || verbs.has(arg)) return arg;
    return openGitArg(name, args, at) ?? openValue(arg, before.startsWith("-") ? before : "", name);
  });
}

function isKept(arg: string): boolean {
  return arg.length < 60 && !/\s|^(?:\/|~)|:\/\/|^$/.test(arg) && !isOfTheDay(arg);
}

/** Dates, and what is numbered one after the other, are of one time, though all of that time had them. */
function isOfTheDay(arg: string): boolean {
  const value = /^-{1,2}\w[\w-]*=(.*)$/s.exec(arg)?.[1] ?? arg;
  return date.test(value) || isNumbered(value) || /=v?\d+(?:\.\d+)+\S*$/.test(value);
}

const date = /^\d{4}-?\d{2}-?\d{2}(?:[T_ ]\S*)?$/;

/** `web-1`, `app12`; a region, an encoding or a platform is called so. */
function isNumbered(value: string): boolean {
  return (
    /^[a-z](?:[\w-]*[_-]\d{1,6}|[a-z-]{2,}\d{1,3})$/i.test(value) &&
    !/^[a-z]{2,4}-[a-z]+-?\d$|^(?:europe|asia|africa|australia|north|south|us|me)[a-z-]*-?\d$/.test(value) &&
    !/^(?:utf-?\d+|sha-?\d+|base\d+|aes\d*-?\d*|md5|es\d+|python-?\d|node-?\d+|amd64|arm64|x86_64|win32|linux64|ipv\d|http\d|iso-?\d[\d-]*|mp\d|gpt-\d|level\d)$/i.test(
      value,
    )
  );
}

/** Which test is run is of the moment. */
function isTestName(program: string, flag: string): boolean {
  if (/^(?:-run|--run|-k|--grep|--testNamePattern|--test-name-pattern|--tests)$/.test(flag))
    return !(flag === "-k" && /^(?:kubectl|curl|oc)$/.test(program));
  return flag === "-t" && /^(?:jest|vitest)$/.test(program);
}

/** Branches and files of a commit are of the day. */
function openGitArg(name: string, args: readonly string[], at: number): string | null {
  if (name !== "git") return null;
  const verb = args.find((arg) => !arg.startsWith("-")) ?? "";
  const place = args.indexOf(verb);
  if (at <= place) return null;
  if (/^(?:add|rm|restore|diff)$/.test(verb)) return /^[.]$/.test(args[at] ?? "") ? null : "<files>";
  if (/^(?:checkout|switch|merge|rebase|branch)$/.test(verb)) return "<branch>";
  if (/^(?:push|pull|fetch)$/.test(verb))
    return /^(?:origin|upstream)$/.test(args[at] ?? "")
      ? null
      : versionLike.test(args[at] ?? "")
        ? "<tag>"
        : "<branch>";
  return null;
}

const versionLike = /^v?\d+(?:\.\d+)+\S*$/;
const address = /^(?:\w+@)?(?:\d{1,3}\.){3}\d{1,3}(?::\S*)?$/;
const ofThisMachine = /^(?:0\.0\.0\.0|127\.0\.0\.1)(?::\d+)?$/;
const image = /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+|@sha256:\w+)$/;

function openValue(value: string, flag: string, program = ""): string {
  const named = /^--?([a-z][a-z-]+)$/.exec(flag)?.[1];
  if (value === "") return "''";
  if (secret.test(flag)) return "<secret>";
  const [, variable = "", set = ""] = /^(\w+)=(.*)$/s.exec(value) ?? [];
  if (variable !== "" && set !== "" && secret.test(variable)) return `${variable}=<secret>`;
  if (/^(?:-m|--message|--title|--body|--notes|--head|--branch)$/.test(flag) && program !== "ansible")
    return `<${named ?? "message"}>`;
  if (sqlStatement.test(value)) return `"${readSqlVerbs([value]).join(" ").toUpperCase()} …"`;
  if (program === "ssh" && /\s/.test(value))
    return `"${parseCommand(value)
      .map((run) => writeTemplate(run))
      .join(" && ")}"`;
  if (/\s|\$\(|\n/.test(value)) return `<${named ?? "text"}>`;
  if (/^[a-z][a-z0-9+]{1,11}:\/\//i.test(value) || /^git@/.test(value)) return "<url>";
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(value) || /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/i.test(value))
    return "<id>";
  if (
    /^(?:docker|podman)$/.test(program) &&
    (flag === "-t" || flag === "--tag" || /^[\w./-]+:[\w.-]+$/.test(value))
  )
    return "<image>";
  if (image.test(value)) return "<image>";
  const [, key = "", given = ""] = /^([a-z][\w.-]*)=(.+)$/is.exec(value) ?? [];
  if (key !== "" && given !== "") return `${key}=${openValue(given, "", program)}`;
  if (date.test(value)) return "<date>";
  if (address.test(value)) return ofThisMachine.test(value) ? value : openAddress(value);
  if (versionLike.test(value)) return "<version>";
  if (program !== "ssh" && isNumbered(value)) return `<${named ?? "name"}>`;
  if (/@v?\d+(?:\.\d+)*$/.test(value)) return value.replace(/@v?\d[\d.]*$/, "@<version>");
  if (/\/v?\d+(?:\.\d+)+$/.test(value)) return value.replace(/v?\d+(?:\.\d+)+$/, "<version>");
  if (/^\d+$/.test(value)) return flag === "" ? "<number>" : value;
  if (/^(?:\.{1,2}|\.\/\.\.\.)$/.test(value)) return value;
  // A flag's file is part of how a project is run; a file that a program is given is what it is run on.
  if (isPath(value)) return flag === "" || /^(?:\/|~)/.test(value) ? "<path>" : value;
  return value;
}

/** A machine by its number; what is named on it stays. */
function openAddress(value: string): string {
  const [, place = ""] = /:(\D\S*)$/.exec(value) ?? [];
  return place === "" ? "<address>" : `<address>:${place}`;
}

const secret = /token|secret|passw|api.?key|credential/i;

function isPath(value: string): boolean {
  return (
    /^(?:\.{0,2}\/|~\/)/.test(value) ||
    /\.[a-z]\w{0,7}$/i.test(value) ||
    (value.match(/\//g) ?? []).length > 1
  );
}

/** A script by where it stands in its project; what lies above is of one machine. */
function shortPath(path: string): string {
  return /^(?:\/|~)/.test(path) ? `…/${path.split("/").slice(-2).join("/")}` : path;
}
