import type { Knack } from "../../open.ts";
import type { Telling } from "../../recall/index.ts";
import type { Item } from "../../records/index.ts";
import { drawTellings, findToldSessions, readReport, readTellings } from "../evidence.ts";
import { html } from "../html.ts";
import { definePage } from "../page.ts";
import { lastPart, renderCode, renderFacts, renderTag } from "../parts.ts";
import { drawVersions } from "./lesson.ts";
import { describeCredit, drawProblems, findCredit, type ItemCredit, readCatalog } from "./library.ts";

interface ItemView {
  readonly item: Item;
  readonly problems: Awaited<ReturnType<Knack["catalog"]>>["problems"];
  readonly credit: ItemCredit | undefined;
  readonly tellings: readonly Telling[];
  readonly versions: Awaited<ReturnType<Knack["changeDiffs"]>>;
  readonly sessions: Awaited<ReturnType<typeof findToldSessions>>;
  readonly project: string;
}

/** Tellings that are listed. */
const mostTellings = 100;

/** One skill, command or agent: its words, what came of it, and its versions where Knack wrote it. */
export const itemPage = definePage<ItemView>({
  path: "/library/:id",
  read: async ({ knack, desk, id }) => {
    const { items, problems } = await readCatalog(knack, desk);
    const item = items.find((one) => one.id === id);
    if (!item) return null;
    const names = new Map((await knack.projects()).map((one) => [one.id, one.name]));
    const tellings = (await readTellings(knack, desk)).filter(
      (one) => one.id === item.id || one.id === item.source,
    );
    return {
      ...{ item, problems: problems.filter(({ path }) => path === item.path) },
      credit: findCredit(await readReport(knack, desk), item),
      ...{ tellings, sessions: await findToldSessions(tellings, knack) },
      versions: item.source === null ? [] : await knack.changeDiffs(item.source),
      project:
        item.scopeId === "user" ? "all your work" : (names.get(item.scopeId) ?? lastPart(item.scopeId)),
    };
  },
  draw: ({ item, problems, credit, tellings, sessions, versions, project }, { desk }) => ({
    title: item.name,
    body: html`<p class="eyebrow">${renderTag(item.draft ? `draft ${item.kind}` : item.kind)} ${
      problems.length === 0 ? renderTag("fine", "good") : renderTag("has problems", "bad")
    } <span>for ${project}</span> <code>${item.id}</code></p>
<h1>${item.name}</h1>
<p class="lead">${item.description}</p>
${renderFacts([
  ["Written by", item.owner],
  ["File", html`<code>${desk.shorten(item.path)}</code>`],
  ...describeCredit(credit),
])}
${drawProblems(problems)}
<h2>Its words</h2>${renderCode(item.body)}
<h2 id="shown">Where it was shown, and what happened then</h2>${
      tellings.length === 0
        ? html`<p class="faint">Knack put it before no agent yet.</p>`
        : drawTellings([...tellings].reverse().slice(0, mostTellings), sessions)
    }
${drawVersions(versions, desk)}`,
  }),
});
