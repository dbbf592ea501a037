import { defineConfig } from "vitest/config";

export default defineConfig({
  define: { KNACK_VERSION: JSON.stringify("0.0.0-test") },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/clients/node_modules/**", "test/slow/**"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
  },
});
