import { KnackError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { replySchema } from "../core/reply.ts";
import { defineVerb } from "./main.ts";
import { calledAs, printJson, printLines } from "./terminal.ts";

/** The forms that others are asked to keep to. */
const schemas: Readonly<Record<string, { readonly about: string; readonly schema: JsonObject }>> = {
  reply: {
    about:
      "what an agent reports beside its answer: receipts of skills it used, and what it should have learned",
    schema: replySchema,
  },
};

export const schema = defineVerb({
  about: "Print a JSON Schema (draft 2020-12) for others to keep to; alone: which there are.",
  args: {
    name: { type: "positional", required: false, description: Object.keys(schemas).join(", ") },
    json: { type: "boolean", description: "print one JSON object; a schema is one in any case" },
  },
  run: async ({ args, env }) => {
    const [name, ...more] = args._;
    if (name === undefined) {
      const all = Object.entries(schemas).map(([known, { about }]) => ({ name: known, about }));
      if (args.json) printJson({ schemas: all });
      else printLines(all.map((one) => `${calledAs(env)} schema ${one.name}  ${one.about}`));
      return 0;
    }
    const known = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (known === undefined || more.length > 0)
      throw new KnackError("WRONG_USAGE", `There is no schema "${[name, ...more].join(" ")}".`, {
        hint: `Known: ${Object.keys(schemas).join(", ")}`,
      });
    printJson(known.schema);
    return 0;
  },
});
