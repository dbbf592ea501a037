import type { ImportedLesson, ImportedSkill } from "../../records/index.ts";
import { quoteYaml } from "../../text/index.ts";

/** What an imported thing is. */
export function importKind(one: Pick<ImportedSkill, "type" | "kind"> | Pick<ImportedLesson, "type">) {
  return one.type === "lesson" ? "lesson" : (one.kind ?? "skill");
}

/** What is noted in something that came from elsewhere: who accepts it makes it live, and others' evidence is not theirs. */
export function importFacts(from: string): Readonly<Record<string, string>> {
  return { quality: "active", evidence: "imported", origin: "import", "imported-from": from };
}

/**
 * The file of a command or an agent with such facts in its front matter; the rest of it stays as it came. Null where it
 * has none.
 */
export function withImportFacts(text: string, from: string): string | null {
  const facts = importFacts(from);
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const close = lines.indexOf("---", 1);
  if (lines[0] !== "---" || close < 0) return null;
  const front = lines.slice(0, close).filter((line) => {
    const key = /^ {2}([\w-]+):/.exec(line)?.[1];
    return key === undefined || !Object.hasOwn(facts, key);
  });
  const at = front.indexOf("metadata:");
  const marks = Object.entries(facts).map(([key, value]) => `  ${key}: ${quoteYaml(value)}`);
  const marked =
    at < 0
      ? [...front, "metadata:", ...marks]
      : [...front.slice(0, at + 1), ...marks, ...front.slice(at + 1)];
  return [...marked, ...lines.slice(close)].join("\n");
}
