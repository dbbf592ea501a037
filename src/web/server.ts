import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { KnackError } from "../base/index.ts";
import { type AppDeps, createApp } from "./app.ts";
import { Guard } from "./guard.ts";
import type { Desk } from "./page.ts";
import { countWaiting } from "./pages/inbox.ts";

interface PageOptions
  extends Pick<AppDeps, "knack" | "change" | "now" | "assets" | "mark">,
    Omit<Desk, "once" | "isExport" | "formSecret"> {
  /** 0 for any that is free. */
  readonly port: number;
  /** How long nobody may ask for anything before it ends. */
  readonly idleMs: number;
}

/** A page that people can open. */
export interface OpenPage {
  /** For a person to open, as often as they like. */
  readonly address: string;
  /** For a browser that is started, once. */
  readonly onceAddress: string;
  /** Fulfilled when it has ended, because nobody looked or because it was closed. */
  readonly ended: Promise<"idle" | "closed">;
  close(): void;
}

/** Serves the page on this machine alone, until nobody looks any more. */
export async function servePage(options: PageOptions): Promise<OpenPage> {
  const { knack, now, mark, idleMs } = options;
  const guard: Guard = new Guard(() => (server.address() as AddressInfo).port);
  const desk: Desk = { ...options, isExport: false, formSecret: guard.formSecret, once: rememberUntil(mark) };
  const app = createApp({ ...options, guard, desk });
  const server = createAdaptorServer({ fetch: app.fetch, hostname: "127.0.0.1" });
  await new Promise<void>((listening, fail) => {
    server.once("error", (error: NodeJS.ErrnoException) => fail(explainListening(error, options.port)));
    server.listen(options.port, "127.0.0.1", () => listening());
  });
  const closing = new AbortController();
  const ended = new Promise<"idle" | "closed">((end) => {
    const stop = (why: "idle" | "closed") => {
      clearTimeout(timer);
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      end(why);
    };
    let timer = setTimeout(stop, idleMs, "idle");
    server.on("request", ({ url = "" }: { url?: string }) => {
      // A page that is merely open asks by itself.
      if (url.startsWith("/live")) return;
      clearTimeout(timer);
      timer = setTimeout(stop, idleMs, "idle");
    });
    closing.signal.addEventListener("abort", () => stop("closed"));
  });
  // Not called a token: what prints it masks those.
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?open=`;
  // What takes longest is read while the browser starts.
  void countWaiting({ knack, desk, now: now(), id: "", query: () => "" }).catch(() => {});
  return {
    address: `${address}${guard.token}`,
    onceAddress: `${address}${guard.onceToken}`,
    ended,
    close: () => closing.abort(),
  };
}

function explainListening(error: NodeJS.ErrnoException, port: number): Error {
  const why = { EADDRINUSE: "is in use", EACCES: "may not be used" }[error.code ?? ""];
  if (why === undefined) return error;
  const hint = "Choose another one with --port, or leave it out for one that is free.";
  return new KnackError("WRONG_USAGE", `Port ${port} ${why}.`, { hint, cause: error });
}

/** A word that changes whenever a database does. */
export function markDatabase(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((found) => (found ? `${found.size} ${found.mtimeMs} ${found.ino}` : "none"))
    .join(" ");
}

/** Remembers what was computed for as long as the mark stays the same. */
function rememberUntil(mark: () => string): Desk["once"] {
  let marked = "";
  const known = new Map<string, Promise<unknown>>();
  return <Value>(key: string, compute: () => Promise<Value>): Promise<Value> => {
    const now = mark();
    if (now !== marked) known.clear();
    marked = now;
    const found = known.get(key) ?? compute();
    known.set(key, found);
    found.catch(() => known.delete(key));
    return found as Promise<Value>;
  };
}

/** Opens an address in the person's browser; false where there is none to start. */
export function openBrowser(address: string, platform: string): Promise<boolean> {
  const [program, ...words] =
    platform === "darwin"
      ? ["open", address]
      : platform === "win32"
        ? ["cmd", "/c", "start", "", address]
        : ["xdg-open", address];
  return new Promise((done) => {
    const child = spawn(program as string, words, { stdio: "ignore", detached: true });
    child.on("error", () => done(false));
    child.on("spawn", () => {
      child.unref();
      done(true);
    });
  });
}
