import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { seeded } from "../helpers/history.ts";
import {
  aHome,
  aLesson,
  contextOf,
  filesBesideStore,
  type Home,
  holdWorkers,
  hook,
  noPython,
  notesAt,
  payloads,
  quiet,
  said,
  teach,
} from "../helpers/hook.ts";
import type { Ran } from "../helpers/knack.ts";
import { filesIn } from "../helpers/machine.ts";
import { sampled } from "../helpers/sampled.ts";
import { tempFolder } from "../helpers/temp.ts";

const command = "python manage.py migrate";
const long = 2 << 20;

/** One of each event that the hook answers to. */
function eachOf(home: Home, session?: string): Record<string, Record<string, unknown>> {
  const { start, prompt, failure, stop, end, compact, used } = payloads(home, session);
  const all = [
    start(),
    start("compact"),
    prompt(`run \`${command}\``),
    failure(command, noPython),
    stop(),
    compact(),
    end(),
    used(),
  ];
  return Object.fromEntries(all.map((payload, n) => [`${n} ${payload.hook_event_name}`, payload]));
}

/** Files outside of Knack's own folder. */
const outside = ({ home }: Home) =>
  Object.fromEntries(Object.entries(filesIn(home)).filter(([path]) => !path.startsWith(".knack/")));

async function taught(): Promise<Home> {
  const home = aHome();
  await teach(home, [aLesson()]);
  return home;
}

