import { mostNamed } from "./failed-test.ts";
import { continued, messageOf, mostRead } from "./output.ts";
import { signatureOf } from "./signature.ts";

/** What is told of a fault: the line, the files, and what the line says. */
interface Told {
  readonly line: string;
  readonly about: string | null;
  readonly said: string;
}

/** What is wrong in which files, where an output says; the same words about another file are another trouble. */
export function faultInCode(output: string, lines: readonly string[]): Told | null {
  const raised = raisedIn(output, lines);
  if (raised !== null) return raised;
  const faults = lines.flatMap((line, at) => located(line, lines, at) ?? []);
  const [first] = faults;
  if (first === undefined) return null;
  const files = [...new Set(faults.map(({ file }) => signatureOf(file)))].sort();
  const about = files.length > mostNamed ? null : files.join(", ");
  return { line: first.line, about, said: `${first.file}: ${first.message}` };
}

/** Of an error that nobody caught the last line tells, and the innermost file that is no library. */
function raisedIn(output: string, lines: readonly string[]): Told | null {
  const frames = [...output.slice(-mostRead).matchAll(/File "([^"<]{1,300})", line \d+/g)].map(
    ([, file]) => file as string,
  );
  // Node says where in a line above the code.
  const above = lines
    .findLast((each) => /^\S*[/\\]\S+\.\w{1,5}(?::\d+){1,2}$/.test(each))
    ?.replace(/(?::\d+)+$/, "");
  const line = lines.findLast((each) =>
    /^(?:E +)?(?:[\w.]+(?:Error|Exception|Exit|Warning)\b|Type error:)/.test(each),
  );
  if (line === undefined || (frames.length === 0 && above === undefined)) return null;
  const file = frames.findLast((each) => !/(?:site|dist)-packages|\/lib\/python/.test(each)) ?? above;
  return { line, about: file === undefined ? null : signatureOf(file), said: messageOf(line) };
}

interface Fault {
  readonly file: string;
  readonly message: string;
  readonly line: string;
}

/** What a line says about a place in a file, however the tool writes that. */
function located(line: string, lines: readonly string[], at: number): Fault | null {
  const [, file, message] = placed.exec(continued(line, lines)) ?? [];
  if (file !== undefined && message !== undefined) return { file, message, line };
  const [, unformatted, rule = "format"] = formatted.exec(line) ?? ruled.exec(line) ?? [];
  if (unformatted !== undefined) return { file: unformatted, message: rule, line };
  // ESLint names the file above what it finds there, rustc below.
  const [, listed] = /^\d+:\d+ +error +(.+)$/.exec(line) ?? [];
  if (listed !== undefined) {
    const above = lines.slice(0, at).findLast((each) => /^\S*[/\\]\S*\.\w{1,5}$/.test(each));
    return above === undefined ? null : { file: above, message: listed, line };
  }
  const [, coded] = /^error(?:\[E\d+\])?: (.+)$/.exec(line) ?? [];
  const below = coded === undefined ? undefined : /^--> ([^\s:]+):\d+/.exec(lines[at + 1] ?? "")?.[1];
  return coded === undefined || below === undefined ? null : { file: below, message: coded, line };
}

const placed =
  /^(?:thread '[^']{1,80}' panicked at |[a-z]{2,12}:|\[ERROR\] )?((?:[A-Za-z]:)?[^\s:(]{1,200}\.\w{1,5})(?:(?::\d+(?::\d+)?|\(\d+,\d+\))(?:: | - )|:\[\d+,\d+\] )(?:fatal )?(?:(?:error|ERROR):? +)?(.+)$/;

const formatted = /^(?:would reformat:?|\[(?:warn|error)\]) (\S{1,200}\.\w{1,5})$/i;
const ruled = /^(?:at )?(\S{1,200}\.\w{1,5})(?::\d+:\d+)? (format|lint\/\S+|assist\/\S+)\b/;
