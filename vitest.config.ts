import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const all = process.env.KNACK_TEST_ALL === "1";
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

export default defineConfig({
  define: { KNACK_VERSION: JSON.stringify(version) },
  test: {
    include: ["test/**/*.test.ts", ...(all ? ["test/**/*.slow.ts"] : [])],
    exclude: ["**/node_modules/**"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // No module of Knack has a state, so that files may share what they import; and a worker for each core, because
    // a test that starts processes mostly waits for them.
    isolate: false,
    maxWorkers: "100%",
  },
});
