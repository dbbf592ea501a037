import { stripHidden, unwritable } from "../text/index.ts";
import { redact } from "../trust/index.ts";

/** Markup that may be sent as it is. Everything else that goes into a page is text. */
export class Html {
  constructor(readonly markup: string) {}
}

/** What may stand in a page: text is redacted and escaped, lists are joined, and what is absent leaves nothing. */
export type HtmlPart = Html | string | number | false | null | undefined | readonly HtmlPart[];

/** A page's markup. Text that goes into it can be no markup, whatever it says. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let markup = strings[0] ?? "";
  for (const [at, part] of parts.entries()) markup += toMarkup(part) + strings[at + 1];
  return new Html(markup);
}

function toMarkup(part: HtmlPart): string {
  if (part instanceof Html) return part.markup;
  if (typeof part === "string") return escapeText(cleanText(part));
  if (typeof part === "number") return String(part);
  return part ? part.map(toMarkup).join("") : "";
}

/** Text from anywhere without secrets and without characters that nobody sees. */
function cleanText(text: string): string {
  return stripHidden(redact(text)).replace(unwritable, " ").replace(controls, "�");
}

const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** The address of a page here, with what it is asked. Not redacted: ids would not lead anywhere then. */
export function url(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>> = {},
): Html {
  const words = Object.entries(query).flatMap(([key, value]) =>
    value === null || value === undefined || value === ""
      ? []
      : `${encodeURIComponent(key)}=${encodeURIComponent(value)}`,
  );
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return new Html(escapeText(words.length > 0 ? `${encoded}?${words.join("&")}` : encoded));
}

/** An id or a secret of this page, as it is: what was redacted would not be found again. */
export function exact(text: string): Html {
  return new Html(escapeText(text));
}
