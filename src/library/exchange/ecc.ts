import { findingKinds } from "../../records/index.ts";
import { asSentence, findSection, oneLine, slugify } from "../../text/index.ts";
import { hashBytes } from "../files/disk.ts";
import type { CarriedLesson } from "./bundle.ts";
import { artifactKinds, bare } from "./carried.ts";

/** ECC's id of a project: the start of the hash of its remote or folder. */
export function eccProjectId(project: string): string {
  return hashBytes(project).slice(0, 12);
}

/** Endings of files that hold ECC's instincts. */
export const eccEndings = [".md", ".yaml", ".yml"] as const;

/**
 * The instincts in a file of ECC's: flat front matter between two lines of `---`, then Markdown, as often as one
 * likes. What has no id is none; a confidence that is no number counts as one half. What has an id and cannot be
 * understood is told of: nobody is to learn from half a sentence.
 */
export function parseEcc(text: string): { readonly lessons: CarriedLesson[]; readonly problems: string[] } {
  const blocks: EccBlock[] = [];
  let isFront = false;
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    if (line.trim() === "---") {
      isFront = !isFront;
      const open = blocks.at(-1);
      if (isFront) blocks.push({ fields: new Map(), body: [], isClosed: false });
      else if (open) open.isClosed = true;
      continue;
    }
    const block = blocks.at(-1);
    if (!block) continue;
    // A title cannot be a field: the front matter was never closed, and the next line of --- begins another.
    if (isFront && line.startsWith("## ")) isFront = false;
    const colon = line.indexOf(":");
    if (!isFront) block.body.push(line);
    else if (colon > 0) block.fields.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  const read = blocks.flatMap((block) => (block.fields.has("id") ? readBlock(block) : []));
  return {
    lessons: read.flatMap((one) => (typeof one === "string" ? [] : one)),
    problems: read.flatMap((one) => (typeof one === "string" ? one : [])),
  };
}

interface EccBlock {
  /** The fields as they are written. */
  readonly fields: Map<string, string>;
  readonly body: string[];
  isClosed: boolean;
}

/** The instinct in a block, or why there is none. */
function readBlock({ fields: written, body, isClosed }: EccBlock): CarriedLesson | string {
  const fields = new Map([...written].map(([key, value]) => [key, unquoted(value)]));
  const id = fields.get("id") ?? "";
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(id)) return `the id "${oneLine(id).slice(0, 60)}" is none`;
  if (!isClosed) return `${id}: its front matter has no closing ---`;
  const broken = [...written].find(([, value]) => isBroken(value));
  if (broken) return `${id}: its ${oneLine(broken[0]).slice(0, 60)} cannot be read`;
  const said = (title: string) => {
    const section = findSection(body, title);
    const lines = section ? body.slice(section.from, section.to) : [];
    return lines.join("\n").trim();
  };
  const heading =
    body
      .find((line) => line.startsWith("# "))
      ?.slice(2)
      .trim() ?? "";
  // A title that only repeats the id tells nobody what to do.
  const advice = heading.toLowerCase() === id.replaceAll("-", " ").toLowerCase() ? "" : heading;
  const action = oneLine(said("Action").split(/\n\s*\n/)[0] ?? "") || advice;
  if (action === "") return `${id}: it does not say what to do (## Action)`;
  const trigger = oneLine(fields.get("trigger") ?? "") || heading || id.replaceAll("-", " ");
  const lesson = oneLine(said("Lesson")) || asSentence(`${capital(trigger)}: ${action}`);
  const project = [fields.get("project_id"), fields.get("project_name")] as const;
  return {
    ...bare,
    name: slugify(id) || id,
    trigger,
    action,
    lesson,
    confidence: readConfidence(fields.get("confidence")),
    domain: fields.get("domain") ?? "workflow",
    scope: fields.get("scope") === "global" ? "user" : "project",
    project: project.some(Boolean) ? { id: project[0] || null, name: project[1] || null } : null,
    kind: findingKinds.find((kind) => kind === fields.get("kind")) ?? bare.kind,
    artifact: artifactKinds.find((kind) => kind === fields.get("artifact")) ?? bare.artifact,
  };
}

/** Whether a field begins something that it does not end. */
function isBroken(value: string): boolean {
  const end = { "[": "]", "{": "}", '"': '"', "'": "'" }[value.slice(0, 1)];
  return end !== undefined && !value.slice(1).includes(end);
}

function readConfidence(text: string | undefined): number {
  const value = Number(text === undefined || text === "" ? "x" : text);
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0.5;
}

function unquoted(value: string): string {
  if (/^".*"$/s.test(value) && value.length > 1)
    return value.slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
  if (/^'.*'$/s.test(value) && value.length > 1) return value.slice(1, -1).replaceAll("''", "'");
  return value;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** One instinct as ECC reads it. `projectId` is what ECC calls a project. */
export function renderEcc(
  carried: CarriedLesson,
  { id, projectId }: { readonly id: string; readonly projectId: string | null },
): string {
  const { trigger, confidence, domain, scope, project, kind, artifact, action, lesson, sessions, excerpt } =
    carried;
  const { failed, worked, said } = excerpt;
  const front = [
    ["id", id],
    ["trigger", quoted(oneLine(trigger))],
    ["confidence", String(Math.round(confidence * 100) / 100)],
    ["domain", domain],
    ["source", quoted("session-observation")],
    ["scope", scope === "user" ? "global" : "project"],
    ...(scope === "project" && projectId !== null ? [["project_id", quoted(projectId)]] : []),
    ...(scope === "project" && project?.name != null
      ? [["project_name", quoted(oneLine(project.name))]]
      : []),
    ["kind", kind],
    ["artifact", artifact],
  ];
  const evidence = [
    ...(sessions > 0 ? [`- Seen in ${sessions} ${sessions === 1 ? "session" : "sessions"}`] : []),
    ...(failed === null ? [] : [`- Failed: ${oneLine(failed)}`]),
    ...(worked === null ? [] : [`- Worked: ${oneLine(worked)}`]),
    ...(said === null ? [] : [`- Said: ${oneLine(said)}`]),
  ];
  return [
    "---",
    ...front.map(([key, value]) => `${key}: ${value}`),
    "---",
    "",
    `# ${id.replaceAll("-", " ")}`,
    "",
    "## Action",
    oneLine(action),
    "",
    "## Lesson",
    oneLine(lesson),
    "",
    "## Evidence",
    ...(evidence.length > 0 ? evidence : ["- Carried over by Knack"]),
    "",
  ].join("\n");
}

/**
 * Files for ECC's folder, by their paths below it: what holds everywhere in `instincts/personal`, a project's in
 * `projects/<id>/instincts/personal`. Two lessons of one name get a number.
 */
export function renderEccFiles(lessons: readonly CarriedLesson[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const lesson of lessons) {
    const named = lesson.project?.id ?? lesson.project?.name ?? null;
    const isHash = named !== null && /^[0-9a-f]{12}$/.test(named);
    const projectId = lesson.scope === "user" || named === null ? null : isHash ? named : eccProjectId(named);
    const folder = projectId === null ? "instincts/personal" : `projects/${projectId}/instincts/personal`;
    const stem = slugify(lesson.name, 120) || "lesson";
    let id = stem;
    for (let n = 2; files.has(`${folder}/${id}.md`); n++) id = `${stem}-${n}`;
    files.set(`${folder}/${id}.md`, renderEcc(lesson, { id, projectId }));
  }
  return files;
}

function quoted(value: string): string {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
