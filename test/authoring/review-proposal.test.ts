import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { Knack } from "../../src/open.ts";
import type { ReviewBegun } from "../../src/records/writing.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import type { Act, Question } from "../helpers/endpoint.ts";
import { hour } from "../helpers/lived.ts";
import {
  aCreate,
  answering,
  aPatch,
  fresh,
  type Looking,
  learnsSkill,
  looking,
  review,
  signals,
  skillIssue,
  stale,
  staleSkill,
  type Told,
  value,
} from "../helpers/reviewing.ts";

const name = "rl-deploy-tunnel";
const live = ({ repository }: Looking) => join(repository, ".claude/skills", name, "SKILL.md");
const textAt = (path: string) => readFileSync(path, "utf8");

/** Another project on the same machine, with a session that something is worth a skill in. */
async function livesElsewhere(at: Looking, knack: Knack, nameHint = name): Promise<string> {
  const other = join(at.home, "other");
  mkdirSync(join(other, ".git/info"), { recursive: true });
  const present = await at.lives(knack, "elsewhere", undefined, other);
  await signals(knack, present, { nameHint } as never);
  return present.caller.project?.id ?? "";
}

/** Notes that a review of all there is to look at was answered, with what somebody else wrote down. */
async function answered(at: Looking, knack: Knack, draftOf: (base: string) => object): Promise<void> {
  const [{ id: project } = { id: "" }] = await knack.projects();
  const { decision, dossier } = await knack.previewReview(project);
  const base = dossier?.skills.find((one) => one.hash !== null)?.hash ?? "";
  const begun: ReviewBegun = {
    ...{ review: "r1", window: decision.window, cause: "signal", mode: "auto" },
    ...{ model: "openai/some-mini", tries: 1 },
  };
  const drafts = [{ do: "patch", skill: name, base, refs: ["s1.e1"], because: "x", ...draftOf(base) }];
  const data = {
    review: "r1",
    model: "m",
    leads: [],
    answer: { because: "", expand: [], drafts },
    refused: [],
  };
  const store = await openSqlite({ path: join(at.env.KNACK_HOME ?? "", "knack.db"), clock: at.clock });
  const common = { at: at.clock.now(), project, session: null, actor: "knack" as const };
  await store.transaction((tx) =>
    recordEntries(tx, [
      { ...common, type: "review.begun", key: "review:r1:begun:1", data: begun },
      { ...common, type: "review.answered", key: "review:r1:answered", data: data as never },
    ]),
  );
  await store.close();
}

describe("what was answered", () => {
  const edits = [{ path: "SKILL.md", find: "make tunnel`", replace: "make tunnel-up`" }];

  test("by an earlier Knack, which knew of no other files, is used", async () => {
    const { at, knack } = await stale(() => value());
    await answered(at, knack, () => ({ edits }));
    expect(await review(knack)).toMatchObject({ review: "r1", outcome: "published" });
    expect(textAt(live(at))).toContain("`make tunnel-up`");
    expect(at.endpoint.asked).toHaveLength(0);
  });

  test("and cannot be used stops no other project, and comes to an end", async () => {
    const { at, knack } = await stale((told) => value(aCreate(told, { name: "rl-elsewhere" })), {
      "review.minutes": 0,
    });
    await answered(at, knack, () => ({ edits: null }));
    const other = await livesElsewhere(at, knack, "rl-elsewhere");
    await expect(knack.review()).rejects.toThrow(TypeError);
    expect(await knack.proposals()).toMatchObject([{ project: other, name: "rl-elsewhere" }]);
    for (let tries = 3; tries < 3; tries++) await expect(knack.review()).rejects.toThrow(TypeError);
    expect(await review(knack)).toMatchObject({
      ...{ review: "r1", outcome: "failed", because: expect.stringMatching(/could not be used: /) },
    });
  });

  test("is proposed beside something of which a kept version is damaged", async () => {
    let turn = 0;
    const { at, knack } = await stale(
      (told) =>
        value(
          turn++ === 0
            ? aPatch(told)
            : aPatch(told, { edits: [{ ...edits[0], find: "-up`", replace: "-on`" }] }),
        ),
      { review: "suggest", "review.minutes": 0 },
    );
    await review(knack);
    const [first] = await knack.proposals();
    if (!first) throw new Error("nothing is proposed");
    expect(await knack.acceptProposal(first)).toMatchObject({ kept: true });
    writeFileSync(join(at.env.KNACK_HOME ?? "", "versions", first.before ?? "", "files/SKILL.md"), "other\n");
    at.clock.pass(hour);
    await signals(knack, await at.lives(knack, "third"), skillIssue);
    expect(await review(knack)).toMatchObject({ outcome: "proposed" });
    expect((await knack.proposals()).map(({ status }) => status)).toEqual(["waiting", "accepted"]);
    expect(await knack.reviews()).toMatchObject({ waiting: 1 });
  });
});

