import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** What is sent with every answer. */
export const safeHeaders: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
    ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // With `no-referrer` a browser would not say either where a form was sent from.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** A request, as far as it matters whether it may be answered. */
export interface AskedFor {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
}

/** Why a request is turned away. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 405 | 413 | 421;
  readonly because: string;
}

/** Whoever knows one of the secrets of this process may look; whoever also has a form of its own may change something. */
export class Guard {
  /** In the address that is printed, for as long as the process runs. */
  readonly token = makeSecret();
  /** In the cookie of a browser that came by the address. */
  private readonly pass = makeSecret();
  /** In every form. */
  readonly formSecret = makeSecret();
  /** In the address that the browser is opened with: programs of others may read it off the process, so it works once. */
  private ticket: string | null = makeSecret();

  constructor(private readonly port: () => number) {}

  get onceToken(): string {
    return this.ticket ?? "";
  }

  /** The cookie's name: cookies do not tell one port from another. */
  get cookie(): string {
    return `knack-${this.port()}`;
  }

  get cookieValue(): string {
    return this.pass;
  }

  /** Whether a word of the address lets a browser in. */
  admits(word: string): boolean {
    if (this.ticket !== null && isSame(word, this.ticket)) {
      this.ticket = null;
      return true;
    }
    return isSame(word, this.token);
  }

  knows(cookie: string | undefined): boolean {
    return cookie !== undefined && isSame(cookie, this.pass);
  }

  /** Checks that a request was made here: for this machine by name, and not by a page of somebody else. */
  check({ method, header }: AskedFor): Refusal | null {
    const host = header("host") ?? "";
    // A name of somebody else's that leads here would make their page one of ours.
    if (!this.hosts().includes(host))
      return { status: 421, because: "this server answers for 127.0.0.1 alone" };
    if (method === "GET" || method === "HEAD")
      return header("sec-fetch-site") === "cross-site" && header("sec-fetch-mode") !== "navigate"
        ? { status: 403, because: "another site asked" }
        : null;
    if (method !== "POST") return { status: 405, because: "there is nothing but GET and POST" };
    return header("origin") === `http://${host}`
      ? null
      : { status: 403, because: "the form is not of this page" };
  }

  /** Whether a change comes from a form that this process wrote. */
  hasForm(secret: string): boolean {
    return isSame(secret, this.formSecret);
  }

  private hosts(): readonly string[] {
    return [`127.0.0.1:${this.port()}`, `localhost:${this.port()}`];
  }
}

function makeSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Compares in a time that says nothing about where two secrets differ. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
