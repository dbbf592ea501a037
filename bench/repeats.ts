import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeLines } from "../test/helpers/claude.ts";
import { prose, seeded } from "../test/helpers/history.ts";

/** Failures that everybody meets, with the calls that overcome them. */
const troubles: readonly (readonly [failed: string, error: string, ...cure: string[]])[] = [
  ["pytest -q tests/unit", "Exit code 127\nbash: pytest: command not found", "uv run pytest -q tests/unit"],
  ["npm run lint", 'Exit code 1\nnpm ERR! Missing script: "lint"', "npm run lint:check"],
  ["python scripts/seed.py", "Exit code 127\nbash: python: command not found", "python3 scripts/seed.py"],
  [
    "git push",
    "Exit code 128\nfatal: The current branch tides has no upstream branch.",
    "git push -u origin HEAD",
  ],
  ["docker-compose up -d", "Exit code 127\nbash: docker-compose: command not found", "docker compose up -d"],
  [
    "psql -h localhost harbor",
    'Exit code 2\npsql: error: connection to server at "localhost", port 5432 failed: Connection refused',
    "docker compose up -d db",
    "psql -h localhost harbor",
  ],
];

/** Writes small sessions, one after the other, of which each meets two of the same few failures. */
export function writeRepeats(folder: string, sessions: number): void {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < sessions; n++) {
    const file = join(folder, `${nameSession(n)}.jsonl`);
    writeFileSync(file, writeSession(n));
    const at = startOf(n) / 1000;
    utimesSync(file, at, at);
  }
}

function nameSession(n: number): string {
  return `5f0c1a52-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

function startOf(n: number): number {
  return Date.UTC(2026, 0, 1) + n * 3_600_000;
}

function writeSession(n: number): string {
  const random = seeded(n);
  const lines = claudeLines(nameSession(n), `/home/dev/app-${n % 5}`);
  const records = [n, n * 5 + 2].flatMap((which, turn) => [
    lines.user(`Please see to part ${turn}: ${prose(random, 80)}`),
    ...writeTrouble(lines, troubles[which % troubles.length] as (typeof troubles)[number], `${n}_${turn}`),
    ...writeWork(lines, random, `${n}_${turn}`),
    lines.says(prose(random, 200)),
  ]);
  // Times and ids of its own: otherwise it would be a copy of the others.
  const hour = new Date(startOf(n)).toISOString().slice(0, 14);
  return records
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("")
    .replaceAll("2026-11-01T09:", hour)
    .replaceAll('"uuid":"00000000', `"uuid":"${String(n).padStart(8, "0")}`);
}

type Lines = ReturnType<typeof claudeLines>;

function writeTrouble(lines: Lines, [failed, error, ...cure]: (typeof troubles)[number], id: string) {
  return [
    lines.runs(`toolu_${id}`, failed),
    lines.result(`toolu_${id}`, error, { error: true, toolUseResult: `Error: ${error}` }),
    ...cure.flatMap((command, at) => [
      lines.runs(`toolu_${id}_${at}`, command),
      lines.result(`toolu_${id}_${at}`, "done", { toolUseResult: { stdout: "done", stderr: "" } }),
    ]),
  ];
}

function writeWork(lines: Lines, random: () => number, id: string) {
  return Array.from({ length: 3 }, (_, at) => {
    const [call, text] = [`toolu_${id}_w${at}`, prose(random, 1_500)];
    return [
      lines.calls(call, "Read", { file_path: `/home/dev/app/src/part-${at}.ts` }),
      lines.result(call, text, { toolUseResult: { type: "text", file: { content: text } } }),
    ];
  }).flat();
}
