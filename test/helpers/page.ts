import { type ChildProcess, spawn } from "node:child_process";
import { type IncomingHttpHeaders, request } from "node:http";
import { afterAll, onTestFinished } from "vitest";
import { cli, root } from "./knack.ts";

interface PageAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A `knack open` that runs, and a browser's part in it as far as it needs none. */
export interface PageProcess {
  readonly address: string;
  readonly origin: string;
  readonly child: ChildProcess;
  /** A request with nothing but what is given. */
  send(path: string, sent?: Sent): Promise<PageAnswer>;
  /** A look at a page, as a browser that came by the address. */
  get(path: string): Promise<PageAnswer>;
  /** A form of the page, sent; the answer is the page that it leads to. */
  post(fields: Readonly<Record<string, string>>): Promise<PageAnswer>;
  /** The secret that the page's forms have. */
  form(): Promise<string>;
  close(): Promise<number | null>;
}

/** Starts the built page on a home, and ends it with the test. */
export async function openPage(home: string, words: readonly string[] = []): Promise<PageProcess> {
  const page = await startPage(home, words);
  onTestFinished(async () => void (await page.close()));
  return page;
}

/** One page for all tests of a file. */
export async function openSharedPage(home: string): Promise<PageProcess> {
  const page = await startPage(home, []);
  afterAll(async () => void (await page.close()));
  return page;
}

async function startPage(home: string, words: readonly string[]): Promise<PageProcess> {
  const child = spawn(process.execPath, [cli, "open", "--no-browser", "--json", ...words], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: `${home}/.knack` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((end) => child.on("exit", end));
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGINT");
    return ended;
  };
  const { address } = JSON.parse(await readObject(child)) as { address: string };
  const { origin } = new URL(address);
  const send = (path: string, sent: Sent = {}) => sendTo(new URL(path, origin), sent);
  const entered = await send(address);
  const cookie = String(entered.headers["set-cookie"]?.[0]).split(";")[0] ?? "";
  const get = (path: string) => send(path, { headers: { cookie } });
  const form = async () => /name="form" content="([^"]+)"/.exec((await get("/inbox")).text)?.[1] ?? "";
  const post = async (fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ form: await form(), back: "/inbox", ...fields }).toString();
    const type = "application/x-www-form-urlencoded";
    const headers = { cookie, origin, "content-type": type };
    const answer = await send("/do", { method: "POST", headers, body });
    return answer.status === 303 ? get(String(answer.headers.location)) : answer;
  };
  return { address, origin, child, send, get, post, form, close };
}

function readObject(child: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((found, fail) => {
    child.on("exit", (code) => fail(new Error(`knack open ended with ${code}: ${text}`)));
    child.stdout?.on("data", (part) => {
      text += part;
      if (text.endsWith("}\n")) found(text);
    });
  });
}

/** Sends what `fetch` would not: any Host, and a body of any length. */
function sendTo(to: URL, { method = "GET", headers = {}, body }: Sent): Promise<PageAnswer> {
  return new Promise((done, fail) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const asked = request(to, { method, headers: { ...headers, ...length }, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () =>
        done({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(parts).toString("utf8"),
        }),
      );
      answer.on("error", fail);
    });
    asked.on("error", fail);
    asked.end(body);
  });
}
