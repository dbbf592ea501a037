/** How often something random is tried: so many times by `npm run test:all`, a quarter of them by `npm test`. */
export function runs(all: number): number {
  return process.env.KNACK_TEST_ALL === "1" ? all : Math.ceil(all / 4);
}
