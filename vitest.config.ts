import { defineConfig } from "vitest/config";

const all = process.env.KNACK_TEST_ALL === "1";

export default defineConfig({
  define: { KNACK_VERSION: JSON.stringify("0.0.0-test") },
  test: {
    include: ["test/**/*.test.ts", ...(all ? ["test/**/*.slow.ts"] : [])],
    exclude: ["**/node_modules/**"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
  },
});
