import * as z from "zod";
import { defineTool, told } from "./tool.ts";

export const eventExpand = defineTool({
  name: "event_expand",
  title: "Look back at this session's events",
  about:
    "Without event_refs: the latest events of this session, a line each with its ref; this is how you learn the refs that the other tools ask for. With event_refs: those events whole.",
  input: z.object({ event_refs: z.array(z.string()).nullish() }),
  readOnly: true,
  run: async ({ event_refs }, { knack, present }) =>
    told(await knack.expandEvents(await present(), event_refs ?? []), (events) => ({
      text:
        events.map(({ line, text }) => (text === null ? line : `${line}\n${text}\n`)).join("\n") ||
        "Nothing of this session has been written down yet.",
      data: null,
    })),
});
