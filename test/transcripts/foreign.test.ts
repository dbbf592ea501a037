import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { Transcripts } from "../../src/transcripts/files.ts";
import { type SessionBuilder, SessionBuilders } from "../../src/transcripts/reader.ts";
import { readers } from "../../src/transcripts/readers/readers.ts";
import { placed } from "../helpers/documents.ts";
import { tempFolder } from "../helpers/temp.ts";

/** JSON of other kinds, much like that of some session. */
const others: readonly (readonly [string, unknown])[] = [
  ["a package.json", { name: "a", version: "1.0.0", scripts: { test: "x" }, agent: "b", history: [] }],
  ["a tsconfig.json", { compilerOptions: { strict: true }, include: ["src"] }],
  ["a lockfile", { name: "a", lockfileVersion: 3, packages: { "": { name: "a" } } }],
  [
    "an OpenAPI document",
    { openapi: "3.1.0", info: { title: "a" }, paths: {}, components: { messages: [] } },
  ],
  ["a notebook", { cells: [{ cell_type: "code", source: ["x"], outputs: [] }], metadata: {}, nbformat: 4 }],
  [
    "translations",
    {
      messages: [
        { id: "greeting", text: "hello" },
        { id: "bye", content: "bye" },
      ],
    },
  ],
  ["a line of a log", { type: "user", message: "login", sessionId: "s1", timestamp: "2026-11-01T09:00:00Z" }],
  ["a list of numbers", [1, 2, 3]],
  [
    "a list of people",
    [
      { role: "admin", name: "a" },
      { role: "user", name: "b" },
    ],
  ],
  [
    "an inbox",
    {
      messages: [
        { role: "user", content: "hi" },
        { from: "b", content: "hello" },
      ],
    },
  ],
  ["a conversation of one", [{ role: "user", content: "hi" }]],
  ["a recipe", { schema_version: "1.0", steps: [{ step_id: 1, message: "stir" }] }],
  ["a build plan", { agent: { name: "a" }, steps: [{ step_id: 1, source: "git" }] }],
  ["a flight path", { trajectory: [{ action: "climb" }, { observation: "cloud" }] }],
  ["the history of an order", { history: [{ role: "clerk", action: "packed" }] }],
  ["a Kubernetes list", [{ kind: "Pod", apiVersion: "v1", metadata: {} }, { kind: "PauseEvent" }]],
  ["a web hook", { source: "user", action: "opened", number: 3, args: {} }],
  [
    "an audit log",
    [
      { source: "agent", action: "login" },
      { source: "environment", observation: "ok" },
    ],
  ],
  ["nothing", {}],
  ["an empty list", []],
];

const known = ["swe-agent", "mini-swe-agent", "cursor"];
const mine = <T extends { readonly format: string }>(all: readonly T[]) =>
  all.filter(({ format }) => known.includes(format));

describe("the readers of other agents' sessions", () => {
  it.each(others)("do not take %s for one", (_, document) => {
    expect(
      readers.documents.filter((one) => one.recognises(document as Json)).map(({ format }) => format),
    ).toEqual([]);
    expect(
      readers.lines
        .filter((one) => isObject(document) && one.recognises(document))
        .map(({ format }) => format),
    ).toEqual([]);
  });

  test("take no other JSON for one", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        expect(mine(readers.documents).some((one) => one.recognises(document as Json))).toBe(false);
        expect(mine(readers.lines).some((one) => isObject(document) && one.recognises(document))).toBe(false);
      }),
    );
  });

  test("read whatever has the names of their fields, and number what they find", () => {
    fc.assert(
      fc.property(shaped, (content) => {
        const found: ReadonlyMap<string, SessionBuilder>[] = [];
        const whole = () => {
          const threads = new SessionBuilders("transcript", null);
          found.push(threads);
          return threads;
        };
        for (const one of mine(readers.documents)) one.read(content, whole(), "/a.json");
        for (const one of mine(readers.lines)) {
          const reading = one.open("/a.jsonl", null);
          for (const each of [content, ...(Array.isArray(content) ? content : [])])
            if (isObject(each)) reading.take(each, 1);
          found.push(reading.sessions);
          expect(JSON.parse(JSON.stringify(reading.state()))).toEqual(reading.state());
        }
        for (const thread of found.flatMap((threads) => [...threads.values()])) {
          const refs = thread.drain().map(({ ref }) => ref);
          expect(refs).toEqual(refs.map((_, at) => `e${at + 1}`));
        }
      }),
    );
  });
});

