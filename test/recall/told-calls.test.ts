import { describe, expect, it, test } from "vitest";
import { findToldCalls, makesCall } from "../../src/recall/usage.ts";

const told = (text: string) => findToldCalls(text).map((call) => call.join(" "));

describe("the calls that a text tells", () => {
  it.each<[string, string, string[]]>([
    ["a command between backticks", "Run `harborctl tides sync` first.", ["harborctl tides"]],
    [
      "a block of shell",
      "```bash\n$ npx changeset version\n# then\ngh release create v1\n```",
      ["npx changeset version", "gh release create"],
    ],
    ["a block without a language", "```\nmake seed-db\n```", ["make seed-db"]],
    [
      "a command over several lines",
      "```sh\nfly deploy \\\n  --strategy bluegreen\n```",
      ["fly deploy --strategy"],
    ],
    [
      "a flag that makes it one's own",
      "`npm install --legacy-peer-deps`",
      ["npm install --legacy-peer-deps"],
    ],
    ["a variable that does", "`HARBOR_DB=local npm test`", ["npm test HARBOR_DB="]],
    ["a script by its path", "`./scripts/deploy-berths.sh --now`", ["deploy-berths.sh"]],
    ["a script that an interpreter is given", "`python tools/reindex.py`", ["python reindex.py"]],
    [
      "what stands under a comment in a block",
      "## Steps\n\n```sh\n# when the tests pass\nmake seed-db\n```\n\nThen `make seed-tides`.",
      ["make seed-db", "make seed-tides"],
    ],
    [
      "what is told after what is not",
      "Do not run `harborctl tides sync`. Run `harborctl berths pull` first.",
      ["harborctl berths"],
    ],
    ["each once", "`make seed-db`, and again `make seed-db`", ["make seed-db"]],
  ])("are found: %s", (_, text, calls) => expect(told(text)).toEqual(calls));

  it.each([
    "`git status`, `git add -A`, `git commit -m x` and `git push`",
    "`npm test`, `npm install`, `npm run build` and `npm run lint -- --fix`",
    "`pnpm install`, `yarn add left-pad`, `bun test`",
    "`ls -la`, `cat README.md`, `cd src`, `mkdir -p out`, `rm -rf dist`, `grep -rn foo .`",
    "`cargo build --release`, `go test ./...`, `make`, `make test`, `pytest -q`, `python -m pytest`",
    "`docker compose up -d`, `docker ps`, `kubectl get pods`",
    "`node index.js`, `python main.py`, `./test.sh`, `tsc --noEmit`, `npx tsc`",
    "`gh pr create --fill --base main`, `gh pr view`, `git push --force-with-lease`, `tsc --project x`",
    "`echo done`, `sleep 5`, `curl -s localhost:3000`, `psql -c x`",
    "`someFunction()` and `the-name`",
    "```js\nnpx changeset version\n```",
    "## When to use\n\nThe call that fails:\n\n```sh\nharborctl tides sync\n```\n\n## Steps\n\n1. Ask.",
    "The call that fails:\n\n```sh\nharborctl tides sync\n```",
    "## Evidence\n\n- `harborctl tides sync` failed; then `harborctl tides pull` worked.",
    "Never run `harborctl tides sync`, and avoid `harborctl tides pull`.",
    "Nothing in code: harborctl tides sync",
  ])("are none that everybody makes: %s", (text) => expect(told(text)).toEqual([]));

  test("of a long text are as many as are looked at", () => {
    const text = Array.from({ length: 500 }, (_, n) => `\`tool${n} step${n}\``).join(" ");
    expect(findToldCalls(text).length).toBe(40);
  });
});

describe("a command makes a call that was told", () => {
  const call = ["harborctl", "tides", "--station"] as const;
  it.each<[string, boolean]>([
    ["harborctl tides sync --station ijmuiden", true],
    ["cd ops && harborctl tides sync --station=ijmuiden | tail", true],
    ["/usr/local/bin/harborctl tides --station x", true],
    ["harborctl tides sync", false],
    ["harborctl berths --station x", false],
    ["echo 'harborctl tides --station x'", false],
    ["grep -rn 'harborctl tides --station' docs", false],
  ])("%s: %s", (command, isMade) => expect(makesCall(command, call)).toBe(isMade));
});
