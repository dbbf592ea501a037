import { chromium } from "playwright-core";

/** Started without anything that would ask the network. */
const quietly = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
  // A name of somebody else's that leads here, as a rebinding attack has it.
  "--host-resolver-rules=MAP evil.example 127.0.0.1",
];

/** Starts one Chromium for all files of the suite, and ends it with them. */
export default async function startBrowser(): Promise<() => Promise<void>> {
  const server = await chromium.launchServer({
    ...{ executablePath: process.env.KNACK_BROWSER ?? "", args: quietly, host: "127.0.0.1" },
  });
  process.env.KNACK_TEST_BROWSER = server.wsEndpoint();
  return () => server.close();
}