/** Values under the names and with the words that the formats use, of any type. */
const names =
  "messages trajectory history steps role content tool_calls tool_call_id function function_call arguments name id action observation thought state response args extras metadata exit_code cause source kind llm_message tool_name message results source_call_id step_id schema_version agent extra actions command replay_config env repo subagent_trajectories text type timestamp info config environment rejection_reason".split(
    " ",
  );
const words = fc.constantFrom(
  ..."user assistant tool function agent environment run message finish error text tool_use tool_result {} [] ATIF-v1.6 <returncode>1</returncode> ```bash".split(
    " ",
  ),
);
const { any } = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    words,
    fc.constantFrom<Json>(null, 0, -1, 1e13, true, ""),
    fc.string(),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("any"), { maxKeys: 6 }),
  ) as fc.Arbitrary<Json>,
}));

/** Records that say of which kind they are, and may say anything else. */
const record = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...names), any, { maxKeys: 6 }),
    fc.record(
      {
        role: fc.constantFrom("user", "assistant", "tool", "function"),
        source: fc.constantFrom("user", "agent", "environment"),
        kind: fc.constantFrom(
          "MessageEvent",
          "ActionEvent",
          "ObservationEvent",
          "UserRejectObservation",
          "AgentErrorEvent",
        ),
        action: fc.constantFrom("run", "message", "finish", "edit"),
        observation: fc.constantFrom("run", "error", "user_rejected"),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([some, named]): JsonObject => ({ ...some, ...named }));
const shaped = fc.tuple(fc.array(record, { maxLength: 6 }), fc.boolean(), any).map(
  ([records, bare, extra]): Json =>
    bare
      ? records
      : {
          messages: records,
          trajectory: records,
          history: records,
          steps: records,
          info: extra,
          replay_config: extra,
        },
);

describe("a file of another agent", () => {
  const write = (path: string, content: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  const read = async (path: string) => {
    const sessions: [string | null, string, ...string[]][] = [];
    for await (const { format, threads, diagnostics } of new Transcripts().read(path, null)) {
      expect(diagnostics).toEqual([]);
      for (const { name, events } of threads) sessions.push([format, name, ...placed(events)]);
    }
    return sessions;
  };
  const chat = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "hello" },
  ];
  const mini = {
    trajectory_format: "mini-swe-agent-1",
    messages: [{ role: "system", content: "s" }, ...chat],
  };
  const swe = {
    trajectory: [{ thought: "hello", action: "ls", observation: "a" }],
    history: [{ role: "user", agent: "main", content: "hi" }],
  };
  const miniTold = ['1 prompt "hi"', '2 reply "hello"'];

  it.each<[string, string, unknown, [string, string, ...string[]][]]>([
    ["a trajectory of mini", "a.traj.json", mini, [["mini-swe-agent", "", ...miniTold]]],
    [
      "a trajectory of SWE-agent",
      "a.traj",
      swe,
      [["swe-agent", "", '0 prompt "hi"', '0 reply "hello"', "0 call bash ok"]],
    ],
  ])("that is %s is read, over many lines and on one", async (_, name, document, expected) => {
    const folder = tempFolder();
    const spread = await read(write(join(folder, "spread", name), JSON.stringify(document, null, 2)));
    const dense = await read(write(join(folder, "dense", name), JSON.stringify(document)));
    expect(spread).toEqual(expected);
    expect(dense).toEqual(expected);
  });

  it.each<[string, string, string, [string, string, ...string[]][]]>([
    [
      "messages of Cursor, a line each",
      "a.jsonl",
      `${JSON.stringify({ role: "user", message: { content: [{ type: "text", text: "hi" }] } })}\n`,
      [["cursor", "", '1 prompt "hi"']],
    ],
  ])("that holds %s is read", async (_, name, content, expected) => {
    expect(await read(write(join(tempFolder(), name), content))).toEqual(expected);
  });
});
