import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { writeFileAtomically } from "../../base/index.ts";
import { resolveHome } from "../../settings/index.ts";
import { markDatabase, openBrowser, type Replay, renderExport, servePage } from "../../web/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { openHealth } from "../doctor/doctor.ts";
import { changeKnack, withKnack } from "../knack.ts";

const args = {
  port: arg.option("the port on 127.0.0.1 (default: one that is free)"),
  "read-only": arg.flag("only look: nothing can be changed from the page"),
  browser: arg.flag("start a browser; --no-browser only prints the address"),
  export: arg.option("write one file for others instead of opening a page", "file"),
  excerpts: arg.flag("with --export: also what was called and said in sessions"),
  ...arg.json,
};

type PageCall = CommandCall<typeof args>;

/** The page ends when nobody has asked for anything for so long. */
const idleMs = 30 * 60_000;

export const open = defineCommand({
  about:
    "Look at what your agents learned in your browser, and decide there. Ends with Ctrl-C, or when idle.",
  args,
  run: async (call: PageCall) => {
    const { env, screen, page: assets } = call;
    if (call.args.export !== undefined) return writeExport(call, call.args.export);
    if (call.args.excerpts)
      throw wrongUsage(
        "--excerpts goes with --export.",
        `${screen.knack} open --export report.html --excerpts`,
      );
    const readOnly = call.args["read-only"] === true;
    const port = parsePort(call.args.port);
    const mark = () => markDatabase(resolveHome(env).database);
    return withKnack(
      call,
      async (knack) => {
        const ending = new AbortController();
        const page = await servePage({
          ...{
            knack,
            assets,
            port,
            mark,
            idleMs,
            readOnly,
            now: Date.now,
            command: screen.knack,
            shorten: screen.path,
          },
          change: (work) => changeKnack(call, work),
          health: openHealth(call),
          replay: replayApart(call, ending.signal),
        });
        const leave = () => page.close();
        process.once("SIGINT", leave).once("SIGTERM", leave);
        call.answer({ address: page.address, readOnly }, [
          `Knack's page: ${page.address}`,
          screen.dim(
            "  Only this machine can open it. Ctrl-C ends it; it also ends when nobody looks for half an hour.",
          ),
        ]);
        if (call.args.browser !== false && !(await openBrowser(page.onceAddress, process.platform)))
          screen.warn(["No browser could be started: open the address yourself."]);
        const why = await page.ended;
        ending.abort();
        process.off("SIGINT", leave).off("SIGTERM", leave);
        screen.warn([
          why === "idle" && `Nobody looked for half an hour, so the page has ended: ${screen.knack} open`,
        ]);
        return 0;
      },
      { create: !readOnly, repair: !readOnly, mark },
    );
  },
});

/** Writes the main pages into one file. */
async function writeExport(call: PageCall, typed: string): Promise<number> {
  const { screen, page: assets } = call;
  if (typed === "") throw wrongUsage("--export needs a file.", `${screen.knack} open --export report.html`);
  const file = resolve(typed);
  return withKnack(
    call,
    async (knack) => {
      const withExcerpts = call.args.excerpts === true;
      const about = { now: Date.now(), command: screen.knack, shorten: screen.path };
      const text = await renderExport({ ...about, knack, assets, withExcerpts });
      writeFileAtomically(file, [Buffer.from(text)]);
      return call.answer({ file, excerpts: withExcerpts, bytes: Buffer.byteLength(text) }, [
        `Wrote ${screen.path(file)}. It needs nothing else, and can be sent to others.`,
        withExcerpts
          ? "  It has excerpts of your sessions: look at it before you send it."
          : "  It has no excerpts of sessions; --excerpts adds them.",
      ]);
    },
    { repair: false },
  );
}

/** Replays the history in a process of its own, which the pages need not wait for; once, unless it fails. */
function replayApart({ env, program }: PageCall, signal: AbortSignal): () => Promise<Replay> {
  const run = promisify(execFile);
  const words = [program.cli, "backtest", "--json"];
  let known: Promise<Replay> | null = null;
  const start = async (): Promise<Replay> => {
    // Without a session to replay it says so, and ends with an error.
    const { stdout } = await run(program.node, words, { env, signal, maxBuffer: mostReplayBytes }).catch(
      (error: { readonly stdout?: string }) => {
        if (error.stdout?.startsWith("{")) return { stdout: error.stdout };
        throw error;
      },
    );
    return JSON.parse(stdout) as Replay;
  };
  return () => {
    known ??= start().catch((error) => {
      known = null;
      throw error;
    });
    return known;
  };
}

const mostReplayBytes = 256 * 1024 * 1024;

function parsePort(word: string | undefined): number {
  if (word === undefined) return 0;
  const port = Number(word);
  if (!/^\d+$/.test(word) || port > 65_535)
    throw wrongUsage(`Invalid --port "${word}".`, "Use a number up to 65535.");
  return port;
}