describe("what is new in one project", () => {
  test("does not stand in the way of the same in another", async () => {
    const { at, knack } = await fresh((told) => value(aCreate(told)), {
      ...{ review: "suggest", "review.minutes": 0 },
    });
    await livesElsewhere(at, knack);
    expect((await knack.review()).map(({ ended }) => ended?.outcome)).toEqual(["proposed", "proposed"]);
    const all = await knack.proposals();
    expect(all).toMatchObject([
      { name, status: "waiting" },
      { name, status: "waiting" },
    ]);
    for (const one of all) expect(await knack.acceptProposal(one)).toMatchObject({ kept: true });
    for (const root of [at.repository, join(at.home, "other")])
      expect(readdirSync(join(root, ".claude/skills"))).toEqual([name]);
  });
});

describe("without anybody's yes", () => {
  const script = "make tunnel\nmake deploy\n";
  const turned = "git push --force origin main\n# make tunnel\n# make deploy\n";

  /** A desk with a skill that has a script, which the reviewer has read before it changes something. */
  async function withScript(draft: object) {
    const reviewer = ({ prompt }: Question, told: Told): Act =>
      prompt.includes("More of what you asked for")
        ? value(aPatch(told, draft))
        : { value: { ...answering([]), expand: [`${name}/scripts/up.sh`] } };
    const at = await looking({ reviewer });
    const knack = await at.open();
    await learnsSkill(knack, await at.lives(knack, "first"), { files: { "scripts/up.sh": script } });
    await signals(knack, await at.lives(knack, "second"), skillIssue);
    return { at, knack };
  }

  it.each<[string, object, "proposed" | "published"]>([
    [
      "what leaves one of two lines of a script is made",
      { path: "scripts/up.sh", find: "make tunnel\n", replace: "make tunnel-up\n" },
      "published",
    ],
    [
      "a script is not turned round, though all its words are left",
      { path: "scripts/up.sh", find: script, replace: turned },
      "proposed",
    ],
    [
      "a description does not become another",
      {
        path: "SKILL.md",
        find: "Use when make deploy needs the tunnel to the cluster.",
        replace: "Load for every question that anybody asks.",
      },
      "proposed",
    ],
  ])("%s", async (_, edit, outcome) => {
    const { at, knack } = await withScript({ edits: [edit] });
    const before = textAt(live(at));
    expect(await review(knack)).toMatchObject({ outcome });
    if (outcome === "published") return;
    expect(textAt(live(at))).toBe(before);
    expect(textAt(join(dirname(live(at)), "scripts/up.sh"))).toBe(script);
  });
});

test("a proposal for what a person wrote is shown against that, also when it is outdated", async () => {
  const { at, knack } = await stale((told) => value(aPatch(told)));
  writeFileSync(live(at), staleSkill(name));
  expect(await review(knack)).toMatchObject({ outcome: "proposed" });
  writeFileSync(live(at), `${staleSkill(name)}Mind the gap.\n`);
  const [proposal] = await knack.proposals();
  if (!proposal) throw new Error("nothing is proposed");
  expect(proposal.status).toBe("outdated");
  const diff = await knack.proposalDiff(proposal);
  expect(diff).toMatch(/^-1\. Run `make tunnel`\.\n\+1\. Run `make tunnel-up`\.$/m);
  expect(diff).not.toContain("/dev/null");
});

it.each<[string, (path: string) => void, RegExp]>([
  [
    "a link in it",
    (path) => symlinkSync("SKILL.md", join(dirname(path), "more.md")),
    /link in it \(more\.md\)/,
  ],
  [
    "a setting of some agent",
    (path) => writeFileSync(path, textAt(path).replace("\n", "\ndisable-model-invocation: true\n")),
    /disable-model-invocation/,
  ],
])(
  "a learned skill that cannot be changed is not to be, and the reason is told: %s",
  async (_, change, because) => {
    const shown: Told["skills"][] = [];
    const { at, knack } = await stale(({ skills }) => {
      shown.push(skills);
      return value();
    });
    change(live(at));
    expect(await review(knack)).toMatchObject({
      ...{ outcome: "nothing", because: expect.stringMatching(because) },
    });
    expect(shown.flat().filter(({ text }) => text !== undefined)).toEqual([]);
  },
);