describe("whatever an agent hands over, the hook", () => {
  it.each(
    sampled<[string, string | Buffer]>(
      [
        ["nothing", ""],
        ["blanks", " \n\n"],
        ["half an object", '{"session_id": "a", "hook_event_name": "Stop"'],
        ["words", "what is this"],
        ["bytes", Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 73) % 256))],
        ["null", "null"],
        ["a number", "12"],
        ["a list", '[{"hook_event_name": "Stop"}]'],
        ["an empty object", "{}"],
        ["two objects", '{"session_id":"a"}\n{"session_id":"b"}'],
        ["a list a hundred thousand deep", "[".repeat(100_000)],
        ["an object ten thousand deep", `${'{"session_id":'.repeat(10_000)}1${"}".repeat(10_000)}`],
        ["no session", '{"hook_event_name":"Stop","transcript_path":"/t"}'],
        ["no event", '{"session_id":"a","transcript_path":"/t"}'],
        ["an event of tomorrow", '{"session_id":"a","transcript_path":"/t","hook_event_name":"Tomorrow"}'],
        ["two million brackets", "[".repeat(long)],
      ],
      6,
    ),
  )("leaves %s alone", async (_, input) => {
    const home = aHome();
    expect(said(await hook(input, home))).toBeNull();
    expect(notesAt(home.knackHome)).toEqual([]);
    expect(outside(home)).toEqual({});
  });

  test("takes fields of any type", async () => {
    const home = await taught();
    const work = holdWorkers(home);
    const odd = [null, 7, true, "", "日本", [1], { a: 1 }, deep(2_000)];
    const runs: Promise<Ran>[] = [];
    for (const [n, payload] of Object.values(eachOf(home)).entries())
      for (const [m, field] of Object.keys(payload).entries()) {
        const { [field]: _, ...missing } = payload;
        const isMissing = (n + m) % 3 === 0;
        runs.push(hook(isMissing ? missing : { ...payload, [field]: odd[(n + m) % odd.length] }, home));
        if (runs.length % 8 === 0) await Promise.all(runs);
      }
    for (const run of await Promise.all(runs)) said(run);
    await work();
    expect(outside(home)).toEqual({});
  });

  it.each(
    sampled(
      [
        ["a word said again and again", "python "],
        ["blanks", " "],
        ["something like a secret", "password=aB3$xY9!"],
        ["brackets", "{[("],
        ["quotes", "\"'`"],
        ["characters of two halves", "🙂日本"],
      ],
      2,
    ),
  )("takes two megabytes of %s, wherever they stand", async (_, unit) => {
    const home = await taught();
    const text = unit.repeat(Math.ceil(long / Buffer.byteLength(unit)));
    const by = (session: string) => payloads(home, session);
    const runs = await Promise.all([
      hook(by("a").prompt(text), home),
      hook(by("b").prompt(`run \`${command}\` now\n${text}`), home),
      hook(by("c").failure(command, text), home),
      hook(by("d").failure(text, noPython), home),
      hook(
        { ...by("e").failure("", text), tool_name: "Edit", tool_input: { file_path: "/a", new: text } },
        home,
      ),
      hook({ ...by("f").stop(), transcript_path: undefined, last_message: text }, home),
    ]);
    for (const run of runs) said(run);
    // A long prompt is listened to at its beginning.
    expect(contextOf(runs[1] as Ran)).toContain("python3");
    for (const name of readdirSync(join(home.knackHome, "spool")).filter((one) => one !== "taken"))
      expect(readFileSync(join(home.knackHome, "spool", name)).length, name).toBeLessThan(200_000);
  });

  test("keeps every session within its own folder, whatever it is called", async () => {
    const home = await taught();
    const work = holdWorkers(home);
    const sessions = [
      "../../../../outside",
      "..",
      ".",
      "",
      "/",
      join(home.home, "absolute"),
      "a\0b",
      "a\nb",
      "$(touch x) `y` ; & | * ?",
      "日本語 ñandú Ünïcødé 🙂",
      "x".repeat(10_000),
      "\ud800",
    ];
    const events = sessions.flatMap((session) => {
      const { start, failure, end } = payloads(home, session);
      return [start("compact"), failure(command, noPython), end(), { ...end(), transcript_path: null }];
    });
    for (let from = 0; from < events.length; from += 8) {
      const some = events.slice(from, from + 8).map((payload) => hook(payload, home));
      for (const run of await Promise.all(some)) said(run);
    }
    await work();
    expect(outside(home)).toEqual({});
    expect(readdirSync(home.home).sort()).toEqual([".knack", "harbor"]);
    expect(readdirSync(home.knackHome)).not.toContain("told");
    const seen = readdirSync(join(home.knackHome, "seen")).filter((name) => name !== "projects");
    expect(seen).toHaveLength(sessions.length);
  });

  test("tells sessions apart whose names differ by what no file may be called, or late", async () => {
    const home = await taught();
    const tail = "x".repeat(200);
    const sessions = ["a/b", "a_b", "a b", "a.b", "日本", "中国", `${tail}1`, `${tail}2`];
    for (const session of sessions) {
      expect(contextOf(await hook(payloads(home, session).failure(command, noPython), home))).toContain(
        "python3",
      );
      said(await hook(payloads(home, session).start(), home));
    }
    const places = notesAt(home.knackHome).filter(({ type }) => type === "place");
    expect(places.map(({ session }) => session).sort()).toEqual([...sessions].sort());
  });

  test("notes a transcript whose path has blanks and letters of many languages", async () => {
    const home = aHome(join(tempFolder(), "mañana 日本 folder"));
    const transcript = join(home.home, "Straße und mehr/a b.jsonl");
    said(await hook({ ...payloads(home).start(), transcript_path: transcript }, home));
    expect(notesAt(home.knackHome)).toMatchObject([{ type: "place", transcript, cwd: home.project }]);
  });
});

/** Something many levels deep. */
function deep(levels: number): unknown {
  let value: unknown = "x";
  for (let n = 0; n < levels; n++) value = { a: value };
  return value;
}

