import type { Run } from "./run.ts";

/** Commands of a script that is handed to a program, as a shell would run them. */
interface InlineScript {
  readonly commands: string;
  /** Whether the program is a shell, so that the commands are all there is to it. */
  readonly isWhole: boolean;
  /** Whether their failure is the program's. */
  readonly decides: boolean;
}

/** The scripts of `bash -c "…"`, `bash <<EOF` and `python - <<EOF`, each as the commands that it runs. */
export function readInlineScripts({ name, args }: Run, document: string | null): InlineScript[] {
  const [flag = "", given] = args;
  if (shells.has(name)) {
    const isFed = document !== null && args.every((arg) => arg.startsWith("-"));
    const script = /^-\w*c$/.test(flag) ? given : isFed ? document : undefined;
    return script === undefined ? [] : [{ commands: script, isWhole: true, decides: true }];
  }
  if (!/^python[\d.]*$/.test(name)) return [];
  const script = flag === "-c" ? given : flag === "-" || args.length === 0 ? document : null;
  return script == null || !startsPrograms.test(script) ? [] : listStarted(script);
}

const shells = new Set(["bash", "sh", "zsh"]);
const startsPrograms = /\bsubprocess\.|\bos\.(?:system|popen)\(/;

/** The commands that a Python script starts, where they are written out. */
function listStarted(script: string): InlineScript[] {
  return [...script.matchAll(started)].flatMap(([, how = "", , text, list = "", options = ""]) => {
    const commands = text ?? joinWords(list);
    const decides = how.startsWith("check_") || /\bcheck\s*=\s*True\b/.test(options);
    return commands === null ? [] : [{ commands, isWhole: false, decides }];
  });
}

const started =
  /\b(?:os|subprocess)\.(system|popen|run|call|check_call|check_output|Popen|getoutput)\(\s*(?:(["'])((?:(?!\2)[^\\\n])*)\2|\[([^[\]]*)\])([^()]*)/g;

/** The words of a list; null where one of them is not written out. */
function joinWords(list: string): string | null {
  const words = [...list.matchAll(literal)].map(([, , word = ""]) => word);
  if (words.length === 0 || list.replace(literal, "").replace(/[\s,]/g, "") !== "") return null;
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`))
    .join(" ");
}

const literal = /(["'])((?:(?!\1)[^\\\n])*)\1/g;
