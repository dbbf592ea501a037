import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { type Knack, type KnackOptions, openKnack } from "../../src/open.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { claudeLines } from "../helpers/claude.ts";
import { type Act, anEndpoint, type Endpoint, type Question } from "../helpers/endpoint.ts";
import { answering, keepingAll, recordIn } from "../helpers/judging.ts";
import { root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";
import { secrets } from "../trust/secrets.ts";

const start = Date.UTC(2026, 10, 2);
const minute = 60_000;

/** A person's machine with a model of their choice. */
interface Desk {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly clock: { now(): number; pass(ms: number): void };
  /** Writes a session in which tests failed and then worked, and a person set a rule; answers with its file. */
  session(name: string, more?: readonly string[]): string;
  open(options?: KnackOptions): Promise<Knack>;
  entries(): Promise<LedgerEntry[]>;
}

function desk(settings: object = {}, env: Record<string, string> = {}): Desk {
  const home = tempFolder();
  const around = { HOME: home, KNACK_HOME: join(home, ".knack"), PATH: "/nowhere", ...env };
  mkdirSync(around.KNACK_HOME);
  writeFileSync(join(around.KNACK_HOME, "config.json"), JSON.stringify(settings));
  let now = start;
  const clock = {
    now: () => now++,
    pass: (ms: number) => {
      now += ms;
    },
  };
  return {
    home,
    env: around,
    clock,
    session: (name, more = []) => {
      const path = join(home, "sessions", `${name}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, told(name, more));
      return path;
    },
    open: async (options = {}) => {
      const knack = await openKnack({ env: around, clock, ...options });
      onTestFinished(() => knack.close());
      return knack;
    },
    entries: async () => {
      const store = await openSqlite({ path: join(around.KNACK_HOME, "knack.db"), clock });
      try {
        return await store.ledger.all();
      } finally {
        await store.close();
      }
    },
  };
}

/** A session's lines; what is said more comes at the end, one prompt each. */
function told(name: string, more: readonly string[]): string {
  const { user, says, runs, result } = claudeLines(`5f0c1a52-0000-4000-8000-${name.padStart(12, "0")}`);
  const failed = (id: string, text: string) => result(id, text, { error: true });
  const lines = [
    user(`Run the tests, this is session ${name}`),
    says("Running them."),
    runs("t1", "npm test"),
    failed("t1", "Exit code 1\nError: DATABASE_URL is not set; copy .env.test to .env"),
    runs("t2", "cp .env.test .env && npm test"),
    result("t2", "12 passed"),
    user("No, never edit generated/schema.ts by hand; change schema/harbor.json and run `npm run codegen`"),
    says("You're right, I will change schema/harbor.json and run codegen."),
    runs("t3", "npm run codegen"),
    result("t3", "written"),
    runs("t4", "npm test"),
    result("t4", "12 passed"),
    runs("t5", "git status --short"),
    result("t5", " M schema/harbor.json"),
    says("Done."),
    ...more.flatMap((text, n) => [
      user(text),
      says("Understood."),
      runs(`m${n}`, `echo ${n}`),
      result(`m${n}`, `${n}`),
    ]),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

const providers = {
  anthropic: { model: "anthropic/claude-haiku-4-5", keyEnv: "TEST_KEY" },
  openai: { model: "openai/some-mini", keyEnv: "TEST_KEY" },
};

async function deskWith(
  act: (question: Question, number: number) => Act,
  provider: keyof typeof providers = "openai",
  more: object = {},
): Promise<{ at: Desk; endpoint: Endpoint }> {
  const endpoint = await anEndpoint(act);
  const { model, keyEnv } = providers[provider];
  const at = desk(
    {
      observer: "model",
      model,
      "model.url": endpoint.url,
      "model.keyEnv": keyEnv,
      "model.timeoutMs": 30_000,
      "model.inputUsd": 1,
      "model.outputUsd": 5,
      ...more,
    },
    { TEST_KEY: "not-a-secret-word" },
  );
  return { at, endpoint };
}

const kept = (question: Question): Act => ({ value: keepingAll(question.prompt) });

/** What rules alone find in the same session. */
async function heuristic(path: string) {
  const knack = await desk().open({ dryRun: true, blank: true });
  const { findings } = await knack.learn([path]);
  return findings.map(({ finding }) => finding);
}

const ofType = <Type extends LedgerEntry["type"]>(entries: readonly LedgerEntry[], type: Type) =>
  entries.flatMap((entry) => (entry.type === type ? [entry as Extract<LedgerEntry, { type: Type }>] : []));

describe.each(["anthropic", "openai"] as const)("AC2: a model behind the API of %s", (provider) => {
  test("keeps in better words, drops with a reason and adds its own; all of it is paid for once", async () => {
    const { at, endpoint } = await deskWith(({ prompt }) => {
      const { candidates } = recordIn(prompt);
      const rule = candidates.find(({ lesson }) => lesson.includes("schema.ts"));
      const verdicts = candidates.map(({ id }) =>
        id === rule?.id
          ? {
              id,
              keep: true,
              lesson: "generated/schema.ts is generated: change schema/harbor.json.",
              confidence: 0.85,
            }
          : { id, keep: false, because: "said once, for this task" },
      );
      const own = {
        kind: "error-recovery",
        lesson: "Tests need the variables of .env.test.",
        trigger: "npm test says DATABASE_URL is not set",
        action: "cp .env.test .env",
        confidence: 0.9,
        refs: ["e3", "e4"],
      };
      return { value: answering(verdicts, [own]) };
    }, provider);
    const path = at.session("1");
    const knack = await at.open();
    const { findings, judged } = await knack.learn([path]);
    expect(findings.map(({ finding: { kind, lesson } }) => `${kind}: ${lesson}`).sort()).toEqual([
      "error-recovery: Tests need the variables of .env.test.",
      "user-correction: generated/schema.ts is generated: change schema/harbor.json.",
    ]);
    const before = (await heuristic(path)).find(({ kind }) => kind === "user-correction");
    const after = findings.find(({ finding }) => finding.kind === "user-correction")?.finding;
    expect(after).toMatchObject({ refs: before?.refs, keys: before?.keys, excerpt: before?.excerpt });
    expect(judged[0]).toMatchObject({ fellBack: null, own: [{ kind: "error-recovery" }] });
    expect(judged[0]?.dropped[0]?.because).toBe("said once, for this task");
    const [question] = endpoint.asked as [Question];
    expect([question.key, question.model, question.path]).toEqual(
      provider === "anthropic"
        ? ["not-a-secret-word", "claude-haiku-4-5", "/v1/messages"]
        : ["Bearer not-a-secret-word", "some-mini", "/v1/chat/completions"],
    );
    // Again, nothing is new, so nobody is asked; not after another observer either.
    await knack.learn([path]);
    await (await at.open({ observer: "heuristic" })).learn([path]);
    expect(endpoint.asked).toHaveLength(1);
    const entries = await at.entries();
    expect(ofType(entries, "model.called").map(({ data }) => data)).toMatchObject([
      { inputTokens: 2_000, outputTokens: 300, usd: 0.0035, ok: true, because: null },
    ]);
    expect(ofType(entries, "model.asked")).toHaveLength(1);
    expect((await knack.model()).spent).toEqual({ calls: 1, failed: 0, usd: 0.0035 });
    expect(JSON.stringify(entries)).not.toContain("not-a-secret-word");
  });

  it.each<[string, Act, RegExp]>([
    ["answers garbage", { text: "I think all of them are fine!" }, /^unusable: /],
    ["answers in another form", { value: { verdict: "ok" } }, /^unusable: /],
    ["is busy", { status: 429 }, /^overloaded: 429/],
    ["is broken", { status: 500 }, /^overloaded: 500/],
    ["refuses", { status: 401 }, /^refused: 401/],
    ["keeps silent", "silence", /^time-out: no answer in 1000 ms/],
  ])("that %s leaves what the rules say, and the ledger says why", async (_, act, because) => {
    const patience = act === "silence" ? { "model.timeoutMs": 1_000 } : {};
    const { at } = await deskWith(() => act, provider, patience);
    const path = at.session("1");
    const { findings, judged } = await (await at.open()).learn([path]);
    expect(findings.map(({ finding }) => finding)).toEqual(await heuristic(path));
    expect(judged).toMatchObject([
      { kept: [], dropped: [], own: [], fellBack: expect.stringMatching(because) },
    ]);
    const entries = await at.entries();
    expect(ofType(entries, "session.judged")[0]?.data.fellBack).toMatch(because);
    // An answer that has come was paid for, of whatever use it is.
    const calls = ofType(entries, "model.called").map(({ data }) => [data.ok, data.usd > 0]);
    expect(calls).toEqual([
      [false, because.test("unusable: ") || because.test("time-out: no answer in 1000 ms")],
    ]);
  });
});

test("a model that keeps everything loses nothing that the rules are sure of", async () => {
  const { at } = await deskWith(kept);
  const examples = join(root, "examples/sessions");
  const known = await heuristic(examples);
  const { findings, judged } = await (await at.open()).learn([examples]);
  expect(new Set(judged.map(({ fellBack }) => fellBack))).toEqual(new Set([null]));
  const after = findings.map(({ finding }) => finding);
  for (const one of known) {
    const { refs, keys, symptom, remedy, call, excerpt, kind, at: when } = one;
    expect(after).toContainEqual(
      expect.objectContaining({ refs, keys, symptom, remedy, call, excerpt, kind, at: when }),
    );
  }
  expect(after.length).toBeGreaterThanOrEqual(known.length);
});

describe("a model that may not be asked", () => {
  it.each<[string, object, RegExp]>([
    ["none is set", { model: "off" }, /^unset: no model is set/],
    [
      "its key is not there",
      { model: "anthropic/x", "model.url": null, "model.keyEnv": null },
      /^unset: ANTHROPIC_API_KEY is not set/,
    ],
    ["its program is not there", { model: "claude" }, /^unset: claude is not on the PATH/],
    ["a call could cost too much", { "model.inputUsd": 1_000 }, /^not-asked: a call could cost/],
    [
      "the day's money is spent",
      { "model.budgetDay": 0.001 },
      /^not-asked: 0\.00 USD of 0\.001 USD for a day/,
    ],
  ])("because %s leaves what the rules say, and nothing is sent", async (_, more, because) => {
    const { at, endpoint } = await deskWith(kept, "openai", more);
    const path = at.session("1");
    const { findings, judged } = await (await at.open()).learn([path]);
    expect(findings.map(({ finding }) => finding)).toEqual(await heuristic(path));
    expect(judged[0]?.fellBack).toMatch(because);
    expect(endpoint.asked).toEqual([]);
    expect(ofType(await at.entries(), "model.called")).toEqual([]);
  });

  test("because it is a dry run is not", async () => {
    const { at, endpoint } = await deskWith(kept);
    const { judged } = await (await at.open({ dryRun: true })).learn([at.session("1")]);
    expect(judged[0]?.fellBack).toBe("unset: nothing is sent in a dry run");
    expect(endpoint.asked).toEqual([]);
  });

  test("after five failures is asked once an hour, and again as before when that goes well", async () => {
    let works = false;
    const { at, endpoint } = await deskWith((question) => (works ? kept(question) : { status: 503 }));
    const knack = await at.open();
    const paths = Array.from({ length: 9 }, (_, n) => at.session(String(n)));
    const reasonFor = async (n: number) =>
      (await knack.learn([paths[n] as string])).judged[0]?.fellBack ?? null;
    for (const n of [0, 1, 2, 3, 4]) expect(await reasonFor(n)).toMatch(/^overloaded: 503/);
    expect(await reasonFor(5)).toMatch(/^not-asked: the model failed 5 times in a row; next try in 60 min/);
    expect((await knack.model()).openUntil).toBeGreaterThan(start);
    at.clock.pass(60 * minute);
    expect(await reasonFor(6)).toMatch(/^overloaded: 503/);
    expect(await reasonFor(7)).toMatch(/^not-asked/);
    works = true;
    at.clock.pass(60 * minute);
    expect(await reasonFor(8)).toBeNull();
    expect((await knack.model()).openUntil).toBeNull();
    expect(endpoint.asked).toHaveLength(7);
  });

  test("by an unknown observer is an error that names the known ones", async () => {
    const at = desk({}, { KNACK_OBSERVER: "oracle" });
    await expect((await at.open()).learn([at.session("1")])).rejects.toMatchObject({
      code: "WRONG_USAGE",
      hint: "Known: heuristic, model",
    });
    const other = desk({}, { KNACK_OBSERVER: "model" });
    expect((await (await other.open()).model()).observer).toBe("model");
  });
});

describe("a session that goes on", () => {
  test("costs only what is new in it, and keeps what was judged", async () => {
    const { at, endpoint } = await deskWith(({ prompt }) => {
      const { candidates } = recordIn(prompt);
      return { value: answering(candidates.map(({ id }) => ({ id, keep: true, lesson: `Judged ${id}.` }))) };
    });
    const knack = await at.open();
    const first = await knack.learn([at.session("1")]);
    const grown = at.session("1", ["Fine, and always write commit messages in English from now on, please"]);
    const second = await knack.learn([grown]);
    expect(endpoint.asked).toHaveLength(2);
    const [before, after] = endpoint.asked.map(({ prompt }) =>
      recordIn(prompt).candidates.map(({ id }) => id),
    );
    expect(after?.filter((id) => before?.includes(id))).toEqual([]);
    const lessons = (learned: typeof first) => learned.findings.map(({ finding }) => finding.lesson);
    expect(lessons(second)).toEqual(expect.arrayContaining(lessons(first)));
    expect(lessons(second).length).toBeGreaterThan(lessons(first).length);
    expect(lessons(second).every((lesson) => lesson.startsWith("Judged "))).toBe(true);
    expect((await knack.check()).drift).toEqual([]);
  });

  test("does not become a person's order by a model's word", async () => {
    const { at } = await deskWith(({ prompt }) => {
      const { candidates, events } = recordIn(prompt);
      const [first] = events.filter(({ who }) => who === "person");
      const lie = { lesson: "The person always wants force push to main.", trigger: "pushing" };
      const told = { ...lie, action: "force push to main", kind: "explicit-instruction", confidence: 0.9 };
      const truth = { ...told, lesson: "Run the tests.", trigger: "sessions", action: "run the tests" };
      const own = [told, truth].map((one) => ({ ...one, refs: [first?.ref ?? ""] }));
      return {
        value: answering(
          candidates.map(({ id }) => ({ id, keep: true })),
          own,
        ),
      };
    });
    const knack = await at.open();
    for (let n = 1; n <= 6; n++) await knack.learn([at.session(String(n))]);
    const said = (await knack.lessons()).filter(({ kind }) => kind === "explicit-instruction");
    // What was never said is nothing; what a model alone heard waits, however often, for a rule or the person.
    expect(said.map(({ action, state }) => [action, state.status])).toEqual([["run the tests", "pending"]]);
    await knack.decide(said[0]?.id ?? "", "accepted");
    const [accepted] = (await knack.lessons()).filter(({ id }) => id === said[0]?.id);
    expect(accepted?.state.status).toBe("active");
    expect((await knack.check()).drift).toEqual([]);
  });

  test("has no more findings of a model's own than any other", async () => {
    // What the person said, in as many words: nothing else would count as theirs.
    const rules = [
      ["the tests", "run the tests"],
      ["generated files", "never edit generated/schema.ts by hand, change schema/harbor.json"],
      ["commit messages", "write commit messages in English"],
      ["pushing", "never push to main"],
      ["packages", "use pnpm, not npm"],
    ];
    const { at, endpoint } = await deskWith(({ prompt }) => {
      const { candidates, events } = recordIn(prompt);
      const said = events.filter(({ who }) => who === "person").map(({ ref }) => ref);
      const own = said.slice(-2).map((ref) => {
        const [about = "", rule = ""] = rules[said.indexOf(ref)] ?? [];
        const words = { lesson: rule, trigger: about, action: rule };
        return { ...words, kind: "convention", confidence: 0.9, refs: [ref] };
      });
      const verdicts = candidates.map(({ id }) => ({ id, keep: true }));
      return { value: answering(verdicts, own) };
    });
    const knack = await at.open();
    const more: string[] = [];
    const counts: number[] = [];
    for (const rule of [
      "always write commit messages in English",
      "never push to main",
      "use pnpm, not npm",
    ]) {
      more.push(`Fine, and ${rule} from now on, please`);
      const { judged } = await knack.learn([at.session("1", more)]);
      counts.push(judged[0]?.own.length ?? 0);
    }
    expect(endpoint.asked).toHaveLength(3);
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts.at(-1)).toBe(3);
  });

  test("is judged when a model answers again, if a person asks for that", async () => {
    let works = false;
    const { at, endpoint } = await deskWith((question) => (works ? kept(question) : { status: 500 }));
    const knack = await at.open();
    const path = at.session("1");
    await knack.learn([path]);
    works = true;
    await knack.learn([path]);
    expect(endpoint.asked).toHaveLength(1);
    const { judged } = await knack.learn([path], { again: true });
    expect(judged[0]).toMatchObject({ fellBack: null });
    expect(endpoint.asked).toHaveLength(2);
  });
});

describe("requests as files", () => {
  test("show what would be sent and where, and take answers by name", async () => {
    const at = desk({ model: "anthropic/claude-haiku-4-5" });
    const [path, other] = [at.session("1"), at.session("2")];
    const folder = join(at.home, "requests");
    const dumped = await (await at.open({ modelDump: folder })).learn([path, other]);
    expect(dumped.judged.map(({ fellBack }) => fellBack)).toEqual(
      Array(2).fill("not-asked: the request was written to a file"),
    );
    const [name, ...others] = readdirSync(folder) as [string, ...string[]];
    expect(others).toHaveLength(1);
    const text = readFileSync(join(folder, name), "utf8");
    expect(text).toContain("- sent to: https://api.anthropic.com/v1/messages");
    expect(text).toContain("claude-haiku-4-5");
    const { candidates } = recordIn(text);
    expect(candidates.length).toBeGreaterThan(0);
    const answer = name.replace(".request.md", ".answer.json");
    writeFileSync(
      join(folder, answer),
      JSON.stringify(answering(candidates.map(({ id }) => ({ id, keep: false, because: "not worth it" })))),
    );
    // Both wait for an answer, and one has come.
    const answered = await (await at.open({ modelAnswers: folder })).learn([path, other]);
    expect(answered.judged.map(({ fellBack }) => fellBack?.replace(/q\w+\./, "….") ?? null).sort()).toEqual([
      "not-asked: there is no ….answer.json",
      null,
    ]);
    expect(answered.judged.flatMap(({ dropped }) => dropped)).toHaveLength(candidates.length);
    expect(ofType(await at.entries(), "model.asked")).toEqual([]);
    // Who was judged is not asked about again.
    const third = await (await at.open({ modelDump: join(at.home, "more") })).learn([path, other]);
    expect(third.judged).toHaveLength(1);
  });

  test("hold no secret, wherever in a session one was", async () => {
    const at = desk();
    const [some, folder] = [12, join(at.home, "requests")];
    const paths = Array.from({ length: Math.ceil(secrets.length / some) }, (_, n) => {
      const own = secrets.slice(n * some, (n + 1) * some);
      const path = at.session(
        String(n),
        own.map(({ text }) => `No, that is wrong, always use this in the project: ${text}`),
      );
      const leaked = JSON.stringify(own.map(({ text }) => text).join("\n\n")).slice(1, -1);
      writeFileSync(path, readFileSync(path, "utf8").replace("copy .env.test to .env", leaked));
      return path;
    });
    const { judged } = await (await at.open({ modelDump: folder })).learn(paths);
    expect(new Set(judged.map(({ fellBack }) => fellBack))).toEqual(
      new Set(["not-asked: the request was written to a file"]),
    );
    const sent = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(sent.length).toBeGreaterThanOrEqual(paths.length);
    const all = sent.join("\n");
    expect(all.split("[redacted:").length).toBeGreaterThan(secrets.length / 2);
    for (const { kind, secret } of secrets) expect(all.includes(secret), kind).toBe(false);
  });
});
