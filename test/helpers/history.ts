import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claudeLines } from "./claude.ts";
import { codexLines, exited } from "./codex.ts";

/** A made-up history of agent sessions, as large as asked for and the same every time. */
export interface HistoryOptions {
  readonly sessions: number;
  /** Turns in each session; one turn is some seven lines of five kilobytes. */
  readonly turns: number;
}

export function writeHistory(
  folder: string,
  { sessions, turns }: HistoryOptions,
): { files: string[]; bytes: number } {
  const files: string[] = [];
  let bytes = 0;
  for (let n = 0; n < sessions; n++) {
    const codex = n % 4 === 3;
    const file = codex
      ? join(folder, ".codex/sessions/2026/11/01", `rollout-${n}.jsonl`)
      : join(folder, ".claude/projects/-home-dev-app", `${idOf(n)}.jsonl`);
    const text = codex ? codexSession(n, turns) : claudeSession(n, turns);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    // Times of their own, so that newest first is the same order every time.
    utimesSync(file, 1_760_000_000 + n, 1_760_000_000 + n);
    files.push(file);
    bytes += Buffer.byteLength(text);
  }
  return { files, bytes };
}

function idOf(n: number): string {
  return `5f0c1a52-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

export function claudeSession(n: number, turns: number): string {
  const random = seeded(n);
  const { user, says, thinks, runs, calls, result, queue } = claudeLines(idOf(n), `/home/dev/app-${n % 5}`);
  const records: object[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const [a, b] = [`toolu_${n}_${turn}a`, `toolu_${n}_${turn}b`];
    // A few files are long, as in life.
    const [output, file] = [prose(random, 1_200), prose(random, random() < 0.06 ? 40_000 : 2_400)];
    const failed = random() < 0.2;
    records.push(
      user(`Please look at part ${turn} and ${prose(random, 80)}`),
      thinks(prose(random, 1_500)),
      says(prose(random, 300)),
      runs(a, `npm test -- --grep "part ${turn}"`),
      {
        type: "progress",
        data: { type: "bash_progress", output: output.slice(0, 400) },
        toolUseID: a,
        sessionId: idOf(n),
      },
      result(
        a,
        failed ? `Exit code 1\n${output}` : output,
        failed
          ? { error: true, toolUseResult: `Error: Exit code 1\n${output}` }
          : { toolUseResult: { stdout: output, stderr: "", interrupted: false } },
      ),
      calls(b, "Read", { file_path: `/home/dev/app-${n % 5}/src/part-${turn}.ts` }),
      result(b, file, { toolUseResult: { type: "text", file: { filePath: "part.ts", content: file } } }),
      says(prose(random, 200)),
    );
    if (turn % 10 === 5) records.push(queue("enqueue", `and keep ${turn} in mind`), queue("remove"));
  }
  return jsonl(records);
}

export function codexSession(n: number, turns: number): string {
  const random = seeded(n);
  const { meta, typed, message, runs, output } = codexLines(`/home/dev/app-${n % 5}`);
  const records: object[] = [meta({ id: idOf(n), base_instructions: { text: prose(random, 8_000) } })];
  for (let turn = 0; turn < turns; turn++) {
    const [a, b] = [`call_${n}_${turn}a`, `call_${n}_${turn}b`];
    records.push(
      typed(`Please look at part ${turn}`),
      message("assistant", prose(random, 300)),
      runs(a, `cargo test part_${turn}`),
      output(a, exited(random() < 0.2 ? 101 : 0, prose(random, 2_000))),
      runs(b, `sed -n 1,80p src/part_${turn}.rs`),
      output(b, exited(0, prose(random, 3_000))),
      message("assistant", prose(random, 200)),
    );
  }
  return jsonl(records);
}

function jsonl(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Words as tool output has them; a few look as if a secret followed. */
const words = [
  ..."const export return import function await async class interface type extends string number boolean null undefined".split(
    " ",
  ),
  ..."error: expected received warning: cannot find module in at from with and the to of is not a an be for on as it".split(
    " ",
  ),
  ..."src/parts/index.ts:42:7 ./store ../lib/util.js package.json dist/ node_modules/ README.md test/unit/a.spec.ts".split(
    " ",
  ),
  ..."PASS FAIL ok ✓ ✗ 12.5 ms 0x7f3a 1,024 100% v2.3.1 2026-11-01T09:00:00Z => { } ( ) [ ] ; // /* */ === !== && ||".split(
    " ",
  ),
  ..."git diff --stat npm run build cargo test --release docker compose up -d kubectl get pods pytest -q make lint".split(
    " ",
  ),
  ..."Object.<anonymous> TypeError: ReferenceError: ENOENT: EACCES: Traceback (most recent call last): panicked at".split(
    " ",
  ),
  ..."harbor vessel berth tide station height captain pilot schedule arrival departure cargo manifest route weather".split(
    " ",
  ),
  ..."日本語 说明 mañana Straße ".split(" "),
  ..."tokens: 9fceb02d0ae598e95dc970b74767f19372d61af8 @harbor/berth-schedule-service/dist \n \n \n \n".split(
    " ",
  ),
];

export function prose(random: () => number, length: number): string {
  let text = "";
  while (text.length < length) text += `${words[Math.floor(random() * words.length)]} `;
  return text;
}

/** Random numbers that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed + 0x6d2b79f5;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