describe("with nothing to write on, the hook", () => {
  /** Each place that a person might leave Knack with. */
  const conditions: [string, (home: Home) => { uid?: number; through?: readonly string[] }][] = [
    [
      "a home that is a file",
      ({ knackHome }) => {
        rmSync(knackHome, { recursive: true, force: true });
        writeFileSync(knackHome, "not a folder");
        return {};
      },
    ],
    [
      "a spool and a log that are files",
      ({ knackHome }) => {
        for (const name of ["spool", "log", "seen"]) {
          rmSync(join(knackHome, name), { recursive: true, force: true });
          writeFileSync(join(knackHome, name), "not a folder");
        }
        return {};
      },
    ],
    [
      "a home that may only be read",
      ({ home, knackHome }) => {
        const seal = (folder: string) => {
          for (const entry of readdirSync(folder, { withFileTypes: true }))
            if (entry.isDirectory()) seal(join(folder, entry.name));
            else chmodSync(join(folder, entry.name), 0o444);
          chmodSync(folder, 0o555);
        };
        seal(knackHome);
        chmodSync(home, 0o755);
        // For the superuser no permission counts, so somebody else looks.
        return process.getuid?.() === 0 ? { uid: 65_534 } : {};
      },
    ],
    ["files that may not grow", () => ({ through: ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"] })],
  ];

  it.each(sampled(conditions, 3))(
    "is silent on %s, and says at a session's start that it cannot learn",
    async (_, spoil) => {
      const home = await taught();
      const how = spoil(home);
      const before = filesBesideStore(home.home);
      for (const [name, payload] of Object.entries(eachOf(home))) {
        const told = said(await hook(payload, { ...home, ...how }));
        if (name.includes("SessionStart"))
          expect(told?.systemMessage).toMatch(/^Knack cannot learn from this session/);
        expect(told?.hookSpecificOutput).toBeUndefined();
      }
      await quiet(home.home);
      // Marks are empty files, which a full disk may still take; nothing half-written stays.
      const full = (files: Record<string, string>) =>
        Object.entries(files).filter(
          ([path, text]) => (text !== "" && !path.includes("/cache/")) || path.endsWith(".new"),
        );
      expect(full(filesBesideStore(home.home))).toEqual(full(before));
    },
  );

  // In some containers only root may do all of this.
  const tryMounts = "mount -t tmpfs none /mnt && mount -o remount,ro /mnt";
  const namespaces = spawnSync("unshare", ["-rm", "sh", "-c", tryMounts]).status === 0;

  test.skipIf(!namespaces)(
    "is silent on a disk that is really full or read-only (needs mount namespaces)",
    async () => {
      for (const mount of [
        'mount -t tmpfs -o size=16k none "$KNACK_HOME" && { head -c 1000000 /dev/zero > "$KNACK_HOME/full" 2>/dev/null; true; }',
        'mount -t tmpfs none "$KNACK_HOME" && mkdir "$KNACK_HOME/spool" && mount -o remount,ro "$KNACK_HOME"',
      ]) {
        const home = await taught();
        for (const [name, payload] of Object.entries(eachOf(home))) {
          const through = ["unshare", "-rm", "sh", "-c", `${mount} && exec "$@"`, "sh"];
          const told = said(await hook(payload, { ...home, through }));
          if (name.includes("SessionStart"))
            expect(told?.systemMessage).toMatch(/cannot write to .* \((ENOSPC|EROFS)\)/);
        }
        await quiet(home.home);
      }
    },
  );

  test("is silent where there is neither a home nor a folder to be in", async () => {
    const home = aHome();
    const gone = join(home.home, "gone");
    const through = ["sh", "-c", `mkdir ${gone} && cd ${gone} && rmdir ${gone} && exec "$@"`, "sh"];
    for (const env of [
      { KNACK_HOME: "relative" },
      { HOME: undefined, KNACK_HOME: undefined, USERPROFILE: undefined },
    ]) {
      const uid = process.getuid?.() === 0 && env.KNACK_HOME === undefined ? { uid: 54_321 } : {};
      const at = "uid" in uid ? {} : { through };
      expect(said(await hook(payloads(home).used(), { ...home, env, ...at, ...uid }))).toBeNull();
    }
  });
});

describe("a snapshot", () => {
  const path = ({ knackHome }: Home) => join(knackHome, "snapshot/knack.table");

  it.each(
    sampled<[string, (path: string) => void, boolean]>(
      [
        ["missing", () => {}, true],
        ["empty", (path) => writeFileSync(path, ""), true],
        ["of another kind", (path) => writeFileSync(path, "SQLite format 3\0".repeat(100)), true],
        ["a folder with things in it", (path) => mkdirSync(join(path, "things"), { recursive: true }), false],
      ],
      2,
    ),
  )("that is %s makes the hook silent, and the next worker mends it if it can", async (_, make, mends) => {
    const home = await taught();
    rmSync(path(home));
    make(path(home));
    const { failure, prompt, start, stop } = payloads(home);
    for (const payload of [failure(command, noPython), prompt(`run \`${command}\``), start(), stop()])
      expect(said(await hook(payload, home))?.hookSpecificOutput).toBeUndefined();
    await quiet(home.home);
    const told = contextOf(await hook(payloads(home, "later").failure(command, noPython), home));
    expect(told.includes("python3")).toBe(mends);
  });

  test("that is damaged or cut anywhere tells the truth or nothing", async () => {
    const home = await taught();
    const good = readFileSync(path(home));
    const truth = contextOf(await hook(payloads(home, "first").failure(command, noPython), home));
    expect(truth).toContain("python3");
    const random = seeded(11);
    const anywhere = () => Math.floor(random() * good.length);
    const spoilt = [
      ...sampled([0, 14, 15, 17, 18, 21, 22, 25, 26, 40], 5).map((at) => flipped(good, [at])),
      ...Array.from({ length: 3 }, () => flipped(good, [anywhere()])),
      ...Array.from({ length: 2 }, () => flipped(good, Array.from({ length: 60 }, anywhere))),
      ...Array.from({ length: 3 }, () => good.subarray(0, anywhere())),
      Buffer.concat([good.subarray(0, 14), Buffer.alloc(good.length - 14, 0xff)]),
    ];
    for (const [n, bytes] of spoilt.entries()) {
      writeFileSync(path(home), bytes);
      const told = contextOf(await hook(payloads(home, `session-${n}`).failure(command, noPython), home));
      expect(["", truth]).toContain(told);
    }
  });
});

function flipped(bytes: Buffer, places: readonly number[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const at of places) copy[at] = (copy[at] ?? 0) ^ 0xa5;
  return copy;
}

describe("a hook that is ended half-way", () => {
  test("leaves nothing behind while it waits for its input", async () => {
    const home = await taught();
    const bytes = JSON.stringify(payloads(home).stop());
    for (const terminateAfter of [0, 20, 60, 300]) {
      const run = await hook(bytes.slice(0, 30), { ...home, terminateAfter, more: true });
      expect(run).toEqual({ code: null, signal: "SIGTERM", stdout: "", stderr: "" });
    }
    expect(notesAt(home.knackHome)).toEqual([]);
  });

  test("leaves a whole note or none, and says its whole word or none", async () => {
    const home = await taught();
    const { start } = payloads(home);
    let noted = 0;
    for (let terminateAfter = 24; terminateAfter < 60; terminateAfter += 3) {
      const session = `session-${terminateAfter}`;
      const { failure } = payloads(home, session);
      const run = await hook(failure(command, noPython), { ...home, terminateAfter });
      expect([0, null]).toContain(run.code);
      expect(run.stderr).toBe("");
      if (run.stdout !== "") expect(contextOf({ ...run, code: 0, signal: null })).toContain("python3");
      const notes = notesAt(home.knackHome).filter((note) => note.session === session);
      // What was said was noted before.
      expect(notes.length).toBeGreaterThanOrEqual(run.stdout === "" ? 0 : 1);
      noted += notes.length;
    }
    expect(said(await hook(start(), home))?.hookSpecificOutput).toBeUndefined();
    // The start leaves two: where the transcript is, and what the person was asked.
    expect(notesAt(home.knackHome)).toHaveLength(noted + 2);
  });
});
