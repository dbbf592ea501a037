import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const all = process.env.KNACK_TEST_ALL === "1";
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const clients = "test/clients/**/*.test.ts";
// Driven by `npm run test:clients` alone, because their clients are more to install.
const moreClients = "test/more-clients/**/*.test.ts";
// Driven by `npm run test:page` alone, because it needs a browser.
const page = "test/page/**/*.test.ts";
const hasPage = process.env.KNACK_TEST_PAGE === "1";
const hasMoreClients = process.env.KNACK_TEST_CLIENTS === "1";

export default defineConfig({
  define: { KNACK_VERSION: JSON.stringify(version) },
  test: {
    exclude: ["**/node_modules/**"],
    // Against what never ends, not for speed: a machine may be busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    globalSetup: ["test/helpers/shared.ts"],
    setupFiles: ["test/helpers/seed.ts"],
    pool: "forks",
    // No module of Knack has a state, so that files may share what they import.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: "knack",
          include: ["test/**/*.test.ts", ...(all ? ["test/**/*.slow.ts"] : [])],
          exclude: [clients, moreClients, page],
          // Who starts processes mostly waits for them, so that no core is left out.
          maxWorkers: Math.ceil(1.5 * availableParallelism()),
        },
      },
      {
        extends: true,
        // Agents wait for a hook only so long: they come last, three at a time, each of which waits most of its time.
        test: { name: "clients", include: [clients], maxWorkers: 3, sequence: { groupOrder: 1 } },
      },
      ...(hasMoreClients
        ? [{ extends: true as const, test: { name: "more-clients", include: [moreClients], maxWorkers: 2 } }]
        : []),
      ...(hasPage
        ? [
            {
              extends: true as const,
              test: {
                name: "page",
                include: [page],
                maxWorkers: 2,
                globalSetup: ["test/page/one-browser.ts"],
              },
            },
          ]
        : []),
    ],
  },
});
