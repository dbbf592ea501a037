/** The tests that an output names as failed, each with the line that does. */
export function failedTests(lines: readonly string[]): ReadonlyMap<string, string> {
  for (const find of runners) {
    const found = new Map<string, string>();
    lines.forEach((line, at) => {
      const name = find(line, lines, at);
      if (name !== null && !found.has(name)) found.set(name, line.includes(name) ? line : name);
    });
    for (const name of found.keys())
      if ([...found.keys()].some((other) => isWithin(other, name))) found.delete(name);
    if (found.size > 0) return found;
  }
  return new Map();
}

/** A few failed tests by their names; null where they are so many that the names say little. */
export function fewOf(
  failing: ReadonlyMap<string, string>,
  lines: readonly string[],
): { readonly line: string; readonly about: string } | null {
  const [first] = failing.values();
  const count = Math.max(failing.size, ...lines.map((line) => Number(counted.exec(line)?.[1] ?? 0)));
  if (first === undefined || count > mostNamed) return null;
  return { line: first, about: [...failing.keys()].sort().join(", ") };
}

export const counted = /^\W*(?:tests?:? +)?([1-9]\d*) (?:tests? )?fail(?:ed|ing|ures?)?\b/i;

/** Go names `TestTotal` beside `TestTotal/empty`, which is the one that failed. */
function isWithin(name: string, outer: string): boolean {
  return name.startsWith(`${outer}/`);
}

/** More failures than these are no trouble with a test, but with what they test. */
export const mostNamed = 3;

type Naming = (line: string, lines: readonly string[], at: number) => string | null;

/** How test runners name what failed; the first that finds something is the one that ran. */
const runners: readonly Naming[] = [
  byPattern(/^FAILED (\S+?::.{1,200}?)(?: - .*)?$/),
  byPattern(/^--- FAIL: (\S+)/),
  byPattern(/^test (\S+)(?: - .{1,80})? \.\.\. FAILED$/),
  byPattern(/^FAIL +(\S+ > .{1,200})$/),
  byPattern(/^● (?!Test suite failed|Console|Cannot log)(.{1,200})$/),
  byPattern(/^\(fail\) (.{1,200})$/),
  byPattern(/^(?:\d+\) )?(\[[\w -]+\] › .{1,200})$/),
  titleOfMocha,
  byPattern(/^(?:FAIL|ERROR): (\w+ \([\w.]+\))/),
  byPattern(/^rspec (\S+ # .{1,200})$/),
  byPattern(/^(\w[\w.$]* > .{1,200}) FAILED$/),
  byPattern(/^(?:\[ERROR\] )?([\w.$()[\]]+) +(?:--? )?Time elapsed:.*<<< (?:FAILURE|ERROR)!/),
  byPattern(/^not ok \d+ -? ?(.{1,200})$/),
  byPattern(/^[✕✗✘×] +(?!\d+ |\[ERROR|.* --\w)(.{1,200})$/),
];

function byPattern(pattern: RegExp): Naming {
  return (line) => {
    const name = pattern.exec(line)?.[1];
    return name === undefined ? null : withoutMoment(name);
  };
}

/** A test's name without how long it took and the line where it stands. */
function withoutMoment(name: string): string {
  return name
    .replace(/[\s─]+$/, "")
    .replace(/\s*[([][\d.]+ ?m?s[)\]]$/, "")
    .replace(/(\.\w{1,5}):\d+(?::\d+)?/, "$1");
}

/** `1) cart`, and below it `rounds to cents:`. */
function titleOfMocha(line: string, lines: readonly string[], at: number): string | null {
  if (!/:$/.test(line) || !lines.some((each) => /^\d+ failing$/.test(each))) return null;
  for (let start = at; start >= 0 && start > at - 4; start--) {
    const first = /^\d+\) (.+)$/.exec(lines[start] as string)?.[1];
    if (first !== undefined) return [first, ...lines.slice(start + 1, at + 1)].join(" ").slice(0, -1);
  }
  return null;
}
