import { isMadeUp, isPlaceholder, isScrambled, isTemplate } from "./looks.ts";
import { type Span, spanAt } from "./span.ts";

const urlStart = /:\\?\/\\?\//g;
const userInfo =
  /^(?:([^\s:/@"'`<>\\[]{0,128}):(?!\d{1,5}[?#])([^\s/"'`<>\\]{1,256})|([^\s:/@"'`<>\\[]{20,256}))@/;
// Passwords are pasted unescaped, slashes included. Only digits can follow the colon otherwise: `host:8080/@scope`.
const slashedUserInfo =
  /^([^\s:/@"'`<>\\[]{0,128}):((?!\d{1,5}\/)[^\s"'`<>\\?]{1,200}?)@(?=[\w.-]+(?:[:/,?\s"'`\\]|$))/;
const webhook =
  /^(?:hooks\.slack(?:-gov)?\.com\\?\/(?:services|workflows|triggers)|(?:[\w-]{1,20}\.)?discord(?:app)?\.com\\?\/api\\?\/(?:v\d+\\?\/)?webhooks|[\w.-]{1,80}webhook\.office\.com\\?\/webhookb2)\\?\/((?:[\w@.-]|\\?\/){16,400})/;
/** What stands in the place of a password when the user's name is the token. */
const notPasswords = new Set(["x-oauth-basic", "x-access-token", ""]);

export function urlCredentials(text: string): Span[] {
  return [...text.matchAll(urlStart)].flatMap(
    (match) => urlCredential(text, match.index + match[0].length) ?? [],
  );
}

function urlCredential(text: string, start: number): Span | undefined {
  const rest = text.slice(start, start + 600);
  const [match, user = "", password = "", token = ""] =
    userInfo.exec(rest) ?? slashedUserInfo.exec(rest) ?? [];
  if (match === undefined) return webhookSecret(rest, start);
  const lone = token || (notPasswords.has(password) ? user : "");
  if (lone !== "")
    return isScrambled(lone, 16) && !isPlaceholder(lone) ? spanAt(start, lone, "url-password") : undefined;
  // A password that repeats the user's name is what a server comes with.
  if (password.length < 4 || password === user || isPlaceholder(password) || isTemplate(user))
    return undefined;
  return spanAt(start + user.length + 1, password, "url-password");
}

/** The part of a webhook's URL that lets anyone use it. */
function webhookSecret(rest: string, start: number): Span | undefined {
  const match = webhook.exec(rest);
  const value = match?.[1] ?? "";
  if (match === null || isMadeUp(value)) return undefined;
  return spanAt(start + match[0].length - value.length, value, "webhook");
}

const signature = /[Ss]ig(?:nature)?(?:=|%3D)([\w%+/=-]{16,2048})/g;

/** Signatures that make a URL open what it leads to. */
export function urlSignatures(text: string): Span[] {
  return [...text.matchAll(signature)].flatMap((match) => {
    const value = match[1] ?? "";
    const isParameter = /(?:[?&;]|%26|%3F)(?:X-\w{3,4}-)?$/i.test(
      text.slice(Math.max(0, match.index - 12), match.index),
    );
    return !isParameter || isPlaceholder(value)
      ? []
      : [spanAt(match.index + match[0].length - value.length, value, "signature")];
  });
}
