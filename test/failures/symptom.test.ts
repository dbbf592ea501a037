import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { makeSignature } from "../../src/failures/error-line.ts";
import { readError } from "../../src/failures/error-text.ts";
import { compareSymptoms, readSymptom } from "../../src/failures/symptom.ts";
import type { Symptom } from "../../src/records/lesson.ts";
import { runs } from "../helpers/runs.ts";

/** One trouble, as somebody meets it: what was run and what that said. */
interface Trouble {
  readonly tool: string;
  readonly ran: string;
  readonly said: string;
  /** Of the line that says what is wrong. */
  readonly line: string;
  /** The same trouble on another day, on another machine. */
  readonly meets: readonly Variant[];
  /** What looks like it and is another trouble. */
  readonly not: readonly Variant[];
}

/** What is said otherwise in the same command and output, or another command and output. */
type Variant = Readonly<Record<string, string>> | readonly [ran: string, said: string];

const red = "\u001b[31m";
const off = "\u001b[0m";

const troubles: readonly Trouble[] = [
  // node
  {
    tool: "node",
    ran: "node dist/server.js",
    said: `node:internal/modules/cjs/loader:1148
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /home/ana/shop/dist/server.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)
    at Module._load (node:internal/modules/cjs/loader:986:27)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/home/ana/shop/dist/server.js' ]
}

Node.js v20.11.0`,
    line: "Cannot find module 'express'",
    meets: [
      { "/home/ana/shop": "/Users/bo/work/store", "1148": "1228", "v20.11.0": "v22.3.0" },
      { "dist/server.js": "dist/worker.js", "986:27": "1104:12" },
    ],
    not: [{ "'express'": "'fastify'" }, { "'express'": "'express-session'" }],
  },
  {
    tool: "node",
    ran: "node scripts/seed.mjs",
    said: `node:internal/modules/esm/resolve:303
  return new ERR_PACKAGE_PATH_NOT_EXPORTED(
         ^

Error [ERR_PACKAGE_PATH_NOT_EXPORTED]: Package subpath './lib/query' is not defined by "exports" in /home/ana/shop/node_modules/@acme/db/package.json
    at exportsNotFound (node:internal/modules/esm/resolve:303:10)
    at packageExportsResolve (node:internal/modules/esm/resolve:650:9) {
  code: 'ERR_PACKAGE_PATH_NOT_EXPORTED'
}

Node.js v20.11.0`,
    line: "Package subpath './lib/query' is not defined",
    meets: [
      { "/home/ana/shop": "/srv/build/4f2a9c1", "303": "314", "v20.11.0": "v21.7.1" },
      { "/home/ana/shop": "C:/Users/bo/shop", "650:9": "661:5" },
    ],
    not: [{ "'./lib/query'": "'./lib/types'" }, { "@acme/db": "@acme/auth" }],
  },
  {
    tool: "node",
    ran: "node server.js",
    said: `node:events:496
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::3000
    at Server.setupListenHandle [as _listen2] (node:net:1817:16)
    at listenInCluster (node:net:1865:12)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1844:8) {
  code: 'EADDRINUSE',
  errno: -98,
  syscall: 'listen',
  address: '::',
  port: 3000
}

Node.js v20.11.0`,
    line: "EADDRINUSE",
    meets: [
      { "errno: -98": "errno: -48", "net:1817:16": "net:1904:16", v20: "v18" },
      { "node:events:496": "node:events:502" },
    ],
    not: [{ "3000": "5432" }, { "3000": "9229" }],
  },
  {
    tool: "node",
    ran: "node scripts/migrate.js",
    said: `Connecting…
Error: connect ECONNREFUSED 127.0.0.1:5432
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:16) {
  errno: -111,
  code: 'ECONNREFUSED',
  syscall: 'connect',
  address: '127.0.0.1',
  port: 5432
}`,
    line: "ECONNREFUSED 127.0.0.1:5432",
    meets: [
      { "127.0.0.1": "::1", "-111": "-61" },
      { "1607:16": "1555:16", "Connecting…": "2025-03-01T10:00:00Z connecting" },
    ],
    not: [{ "5432": "6379" }, { "5432": "3306" }],
  },
  {
    tool: "node",
    ran: "node --loader ts-node/esm src/main.ts",
    said: `node:internal/process/esm_loader:40
      internalBinding('errors').triggerUncaughtException(

TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".ts" for /home/ana/shop/src/main.ts
    at new NodeError (node:internal/errors:405:5)
    at Object.getFileProtocolModuleFormat [as file:] (node:internal/modules/esm/get_format:160:9) {
  code: 'ERR_UNKNOWN_FILE_EXTENSION'
}`,
    line: 'Unknown file extension ".ts"',
    meets: [{ "/home/ana": "/Users/bo", "esm_loader:40": "esm_loader:34" }, { "/home/ana": "/root" }],
    not: [{ '".ts"': '".css"', "src/main.ts": "src/main.css" }],
  },
  // npm
  {
    tool: "npm",
    ran: "npm run types",
    said: `npm error Missing script: "types"
npm error
npm error To see a list of scripts, run:
npm error   npm run
npm error A complete log of this run can be found in: /home/ana/.npm/_logs/2025-03-01T10_11_12_345Z-debug-0.log`,
    line: 'Missing script: "types"',
    meets: [
      {
        "npm error": "npm ERR!",
        "/home/ana": "/Users/bo",
        "2025-03-01T10_11_12_345Z": "2024-11-30T23_01_00_001Z",
      },
      { "npm run types": "npm run types --silent" },
    ],
    not: [{ types: "typecheck" }],
  },
  {
    tool: "npm",
    ran: "npm install",
    said: `npm warn deprecated inflight@1.0.6: This module is not supported
npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree
npm error
npm error While resolving: shop@0.1.0
npm error Found: react@18.2.0
npm error node_modules/react
npm error   react@"^18.2.0" from the root project
npm error
npm error Could not resolve dependency:
npm error peer react@"^17.0.0" from react-datepick@3.4.1
npm error node_modules/react-datepick
npm error   react-datepick@"^3.4.0" from the root project
npm error
npm error Fix the upstream dependency conflict, or retry
npm error this command with --force or --legacy-peer-deps
npm error
npm error For a full report see:
npm error /home/ana/.npm/_logs/2025-03-01T10_11_12_345Z-eresolve-report.txt`,
    line: "react-datepick",
    meets: [
      {
        "/home/ana": "/Users/bo",
        "10_11_12_345Z": "11_00_00_000Z",
        "shop@0.1.0": "shop@0.2.0",
        "3.4.1": "3.4.2",
      },
      { "npm error": "npm ERR!", "npm warn": "npm WARN" },
    ],
    not: [{ "react-datepick": "vue-grid", react: "vue" }],
  },
  {
    tool: "npm",
    ran: "npm install -g typescript",
    said: `npm error code EACCES
npm error syscall mkdir
npm error path /usr/local/lib/node_modules/typescript
npm error errno -13
npm error Error: EACCES: permission denied, mkdir '/usr/local/lib/node_modules/typescript'
npm error     at async mkdir (node:internal/fs/promises:858:10)
npm error The operation was rejected by your operating system.
npm error A complete log of this run can be found in: /home/ana/.npm/_logs/2025-03-01T10_11_12_345Z-debug-0.log`,
    line: "EACCES: permission denied, mkdir",
    meets: [
      { "858:10": "912:10", "/home/ana": "/Users/bo" },
      { "npm error": "npm ERR!", "2025-03-01T10_11_12_345Z": "2025-04-02T08_00_00_000Z" },
    ],
    not: [{ "/usr/local/lib/node_modules/typescript": "/home/ana/.npm/_cacache" }],
  },
  {
    tool: "npm",
    ran: "npm ci",
    said: `npm error code EUSAGE
npm error
npm error \`npm ci\` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with \`npm install\` before continuing.
npm error
npm error Missing: left-pad@1.3.0 from lock file
npm error
npm error Clean install a project
npm error
npm error Usage:
npm error npm ci
npm error A complete log of this run can be found in: /home/ana/.npm/_logs/2025-03-01T10_11_12_345Z-debug-0.log`,
    line: "are in sync",
    meets: [{ "left-pad@1.3.0": "right-pad@1.0.1" }, { "/home/ana": "/Users/bo", "npm error": "npm ERR!" }],
    not: [
      [
        "npm ci",
        `npm error code EUSAGE
npm error
npm error The \`npm ci\` command can only install with an existing package-lock.json or
npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or later to generate one.
npm error
npm error Clean install a project`,
      ],
    ],
  },
  {
    tool: "npm",
    ran: "npm install @acme/kit",
    said: `npm error code E404
npm error 404 Not Found - GET https://registry.example.com/@acme%2fkit - Not found
npm error 404
npm error 404  '@acme/kit@*' is not in this registry.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/ana/.npm/_logs/2025-03-01T10_11_12_345Z-debug-0.log`,
    line: "acme",
    meets: [
      { "/home/ana": "/Users/bo", "10_11_12_345Z": "11_00_00_000Z" },
      { "npm error": "npm ERR!", "npm install": "npm install --save-dev" },
    ],
    not: [{ "@acme/kit": "@acme/kti", "@acme%2fkit": "@acme%2fkti" }],
  },
  // pnpm
  {
    tool: "pnpm",
    ran: "pnpm install --frozen-lockfile",
    said: `Scope: all 4 workspace projects
 ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with packages/web/package.json

Note that in CI environments this setting is true by default. If you still need to run install in such cases, use "pnpm install --no-frozen-lockfile"

    Failure reason:
    specifiers in the lockfile don't match specifiers in package.json:
* 1 dependencies were added: zod@^3.22.0`,
    line: "ERR_PNPM_OUTDATED_LOCKFILE",
    meets: [
      { "zod@^3.22.0": "yup@^1.0.0", "all 4": "all 12" },
      { " ERR_PNPM": `${red} ERR_PNPM`, LOCKFILE: `LOCKFILE${off}` },
    ],
    not: [
      [
        "pnpm install --frozen-lockfile",
        ' ERR_PNPM_NO_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is absent',
      ],
    ],
  },
  {
    tool: "pnpm",
    ran: "pnpm exec mocha",
    said: ` ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command "mocha" not found

Did you mean "pnpm exec moch"?`,
    line: 'Command "mocha" not found',
    meets: [
      { "pnpm exec mocha": "pnpm exec mocha --reporter dot" },
      { "ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  ": "" },
    ],
    not: [{ mocha: "ava" }],
  },
  {
    tool: "pnpm",
    ran: "pnpm --filter @acme/web build",
    said: `No projects matched the filters in "/home/ana/shop"`,
    line: "No projects matched",
    meets: [{ "/home/ana/shop": "/Users/bo/work/shop" }, { "/home/ana/shop": "/builds/1234/shop" }],
    not: [["pnpm --filter @acme/web build", " ERR_PNPM_NO_SCRIPT  Missing script: build"]],
  },
  {
    tool: "pnpm",
    ran: "pnpm add -D vitest",
    said: ` ERR_PNPM_ADDING_TO_ROOT  Running this command will add the dependency to the workspace root, which might not be what you want - if you really meant it, make it explicit by running this command again with the -w flag (or --workspace-root). If you don't want to see this warning anymore, you may set the ignore-workspace-root-check setting to true.`,
    line: "ERR_PNPM_ADDING_TO_ROOT",
    meets: [{ vitest: "jest" }, { "pnpm add -D": "pnpm add" }],
    not: [
      [
        "pnpm add -D vitest",
        ` ERR_PNPM_FETCH_404  GET https://registry.example.com/vitset: Not Found - 404

This error happened while installing a direct dependency of /home/ana/shop

vitset is not in the npm registry, or you have no permission to fetch it.`,
      ],
    ],
  },
  {
    tool: "pnpm",
    ran: "pnpm install",
    said: `Progress: resolved 120, reused 118, downloaded 2, added 0
 ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)

Your Node version is incompatible with "/home/ana/shop".

Expected version: >=20.0.0
Got: v18.17.0`,
    line: "ERR_PNPM_UNSUPPORTED_ENGINE",
    meets: [
      { "/home/ana": "/Users/bo", "resolved 120": "resolved 44", "v18.17.0": "v18.19.1" },
      { "pnpm install": "pnpm install --offline" },
    ],
    not: [
      [
        "pnpm install",
        " ERR_PNPM_PEER_DEP_ISSUES  Unmet peer dependencies\n\n.\n└─┬ foo 1.0.0\n  └── ✕ unmet peer bar@^2",
      ],
    ],
  },
  // python
  {
    tool: "python",
    ran: "python app/main.py",
    said: `Traceback (most recent call last):
  File "/home/ana/shop/app/main.py", line 3, in <module>
    from fastapi import FastAPI
ModuleNotFoundError: No module named 'fastapi'`,
    line: "No module named 'fastapi'",
    meets: [
      { "/home/ana": "/Users/bo", "line 3": "line 17" },
      { "python app/main.py": "python3 app/worker.py", "app/main.py": "app/worker.py" },
    ],
    not: [
      { "'fastapi'": "'fastapi_users'" },
      { "'fastapi'": "'pydantic'" },
      ["node app.js", "Error: Cannot find module 'fastapi'\nRequire stack:\n- /home/ana/shop/app.js"],
    ],
  },
  {
    tool: "python",
    ran: "python manage.py migrate",
    said: `Traceback (most recent call last):
  File "/home/ana/shop/.venv/lib/python3.11/site-packages/django/db/backends/base/base.py", line 275, in ensure_connection
    self.connect()
  File "/home/ana/shop/.venv/lib/python3.11/site-packages/psycopg2/__init__.py", line 122, in connect
    conn = _connect(dsn, connection_factory=connection_factory, **kwasync)
django.db.utils.OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?`,
    line: "port 5432 failed: Connection refused",
    meets: [
      { "/home/ana": "/Users/bo", "python3.11": "python3.12", "line 275": "line 279" },
      { "127.0.0.1": "::1", migrate: "migrate --noinput" },
    ],
    not: [
      { "port 5432": "port 6432" },
      { "Connection refused": 'FATAL:  password authentication failed for user "shop"' },
    ],
  },
  {
    tool: "python",
    ran: "python3 tools/report.py --month 3",
    said: `loading 1200 rows
Traceback (most recent call last):
  File "/home/ana/shop/tools/report.py", line 40, in <module>
    main()
  File "/home/ana/shop/tools/report.py", line 31, in main
    print(row["total"])
KeyError: 'total'`,
    line: "KeyError: 'total'",
    meets: [
      { "/home/ana": "/Users/bo", "line 40": "line 48", "1200": "9" },
      { "--month 3": "--month 4", "line 31": "line 32" },
    ],
    not: [{ "KeyError: 'total'": "KeyError: 'tax'" }, { "KeyError: 'total'": "TypeError: 'total'" }],
  },
  {
    tool: "python",
    ran: "python -c 'import shop.cart'",
    said: `Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/home/ana/shop/shop/cart.py", line 2, in <module>
    from shop.money import round_up
ImportError: cannot import name 'round_up' from 'shop.money' (/home/ana/shop/shop/money.py)`,
    line: "cannot import name 'round_up'",
    meets: [{ "/home/ana": "/Users/bo", "line 2": "line 9" }, { "/home/ana/shop": "/tmp/tmpab12cd34" }],
    not: [{ round_up: "round_down" }, { "shop.money": "shop.cash", "money.py": "cash.py" }],
  },
  {
    tool: "python",
    ran: "python -m venv .venv",
    said: `The virtual environment was not created successfully because ensurepip is not
available.  On Debian/Ubuntu systems, you need to install the python3-venv
package using the following command.

    apt install python3.10-venv

Failing command: /home/ana/shop/.venv/bin/python3.10`,
    line: "ensurepip is not",
    meets: [{ "3.10": "3.12", "/home/ana": "/root" }, { "python -m venv .venv": "python3 -m venv .venv" }],
    not: [["python -m venv .venv", "Error: [Errno 13] Permission denied: '/opt/shop/.venv'"]],
  },
  // pytest
  {
    tool: "pytest",
    ran: "pytest -q",
    said: `.....F....                                                               [100%]
=================================== FAILURES ===================================
_________________________________ test_rounds __________________________________

    def test_rounds():
>       assert total([1.005]) == 1.01
E       assert 1.0 == 1.01
E        +  where 1.0 = total([1.005])

tests/test_cart.py:14: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_rounds - assert 1.0 == 1.01
1 failed, 9 passed in 0.12s`,
    line: "tests/test_cart.py::test_rounds",
    meets: [
      { "0.12s": "3.40s", "9 passed": "11 passed", "py:14": "py:16" },
      { "pytest -q": "python -m pytest -q tests/test_cart.py" },
    ],
    not: [{ test_rounds: "test_empty" }, { "tests/test_cart.py": "tests/test_order.py" }],
  },
  {
    tool: "pytest",
    ran: "pytest tests/unit",
    said: `============================= test session starts ==============================
platform linux -- Python 3.11.4, pytest-7.4.0, pluggy-1.2.0
rootdir: /home/ana/shop
collected 0 items / 1 error

==================================== ERRORS ====================================
____________________ ERROR collecting tests/unit/test_api.py ___________________
ImportError while importing test module '/home/ana/shop/tests/unit/test_api.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
tests/unit/test_api.py:1: in <module>
    import httpx
E   ModuleNotFoundError: No module named 'httpx'
=========================== short test summary info ============================
ERROR tests/unit/test_api.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.08s ===============================`,
    line: "No module named 'httpx'",
    meets: [
      { "/home/ana": "/Users/bo", "0.08s": "1.21s", "3.11.4": "3.12.1" },
      { "tests/unit/test_api.py": "tests/unit/test_client.py" },
    ],
    not: [{ httpx: "respx" }],
  },
  {
    tool: "pytest",
    ran: "pytest --cov=shop",
    said: `ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]
pytest: error: unrecognized arguments: --cov=shop
  inifile: /home/ana/shop/pyproject.toml
  rootdir: /home/ana/shop`,
    line: "unrecognized arguments: --cov=shop",
    meets: [{ "/home/ana/shop": "/Users/bo/store" }, { "--cov=shop": "--cov=store" }],
    not: [{ "--cov=shop": "--timeout=30" }],
  },
  {
    tool: "pytest",
    ran: "pytest",
    said: `F                                                                        [100%]
E       fixture 'db_session' not found
>       available fixtures: cache, capfd, capsys, monkeypatch, tmp_path
>       use 'pytest --fixtures [testpath]' for help on them.

/home/ana/shop/tests/test_orders.py:8
=========================== short test summary info ============================
ERROR tests/test_orders.py::test_save
1 error in 0.03s`,
    line: "fixture 'db_session' not found",
    meets: [
      { "/home/ana": "/Users/bo", "0.03s": "0.4s", "py:8": "py:12" },
      { "cache, capfd": "capfd", pytest: "pytest -x" },
    ],
    not: [{ db_session: "client" }],
  },
  // go
  {
    tool: "go",
    ran: "go test ./...",
    said: `ok  	example.com/shop/money	0.004s
--- FAIL: TestTotal (0.00s)
    cart_test.go:21: Total() = 3, want 4
FAIL
FAIL	example.com/shop/cart	0.006s
?   	example.com/shop/cmd	[no test files]
FAIL`,
    line: "TestTotal",
    meets: [{ "0.004s": "(cached)", "0.006s": "1.210s", "go:21": "go:30" }, { "./...": "./cart/..." }],
    not: [{ TestTotal: "TestEmpty" }],
  },
  {
    tool: "go",
    ran: "go build ./...",
    said: `# example.com/shop/cart
cart/cart.go:12:9: undefined: Round`,
    line: "undefined: Round",
    meets: [{ "12:9": "30:2" }, { "./...": "-v ./..." }],
    not: [{ "undefined: Round": "undefined: Floor" }, { "cart/cart.go": "cart/order.go" }],
  },
  {
    tool: "go",
    ran: "go run ./cmd/shop",
    said: `cmd/shop/main.go:8:2: no required module provides package github.com/spf13/viper; to add it:
	go get github.com/spf13/viper`,
    line: "no required module provides package github.com/spf13/viper",
    meets: [{ "8:2": "11:2" }, { "cmd/shop": "cmd/admin" }],
    not: [{ viper: "cobra" }],
  },
  {
    tool: "go",
    ran: "go test ./...",
    said: "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
    line: "go.mod file not found",
    meets: [
      { "./...": "./pkg/..." },
      [
        "go build ./...",
        "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
      ],
    ],
    not: [["go test ./...", "go: cannot find main module, but found .git/config in /home/ana/shop"]],
  },
  {
    tool: "go",
    ran: "go mod download",
    said: `go: example.com/private/lib@v1.2.0: reading example.com/private/lib/go.mod at revision v1.2.0: git ls-remote -q origin in /home/ana/go/pkg/mod/cache/vcs/3f1a2b4c5d: exit status 128:
	fatal: could not read Username for 'https://example.com': terminal prompts disabled
Confirm the import path was entered correctly.`,
    line: "could not read Username for 'https://example.com'",
    meets: [{ "/home/ana": "/Users/bo", "3f1a2b4c5d": "99ffee0011" }, { "v1.2.0": "v1.3.1" }],
    not: [
      {
        "could not read Username for 'https://example.com': terminal prompts disabled":
          "repository 'https://example.com/private/lib/' not found",
      },
    ],
  },
  // cargo
  {
    tool: "cargo",
    ran: "cargo build",
    said: `   Compiling shop v0.1.0 (/home/ana/shop)
error[E0432]: unresolved import \`serde_json\`
 --> src/main.rs:3:5
  |
3 | use serde_json::Value;
  |     ^^^^^^^^^^ use of undeclared crate or module \`serde_json\`

For more information about this error, try \`rustc --explain E0432\`.
error: could not compile \`shop\` (bin "shop") due to 1 previous error`,
    line: "unresolved import `serde_json`",
    meets: [
      { "/home/ana": "/Users/bo", "3:5": "9:5", "3 |": "9 |" },
      { "cargo build": "cargo build --release", "v0.1.0": "v0.2.0" },
    ],
    not: [{ serde_json: "tokio" }, { "src/main.rs": "src/cart.rs" }],
  },
  {
    tool: "cargo",
    ran: "cargo test",
    said: `    Finished test [unoptimized + debuginfo] target(s) in 0.52s
     Running unittests src/lib.rs (target/debug/deps/shop-3f1a2b4c5d6e7f80)

running 2 tests
test cart::tests::empty ... ok
test cart::tests::rounds ... FAILED

failures:

---- cart::tests::rounds stdout ----
thread 'cart::tests::rounds' panicked at src/cart.rs:30:9:
assertion \`left == right\` failed
  left: 1
 right: 2
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace

failures:
    cart::tests::rounds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass \`--lib\``,
    line: "cart::tests::rounds",
    meets: [
      { "3f1a2b4c5d6e7f80": "0a1b2c3d4e5f6071", "0.52s": "12.10s", "30:9": "44:9" },
      { "cargo test": "cargo test cart" },
    ],
    not: [{ rounds: "splits" }],
  },
  {
    tool: "cargo",
    ran: "cargo run",
    said: "error: could not find `Cargo.toml` in `/home/ana/shop/web` or any parent directory",
    line: "could not find `Cargo.toml`",
    meets: [{ "/home/ana/shop/web": "/Users/bo/other" }, { "cargo run": "cargo run --quiet" }],
    not: [["cargo run", "error: a bin target must be available for `cargo run`"]],
  },
  {
    tool: "cargo",
    ran: "cargo clippy",
    said: "error: no such command: `clippy`\n\n\tView all installed commands with `cargo --list`\n\tFind a package to install `clippy` with `cargo search cargo-clippy`",
    line: "no such command: `clippy`",
    meets: [{ "cargo clippy": "cargo clippy -- -D warnings" }, { "no such command": "no such subcommand" }],
    not: [{ clippy: "nextest" }],
  },
  {
    tool: "cargo",
    ran: "cargo build",
    said: `    Updating crates.io index
error: failed to run custom build command for \`openssl-sys v0.9.102\`

Caused by:
  process didn't exit successfully: \`/home/ana/shop/target/debug/build/openssl-sys-5d3a1f0b9c8e7d62/build-script-main\` (exit status: 101)
  --- stderr
  thread 'main' panicked at /home/ana/.cargo/registry/src/index.crates.io-6f17d22bba15001f/openssl-sys-0.9.102/build/find_normal.rs:190:5:
  Could not find directory of OpenSSL installation, and this \`-sys\` crate cannot proceed without this knowledge.`,
    line: "openssl-sys",
    meets: [
      { "/home/ana": "/root", "5d3a1f0b9c8e7d62": "aa00bb11cc22dd33", "0.9.102": "0.9.99" },
      { "cargo build": "cargo build --locked" },
    ],
    not: [{ "openssl-sys": "libgit2-sys", "OpenSSL installation": "libgit2 installation" }],
  },
  // git
  {
    tool: "git",
    ran: "git push origin main",
    said: `To github.com:acme/shop.git
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'github.com:acme/shop.git'
hint: Updates were rejected because the remote contains work that you do not
hint: have locally. This is usually caused by another repository pushing to
hint: the same ref.`,
    line: "fetch first",
    meets: [{ "acme/shop": "acme/store" }, { "git push origin main": "git push" }],
    not: [
      [
        "git push origin main",
        `remote: error: GH006: Protected branch update failed for refs/heads/main.
remote: error: Changes must be made through a pull request.
To github.com:acme/shop.git
 ! [remote rejected] main -> main (protected branch hook declined)
error: failed to push some refs to 'github.com:acme/shop.git'`,
      ],
    ],
  },
  {
    tool: "git",
    ran: "git push",
    said: `fatal: The current branch fix/cart-total has no upstream branch.
To push the current branch and set the remote as upstream, use

    git push --set-upstream origin fix/cart-total

To have this happen automatically for branches without a tracking
upstream, see 'push.autoSetupRemote' in 'git help config'.`,
    line: "has no upstream branch",
    meets: [{ "fix/cart-total": "feat/vat" }, { "fix/cart-total": "main" }],
    not: [
      [
        "git push",
        "fatal: You are not currently on a branch.\nTo push the history leading to the current (detached HEAD)\nstate now, use\n\n    git push origin HEAD:<name-of-remote-branch>",
      ],
    ],
  },
  {
    tool: "git",
    ran: "git commit -m 'fix: total'",
    said: `[STARTED] Running tasks for staged files...
[FAILED] eslint --fix [FAILED]
✖ eslint --fix:

/home/ana/shop/src/cart.ts
  12:7  error  'vat' is assigned a value but never used  @typescript-eslint/no-unused-vars

✖ 1 problem (1 error, 0 warnings)

husky - pre-commit script failed (code 1)`,
    line: "'vat' is assigned a value but never used",
    // A rule is kept in the same way whatever it found.
    meets: [
      { "/home/ana": "/Users/bo", "12:7": "14:9" },
      { "fix: total": "feat: vat" },
      { "'vat'": "'tax'", "src/cart.ts": "src/order.ts" },
    ],
    not: [
      {
        "'vat' is assigned a value but never used  @typescript-eslint/no-unused-vars":
          "Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any",
      },
      { "@typescript-eslint/no-unused-vars": "no-unused-vars" },
    ],
  },
  {
    tool: "git",
    ran: "git clone git@github.com:acme/shop.git",
    said: `Cloning into 'shop'...
git@github.com: Permission denied (publickey).
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.`,
    line: "Permission denied (publickey)",
    meets: [
      { "acme/shop": "acme/store", "'shop'": "'store'" },
      [
        "git fetch origin",
        "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
      ],
    ],
    not: [
      { "github.com": "gitlab.com" },
      [
        "git clone git@github.com:acme/shop.git",
        "Cloning into 'shop'...\nERROR: Repository not found.\nfatal: Could not read from remote repository.",
      ],
    ],
  },
  {
    tool: "git",
    ran: "git checkout feature",
    said: "error: pathspec 'feature' did not match any file(s) known to git",
    line: "pathspec 'feature'",
    meets: [{ "git checkout feature": "git checkout -q feature" }, { "error: pathspec": "error:  pathspec" }],
    not: [{ feature: "release" }],
  },
  {
    tool: "git",
    ran: "git rebase main",
    said: "error: cannot rebase: You have unstaged changes.\nerror: Please commit or stash them.",
    line: "You have unstaged changes",
    meets: [{ "git rebase main": "git rebase origin/main" }, { "git rebase main": "git rebase -i HEAD~3" }],
    not: [
      [
        "git rebase main",
        "fatal: It seems that there is already a rebase-merge directory, and\nI wonder if you are in the middle of another rebase.",
      ],
    ],
  },
  // docker
  {
    tool: "docker",
    ran: "docker compose up -d",
    said: "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    line: "Cannot connect to the Docker daemon",
    meets: [
      { "unix:///var/run/docker.sock": "unix:///Users/bo/.docker/run/docker.sock" },
      [
        "docker ps",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
      ],
    ],
    not: [
      [
        "docker compose up -d",
        'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/json": dial unix /var/run/docker.sock: connect: permission denied',
      ],
    ],
  },
  {
    tool: "docker",
    ran: "docker build -t shop .",
    said: `#1 [internal] load build definition from Dockerfile
#1 DONE 0.0s
#3 [internal] load metadata for docker.io/library/node:20-alpin
#3 ERROR: docker.io/library/node:20-alpin: not found
------
 > [internal] load metadata for docker.io/library/node:20-alpin:
------
Dockerfile:1
--------------------
   1 | >>> FROM node:20-alpin
   2 |     WORKDIR /app
--------------------
ERROR: failed to solve: node:20-alpin: docker.io/library/node:20-alpin: not found`,
    line: "node:20-alpin: not found",
    meets: [
      { "DONE 0.0s": "DONE 0.3s", "#3": "#4" },
      { "-t shop": "-t shop:dev", "Dockerfile:1": "Dockerfile:3" },
    ],
    not: [{ "node:20-alpin": "python:3.12-slm" }],
  },
  {
    tool: "docker",
    ran: "docker build .",
    said: `#8 [4/6] RUN npm ci
#8 0.412 npm warn old lockfile
#8 2.310 npm error code ENOENT
#8 2.311 npm error Missing script: "prepare:ci"
#8 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
------
 > [4/6] RUN npm ci:
2.311 npm error Missing script: "prepare:ci"
------
ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1`,
    line: 'Missing script: "prepare:ci"',
    meets: [{ "2.311": "9.870", "0.412": "0.9", "#8": "#11" }, { "[4/6]": "[5/7]" }],
    not: [{ "prepare:ci": "postinstall:ci" }],
  },
  {
    tool: "docker",
    ran: "docker build .",
    said: `#7 [3/5] COPY config/app.yml /app/
#7 ERROR: failed to calculate checksum of ref 1f2e3d4c::abcd1234: "/config/app.yml": not found
ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 1f2e3d4c-aaaa-bbbb-cccc-1234567890ab::k3j4h5g6f7: "/config/app.yml": not found`,
    line: '"/config/app.yml": not found',
    meets: [
      {
        "1f2e3d4c-aaaa-bbbb-cccc-1234567890ab::k3j4h5g6f7":
          "99aa88bb-1111-2222-3333-ba0987654321::z9y8x7w6v5",
        "#7": "#9",
      },
      { "docker build .": "docker build --no-cache ." },
    ],
    not: [{ "config/app.yml": "config/web.yml" }],
  },
  {
    tool: "docker",
    ran: "docker run -p 5432:5432 postgres:16",
    said: `3f1a2b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708
docker: Error response from daemon: driver failed programming external connectivity on endpoint brave_hopper (9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0): Bind for 0.0.0.0:5432 failed: port is already allocated.`,
    line: "port is already allocated",
    meets: [
      {
        brave_hopper: "sleepy_curie",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0":
          "0a9f8e7d6c5b4a39281706f5e4d3c2b10a9f8e7d6c5b4a39281706f5e4d3c2b1",
      },
      { "docker run": "docker run --rm" },
    ],
    not: [{ "5432": "6379", "postgres:16": "redis:7" }],
  },
  {
    tool: "docker",
    ran: "docker exec web ls",
    said: "Error response from daemon: No such container: web",
    line: "No such container: web",
    meets: [{ "exec web ls": "exec -it web sh" }, { "Error response": "Error: response" }],
    not: [
      { web: "db" },
      ["docker exec web ls", "Error response from daemon: Container 3f1a2b4c5d6e is not running"],
    ],
  },
  // kubectl
  {
    tool: "kubectl",
    ran: "kubectl get pods",
    said: `E0301 10:11:12.345678   12345 memcache.go:265] "Unhandled Error" err="couldn't get current server API group list: Get \\"http://localhost:8080/api?timeout=32s\\": dial tcp 127.0.0.1:8080: connect: connection refused"
The connection to the server localhost:8080 was refused - did you specify the right host or port?`,
    line: "The connection to the server localhost:8080 was refused",
    meets: [
      { "E0301 10:11:12.345678   12345": "E1130 23:01:09.000001   99", "go:265": "go:287" },
      { "get pods": "get pods -A" },
    ],
    not: [{ "localhost:8080": "10.0.0.7:6443", "127.0.0.1:8080": "10.0.0.7:6443" }],
  },
  {
    tool: "kubectl",
    ran: "kubectl apply -f deploy.yml",
    said: 'error: error validating "deploy.yml": error validating data: [apiVersion not set, kind not set]; if you choose to ignore these errors, turn validation off with --validate=false',
    line: "apiVersion not set",
    meets: [{ "kubectl apply -f": "kubectl apply --wait -f" }, { "kubectl apply": "kubectl -n shop apply" }],
    not: [
      ["kubectl apply -f deploy.yml", 'error: the path "deploy.yml" does not exist'],
      { "deploy.yml": "service.yml" },
    ],
  },
  {
    tool: "kubectl",
    ran: "kubectl logs web-7d9f8b6c5-x2x4z",
    said: 'Error from server (BadRequest): container "web" in pod "web-7d9f8b6c5-x2x4z" is waiting to start: trying and failing to pull image',
    line: "waiting to start",
    meets: [{ "7d9f8b6c5-x2x4z": "5c6d7f8b9-k8s9q" }, { "kubectl logs": "kubectl logs -f" }],
    not: [
      { "trying and failing to pull image": "CreateContainerConfigError" },
      { 'container "web"': 'container "proxy"' },
    ],
  },
  {
    tool: "kubectl",
    ran: "kubectl delete deploy shop",
    said: 'Error from server (Forbidden): deployments.apps "shop" is forbidden: User "ana" cannot delete resource "deployments" in API group "apps" in the namespace "prod"',
    line: 'cannot delete resource "deployments"',
    meets: [
      { "delete deploy shop": "delete deploy shop --wait=false" },
      { "Error from server": "error from server" },
    ],
    not: [
      { "delete resource": "patch resource" },
      ["kubectl delete deploy shop", 'Error from server (NotFound): deployments.apps "shop" not found'],
    ],
  },
  {
    tool: "kubectl",
    ran: "kubectl get pods --context staging",
    said: 'error: context "staging" does not exist',
    line: 'context "staging" does not exist',
    meets: [
      { "get pods": "get pods -o wide" },
      { "get pods --context staging": "--context staging get pods" },
    ],
    not: [{ staging: "prod" }],
  },
  // tsc
  {
    tool: "tsc",
    ran: "npx tsc --noEmit",
    said: `src/cart.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.`,
    line: "TS2322",
    meets: [
      { "12,7": "40,11" },
      { "src/cart.ts(12,7): error TS2322:": `${red}src/cart.ts${off}:12:7 - error TS2322:` },
    ],
    not: [
      { "src/cart.ts": "src/order.ts" },
      { "TS2322: Type 'string' is not assignable to type 'number'": "TS2304: Cannot find name 'vat'" },
    ],
  },
  {
    tool: "tsc",
    ran: "tsc -p tsconfig.build.json",
    said: `src/api/index.ts(3,22): error TS2307: Cannot find module '@acme/kit/date' or its corresponding type declarations.
src/web/index.ts(1,22): error TS2307: Cannot find module '@acme/kit/date' or its corresponding type declarations.`,
    line: "Cannot find module '@acme/kit/date'",
    meets: [{ "3,22": "7,22" }, { "tsc -p": "tsc --pretty false -p" }],
    not: [{ "@acme/kit/date": "@acme/kit/money" }, { "@acme/kit/date": "@acme/kit" }],
  },
  {
    tool: "tsc",
    ran: "npm run build && npm test",
    said: `
> shop@1.2.0 build
> tsc

error TS18003: No inputs were found in config file '/home/ana/shop/tsconfig.json'. Specified 'include' paths were '["src"]' and 'exclude' paths were '["dist"]'.`,
    line: "TS18003",
    meets: [{ "/home/ana": "/Users/bo", "1.2.0": "1.3.0" }, { "npm run build && npm test": "npm run build" }],
    not: [
      {
        "TS18003: No inputs were found in config file '/home/ana/shop/tsconfig.json'. Specified 'include' paths were '[\"src\"]' and 'exclude' paths were '[\"dist\"]'.":
          "TS5083: Cannot read file '/home/ana/shop/tsconfig.base.json'.",
      },
    ],
  },
  {
    tool: "tsc",
    ran: "tsc --strct",
    said: "error TS5025: Unknown compiler option '--strct'. Did you mean 'strict'?",
    line: "Unknown compiler option",
    meets: [{ "tsc --strct": "tsc --noEmit --strct" }, { "tsc --strct": "npx tsc --strct" }],
    not: [{ "'--strct'": "'--nomit'", "'strict'": "'noEmit'", "--strct": "--nomit" }],
  },
  // eslint
  {
    tool: "eslint",
    ran: "npx eslint .",
    said: `
/home/ana/shop/src/cart/index.ts
  4:10  error  'sum' is defined but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)`,
    line: "'sum' is defined but never used",
    meets: [
      { "/home/ana/shop": "/Users/bo/store", "4:10": "9:10" },
      { "npx eslint .": "npx eslint src" },
      { "src/cart/index.ts": "src/order/index.ts", "'sum'": "'rate'" },
    ],
    not: [{ "'sum' is defined but never used  no-unused-vars": "Unexpected console statement  no-console" }],
  },
  {
    tool: "eslint",
    ran: "eslint src",
    said: `
Oops! Something went wrong! :(

ESLint: 8.57.0

ESLint couldn't find the config "airbnb" to extend from. Please check that the name of the config is correct.

The config "airbnb" was referenced from the config file in "/home/ana/shop/.eslintrc.json".

If you still have problems, please stop by https://eslint.org/chat/help to chat with the team.`,
    line: `couldn't find the config "airbnb"`,
    meets: [{ "/home/ana": "/Users/bo", "8.57.0": "8.40.0" }, { "eslint src": "eslint src --fix" }],
    not: [{ airbnb: "standard" }],
  },
  {
    tool: "eslint",
    ran: "npx eslint .",
    said: `
Oops! Something went wrong! :(

ESLint: 9.2.0

ESLint couldn't find an eslint.config.(js|mjs|cjs) file.

From ESLint v9.0.0, the default configuration file is now eslint.config.js.
If you are using a .eslintrc.* file, please follow the migration guide`,
    line: "couldn't find an eslint.config",
    meets: [{ "9.2.0": "9.14.0" }, { "npx eslint .": "npx eslint src --max-warnings 0" }],
    not: [
      [
        "npx eslint .",
        "\nOops! Something went wrong! :(\n\nESLint: 9.2.0\n\nTypeError: context.getScope is not a function\nOccurred while linting /home/ana/shop/src/a.ts:1",
      ],
    ],
  },
  {
    tool: "eslint",
    ran: "eslint 'lib/**/*.js'",
    said: `Oops! Something went wrong! :(

ESLint: 8.57.0

No files matching the pattern "lib/**/*.js" were found.
Please check for typing mistakes in the pattern.`,
    line: "No files matching the pattern",
    meets: [{ "8.57.0": "9.1.0" }, { "eslint 'lib": "eslint --cache 'lib" }],
    not: [
      [
        "eslint 'lib/**/*.js'",
        'Oops! Something went wrong! :(\n\nESLint: 8.57.0\n\nESLint couldn\'t find the plugin "eslint-plugin-import".',
      ],
    ],
  },
  // make
  {
    tool: "make",
    ran: "make build",
    said: `cc -O2 -c -o cart.o cart.c
cart.c:3:10: fatal error: openssl/ssl.h: No such file or directory
    3 | #include <openssl/ssl.h>
      |          ^~~~~~~~~~~~~~~
compilation terminated.
make[1]: *** [Makefile:12: cart.o] Error 1
make: *** [Makefile:4: build] Error 2`,
    line: "openssl/ssl.h: No such file",
    meets: [{ "Makefile:12": "Makefile:20", "c:3:10": "c:5:10" }, { "make build": "make -j8 build" }],
    not: [{ "openssl/ssl.h": "curl/curl.h" }],
  },
  {
    tool: "make",
    ran: "make lint",
    said: "make: *** No rule to make target 'lint'.  Stop.",
    line: "No rule to make target 'lint'",
    meets: [{ "make lint": "make -s lint" }, { "'lint'": "`lint'" }],
    not: [{ lint: "check" }],
  },
  {
    tool: "make",
    ran: "make test",
    said: `go vet ./...
golangci-lint run
make: golangci-lint: No such file or directory
make: *** [Makefile:9: test] Error 127`,
    line: "golangci-lint",
    meets: [
      { "Makefile:9": "Makefile:31" },
      [
        "make test",
        "go vet ./...\n/bin/sh: 1: golangci-lint: not found\nmake: *** [Makefile:9: test] Error 127",
      ],
    ],
    not: [{ "golangci-lint": "staticcheck" }],
  },
  {
    tool: "make",
    ran: "make",
    said: "Makefile:7: *** missing separator.  Stop.",
    line: "missing separator",
    meets: [
      { "Makefile:7": "Makefile:31" },
      { "missing separator.": "missing separator (did you mean TAB instead of 8 spaces?)." },
    ],
    not: [["make", "make: *** No targets specified and no makefile found.  Stop."]],
  },
  // psql
  {
    tool: "psql",
    ran: "psql -d shop -c 'select 1'",
    said: `psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: FATAL:  role "ana" does not exist`,
    line: 'role "ana" does not exist',
    meets: [{ "/var/run/postgresql": "/tmp" }, { "select 1": "select now()" }],
    not: [{ 'role "ana"': 'database "shop"' }, { 'role "ana"': 'role "app"' }],
  },
  {
    tool: "psql",
    ran: "psql -h localhost -U shop",
    said: `psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?`,
    line: "port 5432 failed: Connection refused",
    meets: [{ "127.0.0.1": "::1" }, { "-U shop": "-U shop -d shop" }],
    not: [
      { "5432": "5433" },
      { "Connection refused": 'FATAL:  password authentication failed for user "shop"' },
    ],
  },
  {
    tool: "psql",
    ran: "psql shop -f schema.sql",
    said: `SET
CREATE TABLE
psql:schema.sql:14: ERROR:  relation "orders" already exists`,
    line: 'relation "orders" already exists',
    meets: [{ "sql:14": "sql:20" }, { "psql shop": "psql -q shop" }],
    not: [{ orders: "items" }, { "already exists": "does not exist" }],
  },
  {
    tool: "psql",
    ran: "psql shop -c 'select toal from orders'",
    said: `ERROR:  column "toal" does not exist
LINE 1: select toal from orders
               ^
HINT:  Perhaps you meant to reference the column "orders.total".`,
    line: 'column "toal" does not exist',
    meets: [{ "from orders'": "from orders limit 3'" }, { "LINE 1": "LINE 4" }],
    not: [{ toal: "vta" }],
  },
  // curl
  {
    tool: "curl",
    ran: "curl -s http://localhost:3000/health",
    said: "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server",
    line: "Failed to connect to localhost port 3000",
    meets: [
      { "0 ms": "12 ms" },
      {
        "after 0 ms: Couldn't connect to server": "after 1 ms: Couldn't connect to server",
        "/health": "/ready",
      },
    ],
    not: [{ "3000": "5432" }, { localhost: "api.example.com" }],
  },
  {
    tool: "curl",
    ran: "curl -fsSL https://api.example.com/v1/items",
    said: "curl: (22) The requested URL returned error: 401",
    line: "returned error: 401",
    meets: [{ "/v1/items": "/v1/orders" }, { "-fsSL": "-f" }],
    not: [{ "error: 401": "error: 404" }, { "error: 401": "error: 500" }],
  },
  {
    tool: "curl",
    ran: "curl https://intranet.example.com",
    said: `  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0
curl: (60) SSL certificate problem: self-signed certificate in certificate chain
More details here: https://curl.se/docs/sslcerts.html`,
    line: "self-signed certificate",
    meets: [{ "curl https": "curl -v https" }, { "0     0      0      0": "0     0      0      9" }],
    not: [{ "self-signed certificate in certificate chain": "certificate has expired" }],
  },
  {
    tool: "curl",
    ran: "curl https://api.exmaple.test/x",
    said: "curl: (6) Could not resolve host: api.exmaple.test",
    line: "Could not resolve host: api.exmaple.test",
    meets: [{ "/x": "/y" }, { "curl https": "curl -sS https" }],
    not: [{ "api.exmaple.test": "cdn.example.test" }],
  },
  // shells
  {
    tool: "bash",
    ran: "rg TODO src",
    said: "bash: line 1: rg: command not found",
    line: "rg",
    meets: [
      ["rg -n FIXME lib | head", "zsh:1: command not found: rg"],
      ["cd web && rg TODO", "/bin/sh: 1: rg: not found"],
      ["rg x", "(eval):1: command not found: rg"],
      ["rg x", "-bash: rg: command not found"],
      ["rg x", "/bin/bash: line 12: rg: command not found"],
    ],
    not: [{ rg: "fd" }, ["rg TODO src", "rg: src: No such file or directory (os error 2)"]],
  },
  {
    tool: "bash",
    ran: "timeout 30 npm test",
    said: "zsh:1: command not found: timeout",
    line: "timeout",
    meets: [{ "npm test": "npm run lint" }, ["timeout 5 curl x", "bash: timeout: command not found"]],
    not: [{ timeout: "gtimeout" }],
  },
  {
    tool: "zsh",
    ran: "ls src/*.tsx",
    said: "zsh:1: no matches found: src/*.tsx",
    line: "no matches found",
    meets: [{ "zsh:1": "(eval):1" }, { "ls src": "ls -la src" }],
    not: [["ls src/*.tsx", "ls: src/*.tsx: No such file or directory"]],
  },
  {
    tool: "bash",
    ran: "sed -i 's/a/b/' src/cart.ts",
    said: `sed: 1: "src/cart.ts": invalid command code c`,
    line: "invalid command code",
    meets: [{ "src/cart.ts": "src/order.ts", "code c": "code o" }, { "s/a/b/": "s/x/y/g" }],
    not: [
      ["sed -i 's/a/b/' src/cart.ts", "sed: can't read src/cart.ts: No such file or directory"],
      ["sed 's/a/b' src/cart.ts", "sed: -e expression #1, char 5: unterminated `s' command"],
    ],
  },
  {
    tool: "bash",
    ran: "cat config/prod.yml",
    said: "cat: config/prod.yml: No such file or directory",
    line: "config/prod.yml",
    meets: [
      { "cat config": "cat ./config" },
      ["cat config/prod.yml | head -5", "cat: config/prod.yml: No such file or directory"],
    ],
    not: [{ prod: "test" }, ["cat config/prod.yml", "cat: config/prod.yml: Permission denied"]],
  },
  {
    tool: "bash",
    ran: "./deploy.sh",
    said: "bash: ./deploy.sh: Permission denied",
    line: "./deploy.sh: Permission denied",
    meets: [{ "bash: ": "zsh: permission denied: ./deploy.sh\nbash: " }, { "bash:": "/bin/bash: line 1:" }],
    not: [
      { "deploy.sh": "build.sh" },
      ["./deploy.sh", "bash: ./deploy.sh: /usr/bin/env: bad interpreter: No such file or directory"],
    ],
  },
  {
    tool: "zsh",
    ran: "grep -P '\\d+' a.txt",
    said: `grep: invalid option -- P
usage: grep [-abcdDEFGHhIiJLlMmnOopqRSsUVvwXxZz] [-A num] [-B num] [-C[num]]
	[-e pattern] [-f file] [--binary-files=value] [--color=when]`,
    line: "invalid option -- P",
    meets: [{ "a.txt": "b.txt" }, { "grep -P": "grep -oP" }],
    not: [
      { "-- P": "-- z", "grep -P": "grep -z" },
      ["cp -P a b", "cp: invalid option -- P\nusage: cp [-R [-H | -L | -P]] source target"],
    ],
  },
  // yarn
  {
    tool: "yarn",
    ran: "yarn install --immutable",
    said: `➤ YN0000: · Yarn 4.1.0
➤ YN0000: ┌ Resolution step
➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.
➤ YN0000: └ Completed in 0s 214ms
➤ YN0000: · Failed with errors in 0s 220ms`,
    line: "lockfile would have been modified",
    meets: [{ "214ms": "900ms", "4.1.0": "4.3.1" }, { "0s 220ms": "1s 2ms" }],
    not: [
      [
        "yarn install --immutable",
        "➤ YN0000: · Yarn 4.1.0\n➤ YN0002: │ shop@workspace:. doesn't provide react (p1a2b3), requested by kit.\n➤ YN0000: · Failed with errors in 0s 220ms",
      ],
    ],
  },
  {
    tool: "yarn",
    ran: "yarn typecheck",
    said: 'yarn run v1.22.19\nerror Command "typecheck" not found.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.',
    line: 'Command "typecheck" not found',
    meets: [{ "1.22.19": "1.22.22" }, { "yarn typecheck": "yarn typecheck --watch" }],
    not: [{ typecheck: "types" }],
  },
  // bun
  {
    tool: "bun",
    ran: "bun test",
    said: `bun test v1.1.3 (2615dc74)

src/cart.test.ts:
✓ sums [0.12ms]
error: expect(received).toBe(expected)

Expected: 4
Received: 3

      at /home/ana/shop/src/cart.test.ts:9:21
✗ rounds half up [1.02ms]
(fail) cart > rounds half up [1.02ms]

 1 pass
 1 fail
Ran 2 tests across 1 files. [12.00ms]`,
    line: "rounds half up",
    meets: [
      { "1.02ms": "0.88ms", "12.00ms": "31.00ms", "/home/ana": "/Users/bo" },
      { "v1.1.3 (2615dc74)": "v1.2.0 (99aabb00)" },
    ],
    not: [{ "rounds half up": "rejects text" }],
  },
  {
    tool: "bun",
    ran: "bun run biuld",
    said: 'error: Script not found "biuld"',
    line: "Script not found",
    meets: [{ "bun run biuld": "bun run biuld --watch" }, { "error: Script": `${red}error${off}: Script` }],
    not: [{ biuld: "tset" }],
  },
  // uv and pip
  {
    tool: "pip",
    ran: "pip install requests",
    said: `error: externally-managed-environment

× This environment is externally managed
╰─> To install Python packages system-wide, try apt install
    python3-xyz, where xyz is the package you are trying to
    install.

note: If you believe this is a mistake, please contact your Python installation or OS distribution provider.
hint: See PEP 668 for the detailed specification.`,
    line: "externally",
    meets: [{ "pip install requests": "pip install httpx" }, { "pip install": "pip3 install" }],
    not: [
      [
        "pip install requests",
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/lib/python3'",
      ],
    ],
  },
  {
    tool: "pip",
    ran: "pip install torch==9.9.9",
    said: `ERROR: Could not find a version that satisfies the requirement torch==9.9.9 (from versions: 2.0.0, 2.0.1, 2.1.0)
ERROR: No matching distribution found for torch==9.9.9

[notice] A new release of pip is available: 23.2.1 -> 24.0`,
    line: "torch",
    meets: [{ "2.0.0, 2.0.1": "2.0.1", "24.0": "24.1" }, { "pip install": "python -m pip install" }],
    not: [{ torch: "tensorflow" }],
  },
  {
    tool: "uv",
    ran: "uv sync --locked",
    said: `Using CPython 3.12.3
Resolved 40 packages in 12ms
error: The lockfile at \`uv.lock\` needs to be updated, but \`--locked\` was provided. To update the lockfile, run \`uv lock\`.`,
    line: "needs to be updated",
    meets: [
      { "12ms": "1.20s", "40 packages": "41 packages", "3.12.3": "3.12.7" },
      { "uv sync --locked": "uv sync --locked --all-extras" },
    ],
    not: [
      [
        "uv sync --locked",
        "error: Unable to find lockfile at `uv.lock`. To create a lockfile, run `uv lock` or `uv sync`.",
      ],
    ],
  },
  {
    tool: "uv",
    ran: "uv run pytset",
    said: "error: Failed to spawn: `pytset`\n  Caused by: No such file or directory (os error 2)",
    line: "Failed to spawn: `pytset`",
    meets: [{ "uv run pytset": "uv run pytset -q" }, { "uv run": "uv run --frozen" }],
    not: [{ pytset: "rufff" }],
  },
  // gradle and maven
  {
    tool: "gradle",
    ran: "./gradlew build",
    said: `> Task :app:compileJava FAILED
/home/ana/shop/app/src/main/java/shop/Cart.java:14: error: cannot find symbol
    Money total;
    ^
  symbol:   class Money
  location: class Cart
1 error

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':app:compileJava'.
> Compilation failed; see the compiler error output for details.

BUILD FAILED in 3s`,
    line: "Cart.java:14: error: cannot find symbol",
    meets: [
      { "/home/ana": "/Users/bo", ":14:": ":19:", "in 3s": "in 41s" },
      { "./gradlew build": "./gradlew build --info" },
    ],
    not: [{ "shop/Cart.java": "shop/Order.java" }],
  },
  {
    tool: "gradle",
    ran: "./gradlew test",
    said: `
FAILURE: Build failed with an exception.

* What went wrong:
Could not determine java version from '21.0.1'.

* Try:
> Run with --stacktrace option to get the stack trace.

BUILD FAILED in 412ms`,
    line: "Could not determine java version",
    meets: [{ "412ms": "1s", "21.0.1": "21.0.3" }, { "./gradlew test": "./gradlew test --offline" }],
    not: [
      [
        "./gradlew test",
        "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'test' not found in root project 'shop'.\n\nBUILD FAILED in 412ms",
      ],
    ],
  },
  {
    tool: "maven",
    ran: "mvn -q verify",
    said: `[INFO] Scanning for projects...
[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project com.acme:shop:jar:1.0: Could not find artifact com.acme:kit:jar:2.1 in central (https://repo.maven.apache.org/maven2) -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.`,
    line: "com.acme:kit",
    meets: [{ "jar:1.0": "jar:1.1" }, { "mvn -q verify": "mvn verify" }],
    not: [{ "acme:kit": "acme:money" }],
  },
  // terraform
  {
    tool: "terraform",
    ran: "terraform plan",
    said: `╷
│ Error: Inconsistent dependency lock file
│
│ The following dependency selections recorded in the lock file are inconsistent with the current configuration:
│   - provider registry.example.com/hashicorp/aws: required by this configuration but no version is selected
│
│ To make the initial dependency selections that will initialize the dependency lock file, run:
│   terraform init
╵`,
    line: "Inconsistent dependency lock file",
    meets: [{ "hashicorp/aws": "hashicorp/google" }, { "terraform plan": "terraform plan -out=tf.plan" }],
    not: [
      { "Inconsistent dependency lock file": 'Backend initialization required, please run "terraform init"' },
    ],
  },
  {
    tool: "terraform",
    ran: "terraform apply -auto-approve",
    said: `Acquiring state lock. This may take a few moments...
╷
│ Error: Error acquiring the state lock
│
│ Error message: ConditionalCheckFailedException: The conditional request failed
│ Lock Info:
│   ID:        1f2e3d4c-aaaa-bbbb-cccc-1234567890ab
│   Path:      acme-state/prod.tfstate
│   Who:       ana@build-1
│   Created:   2025-03-01 10:11:12.345678 +0000 UTC
╵`,
    line: "Error acquiring the state lock",
    meets: [
      {
        "1f2e3d4c-aaaa-bbbb-cccc-1234567890ab": "99aa88bb-1111-2222-3333-ba0987654321",
        "10:11:12": "23:00:01",
        "ana@build-1": "bo@build-7",
      },
      { "-auto-approve": "-auto-approve -no-color" },
    ],
    not: [{ "Error acquiring the state lock": "Error loading state: AccessDenied" }],
  },
  // gh
  {
    tool: "gh",
    ran: "gh pr view 12 --json checks",
    said: `Unknown JSON field: "checks"
Available fields:
  additions
  assignees
  statusCheckRollup`,
    line: 'Unknown JSON field: "checks"',
    meets: [{ "view 12": "view 40" }, { "  additions\n": "" }],
    not: [{ checks: "reviewers" }],
  },
  {
    tool: "gh",
    ran: "gh pr create --fill",
    said: "To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.",
    line: "gh auth login",
    meets: [{ "--fill": "--title x --body y" }, { "run:  gh": "run: gh" }],
    not: [
      [
        "gh pr create --fill",
        "pull request create failed: GraphQL: No commits between main and fix (createPullRequest)",
      ],
    ],
  },
  {
    tool: "gh",
    ran: "gh issue edit 12 --add-label urgent",
    said: "failed to update https://github.com/acme/shop/issues/12: 'urgent' not found\nfailed to update 1 issue",
    line: "'urgent' not found",
    meets: [{ "12": "31" }, { "acme/shop": "acme/store" }],
    not: [{ urgent: "later" }],
  },
  // ssh
  {
    tool: "ssh",
    ran: "ssh deploy@db.example.com uptime",
    said: `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
The fingerprint for the ED25519 key sent by the remote host is
SHA256:abcDEF123ghiJKL456mnoPQR789stuVWX012yzABCDE.
Offending ED25519 key in /home/ana/.ssh/known_hosts:14
Host key for db.example.com has changed and you have requested strict checking.
Host key verification failed.`,
    line: "Host key",
    meets: [
      {
        "known_hosts:14": "known_hosts:3",
        "/home/ana": "/Users/bo",
        "SHA256:abcDEF123ghiJKL456mnoPQR789stuVWX012yzABCDE":
          "SHA256:zzzDEF123ghiJKL456mnoPQR789stuVWX012yzABCDE",
      },
      { uptime: "df -h" },
    ],
    not: [
      ["ssh deploy@db.example.com uptime", "deploy@db.example.com: Permission denied (publickey,password)."],
    ],
  },
  {
    tool: "ssh",
    ran: "ssh -i key.pem ubuntu@203.0.113.9",
    said: `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
Permissions 0644 for 'key.pem' are too open.
It is required that your private key files are NOT accessible by others.
This private key will be ignored.
Load key "key.pem": bad permissions
ubuntu@203.0.113.9: Permission denied (publickey).`,
    line: "ermission",
    meets: [{ "203.0.113.9": "198.51.100.4" }, { "0644": "0664" }],
    not: [
      ["ssh -i key.pem ubuntu@203.0.113.9", "ssh: connect to host 203.0.113.9 port 22: Connection refused"],
    ],
  },
  // playwright
  {
    tool: "playwright",
    ran: "npx playwright test",
    said: `Running 1 test using 1 worker

  1) [chromium] › cart.spec.ts:4:1 › adds an item

    Error: browserType.launch: Executable doesn't exist at /home/ana/.cache/ms-playwright/chromium-1105/chrome-linux/chrome
    ╔═════════════════════════════════════════════════════════════════════════╗
    ║ Looks like Playwright Test or Playwright was just installed or updated. ║
    ║ Please run the following command to download new browsers:              ║
    ║     npx playwright install                                              ║
    ╚═════════════════════════════════════════════════════════════════════════╝

  1 failed
    [chromium] › cart.spec.ts:4:1 › adds an item`,
    line: "Executable doesn't exist",
    meets: [
      { "/home/ana/.cache": "/Users/bo/Library/Caches", "chromium-1105": "chromium-1134" },
      { "cart.spec.ts:4:1 › adds an item": "order.spec.ts:9:1 › pays" },
    ],
    not: [
      {
        "browserType.launch: Executable doesn't exist at /home/ana/.cache/ms-playwright/chromium-1105/chrome-linux/chrome":
          "page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/",
      },
    ],
  },
  {
    tool: "playwright",
    ran: "npx playwright test cart",
    said: `Running 2 tests using 2 workers
  ✓  1 [chromium] › cart.spec.ts:4:1 › opens (1.1s)
  ✘  2 [chromium] › cart.spec.ts:9:1 › removes an item (30.0s)

  1) [chromium] › cart.spec.ts:9:1 › removes an item ─────────────

    Error: expect(locator).toHaveCount(expected)

  1 failed
    [chromium] › cart.spec.ts:9:1 › removes an item ─────────────
  1 passed (31.2s)`,
    line: "removes an item",
    meets: [
      { "30.0s": "29.1s", "ts:9:1": "ts:12:1", "31.2s": "33s" },
      { "playwright test cart": "playwright test" },
    ],
    not: [{ "removes an item": "shows the sum" }],
  },
  // jest and vitest
  {
    tool: "jest",
    ran: "npx jest",
    said: `PASS src/money.test.ts
FAIL src/cart.test.ts
  cart
    ✓ adds (2 ms)
    ✕ rounds (4 ms)

  ● cart › rounds

    expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 1

      at Object.<anonymous> (src/cart.test.ts:9:20)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 3 passed, 4 total
Snapshots:   0 total
Time:        1.9 s`,
    line: "rounds",
    meets: [
      { "(4 ms)": "(11 ms)", "1.9 s": "8.201 s", "ts:9:20": "ts:11:20" },
      { "npx jest": "npx jest src/cart.test.ts" },
    ],
    not: [{ rounds: "splits" }, { "Expected: 2": "Expected: 3", rounds: "rounds down" }],
  },
  {
    tool: "vitest",
    ran: "npx vitest run",
    said: ` RUN  v1.6.0 /home/ana/shop

 ✓ src/money.test.ts  (3 tests) 4ms
 ❯ src/cart.test.ts  (2 tests | 1 failed) 9ms
   ❯ src/cart.test.ts > cart > keeps order
     → expected [ 2, 1 ] to deeply equal [ 1, 2 ]

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/cart.test.ts > cart > keeps order
AssertionError: expected [ 2, 1 ] to deeply equal [ 1, 2 ]
 ❯ src/cart.test.ts:12:19

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 4 passed (5)
   Start at  10:11:12
   Duration  412ms (transform 40ms, setup 0ms)`,
    line: "keeps order",
    meets: [
      { "/home/ana": "/Users/bo", "412ms": "2.10s", "10:11:12": "09:00:00", "ts:12:19": "ts:14:19" },
      { "npx vitest run": "npx vitest run src/cart.test.ts" },
    ],
    not: [{ "keeps order": "drops zeros" }, { "src/cart.test.ts": "src/order.test.ts" }],
  },
  {
    tool: "jest",
    ran: "npm test",
    said: `
> shop@1.0.0 test
> jest

FAIL src/app.test.ts
  ● Test suite failed to run

    Cannot find module '@acme/kit/date' from 'src/app.ts'

    Require stack:
      src/app.ts
      src/app.test.ts

Test Suites: 1 failed, 1 total
Tests:       0 total
npm error Test failed.  See above for more details.`,
    line: "Cannot find module '@acme/kit/date'",
    meets: [{ "src/app.ts'": "src/main.ts'", "1.0.0": "1.0.1" }, { "npm test": "npm test -- --ci" }],
    not: [{ "@acme/kit/date": "@acme/kit/money" }],
  },
  {
    tool: "mocha",
    ran: "npx mocha",
    said: `
  cart
    ✔ adds
    1) rounds to cents

  1 passing (12ms)
  1 failing

  1) cart
       rounds to cents:

      AssertionError [ERR_ASSERTION]: 1 == 2
      + expected - actual
      at Context.<anonymous> (test/cart.js:8:14)`,
    line: "rounds to cents",
    meets: [{ "12ms": "1s", "js:8:14": "js:11:14" }, { "npx mocha": "npx mocha test/cart.js" }],
    not: [{ "rounds to cents": "rejects text" }],
  },
  // mypy and ruff
  {
    tool: "mypy",
    ran: "mypy shop",
    said: `shop/cart.py:12: error: Argument 1 to "total" has incompatible type "str"; expected "int"  [arg-type]
Found 1 error in 1 file (checked 12 source files)`,
    line: 'Argument 1 to "total"',
    meets: [{ "py:12": "py:40", "checked 12": "checked 14" }, { "mypy shop": "mypy --strict shop" }],
    not: [{ "shop/cart.py": "shop/order.py" }, { '"total"': '"split"' }],
  },
  {
    tool: "mypy",
    ran: "mypy .",
    said: `shop/web.py:1: error: Library stubs not installed for "requests"  [import-untyped]
shop/web.py:1: note: Hint: "python3 -m pip install types-requests"
shop/web.py:1: note: (or run "mypy --install-types" to install all missing stub packages)
Found 1 error in 1 file (checked 3 source files)`,
    line: 'Library stubs not installed for "requests"',
    meets: [{ "py:1": "py:4", "checked 3": "checked 9" }, { "mypy .": "mypy --strict ." }],
    not: [{ '"requests"': '"yaml"', "types-requests": "types-PyYAML" }],
  },
  {
    tool: "ruff",
    ran: "ruff check .",
    said: `shop/cart.py:3:8: F401 [*] \`os\` imported but unused
Found 1 error.
[*] 1 fixable with the \`--fix\` option.`,
    line: "F401",
    meets: [
      { "3:8": "5:8" },
      { "ruff check .": "ruff check shop" },
      { "shop/cart.py": "shop/order.py", "`os`": "`sys`" },
    ],
    not: [{ F401: "F811" }, { "F401 [*] `os` imported but unused": "E501 Line too long (120 > 100)" }],
  },
  // prisma
  {
    tool: "prisma",
    ran: "npx prisma migrate dev",
    said: `Environment variables loaded from .env
Prisma schema loaded from prisma/schema.prisma
Datasource "db": PostgreSQL database "shop", schema "public" at "localhost:5432"

Error: P1001: Can't reach database server at \`localhost:5432\`

Please make sure your database server is running at \`localhost:5432\`.`,
    line: "P1001",
    meets: [{ '"shop"': '"store"' }, { "migrate dev": "migrate dev --name init" }],
    not: [
      { "localhost:5432": "localhost:3306" },
      {
        "P1001: Can't reach database server at `localhost:5432`":
          "P1003: Database `shop` does not exist on the database server",
      },
    ],
  },
  {
    tool: "prisma",
    ran: "npx prisma generate",
    said: `Prisma schema loaded from prisma/schema.prisma
Error: Prisma schema validation - (validate wasm)
Error code: P1012
${red}error${off}: Environment variable not found: DATABASE_URL.
  -->  prisma/schema.prisma:7
   |
 6 |   provider = "postgresql"
 7 |   url      = env("DATABASE_URL")

Validation Error Count: 1`,
    line: "DATABASE_URL",
    meets: [{ "prisma:7": "prisma:9" }, { "npx prisma": "npx --yes prisma" }],
    not: [{ DATABASE_URL: "SHADOW_URL" }],
  },
  // aws
  {
    tool: "aws",
    ran: "aws s3 ls",
    said: 'Unable to locate credentials. You can configure credentials by running "aws configure".',
    line: "Unable to locate credentials",
    meets: [{ "aws s3 ls": "aws s3 ls s3://acme" }, { "Unable to": "\nUnable to" }],
    not: [
      [
        "aws s3 ls",
        "An error occurred (ExpiredToken) when calling the ListBuckets operation: The provided token has expired.",
      ],
    ],
  },
  {
    tool: "aws",
    ran: "aws s3 cp a.txt s3://acme/a.txt",
    said: 'upload failed: ./a.txt to s3://acme/a.txt An error occurred (AccessDenied) when calling the PutObject operation: User: arn:aws:iam::123456789012:user/ana is not authorized to perform: s3:PutObject on resource: "arn:aws:s3:::acme/a.txt" because no identity-based policy allows the s3:PutObject action',
    line: "not authorized to perform: s3:PutObject",
    meets: [{ "123456789012": "210987654321" }, { "aws s3 cp": "aws s3 cp --quiet" }],
    not: [{ PutObject: "GetObject" }],
  },
  // java
  {
    tool: "java",
    ran: "java -jar build/shop.jar",
    said: `Exception in thread "main" java.lang.UnsupportedClassVersionError: shop/Main has been compiled by a more recent version of the Java Runtime (class file version 65.0), this version of the Java Runtime only recognizes class file versions up to 61.0
	at java.base/java.lang.ClassLoader.defineClass1(Native Method)
	at java.base/java.lang.ClassLoader.defineClass(ClassLoader.java:1012)`,
    line: "UnsupportedClassVersionError",
    meets: [{ "java:1012": "java:1017", "61.0": "55.0" }, { "java -jar": "java -Xmx1g -jar" }],
    not: [
      {
        "UnsupportedClassVersionError: shop/Main has been compiled by a more recent version of the Java Runtime (class file version 65.0), this version of the Java Runtime only recognizes class file versions up to 61.0":
          "NoClassDefFoundError: shop/Money",
      },
    ],
  },
  {
    tool: "java",
    ran: "java -jar build/shop.jar",
    said: `10:11:12.345 [main] INFO shop.Main - starting
Exception in thread "main" java.lang.ClassNotFoundException: org.postgresql.Driver
	at java.base/jdk.internal.loader.BuiltinClassLoader.loadClass(BuiltinClassLoader.java:641)
	at shop.Main.main(Main.java:9)`,
    line: "ClassNotFoundException: org.postgresql.Driver",
    meets: [{ "java:641": "java:650", "10:11:12.345": "23:59:59.001" }, { "Main.java:9": "Main.java:14" }],
    not: [{ "org.postgresql.Driver": "com.mysql.cj.jdbc.Driver" }],
  },
  // ruby
  {
    tool: "bundler",
    ran: "bundle exec rake test",
    said: `bundler: failed to load command: rake (/home/ana/.rbenv/versions/3.2.2/bin/rake)
/home/ana/.rbenv/versions/3.2.2/lib/ruby/3.2.0/bundler/definition.rb:524:in \`materialize': Could not find rack-3.0.8, puma-6.4.0 in locally installed gems (Bundler::GemNotFound)
	from /home/ana/.rbenv/versions/3.2.2/lib/ruby/3.2.0/bundler/definition.rb:197:in \`specs'`,
    line: "in locally installed gems",
    meets: [
      { "/home/ana": "/Users/bo", "3.2.2": "3.3.0", "rb:524": "rb:601" },
      { "rack-3.0.8, puma-6.4.0": "rack-3.0.9, puma-6.4.0" },
    ],
    not: [
      [
        "bundle exec rake test",
        "rake aborted!\nDon't know how to build task 'test' (See the list of available tasks with `rake --tasks`)",
      ],
    ],
  },
  {
    tool: "ruby",
    ran: "ruby bin/report",
    said: `<internal:/home/ana/.rbenv/versions/3.2.2/lib/ruby/3.2.0/rubygems/core_ext/kernel_require.rb>:37:in \`require': cannot load such file -- nokogiri (LoadError)
	from bin/report:2:in \`<main>'`,
    line: "cannot load such file -- nokogiri",
    meets: [{ "/home/ana": "/Users/bo", "3.2.2": "3.3.1", ":37:": ":136:" }, { "bin/report": "bin/import" }],
    not: [{ nokogiri: "sqlite3" }],
  },
  {
    tool: "agent",
    ran: "cat .env",
    said: "Permission to use Bash with command cat .env has been denied.",
    line: "Permission to use Bash",
    meets: [{ "cat .env": "cat .env | head" }, { "cat .env": "grep -n TOKEN .env" }],
    not: [{ "cat .env": "cat secrets.yml" }, { "cat .env": "cat -n ls" }],
  },
  // More of each, and what is easily taken for something else.
  {
    tool: "node",
    ran: "node src/report.js",
    said: `/home/ana/shop/src/report.js:12
  return rows.map((row) => row.total);
              ^

TypeError: Cannot read properties of undefined (reading 'map')
    at total (/home/ana/shop/src/report.js:12:15)
    at Object.<anonymous> (/home/ana/shop/src/report.js:30:1)

Node.js v20.11.0`,
    line: "Cannot read properties of undefined (reading 'map')",
    meets: [
      { "/home/ana": "/Users/bo", "report.js:12": "report.js:19" },
      { "node src/report.js": "node --trace-warnings src/report.js", "v20.11.0": "v22.1.0" },
    ],
    not: [{ "src/report.js": "src/orders.js" }, { "'map'": "'filter'" }],
  },
  {
    tool: "node",
    ran: "node -e 'fetch(\"https://api.example.com\")'",
    said: `node:internal/deps/undici/undici:12345
      Error.captureStackTrace(err, this);
            ^

TypeError: fetch failed
    at node:internal/deps/undici/undici:12345:11 {
  cause: Error: getaddrinfo ENOTFOUND api.example.com
      at GetAddrInfoReqWrap.onlookup [as oncomplete] (node:dns:107:26) {
    errno: -3008,
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
    hostname: 'api.example.com'
  }
}`,
    line: "ENOTFOUND api.example.com",
    meets: [{ "12345": "11730", "-3008": "-3007" }, { "dns:107:26": "dns:118:26" }],
    not: [
      { "api.example.com": "cdn.example.com" },
      { "getaddrinfo ENOTFOUND api.example.com": "certificate has expired" },
    ],
  },
  {
    tool: "npm",
    ran: "npm test",
    said: `npm error code ENOENT
npm error syscall open
npm error path /home/ana/shop/package.json
npm error errno -2
npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/home/ana/shop/package.json'
npm error enoent This is related to npm not being able to find a file.
npm error enoent
npm error A complete log of this run can be found in: /home/ana/.npm/_logs/2025-03-01T10_11_12_345Z-debug-0.log`,
    line: "package.json",
    meets: [{ "/home/ana/shop": "/Users/bo/store" }, { "npm error": "npm ERR!", "errno -2": "errno -4058" }],
    not: [
      [
        "npm test",
        `npm error code EJSONPARSE
npm error path /home/ana/shop/package.json
npm error JSON.parse Unexpected string in JSON at position 120 while parsing near "...\\"test\\": \\"jest\\" \\"build..."
npm error JSON.parse Failed to parse JSON data.`,
      ],
    ],
  },
  {
    tool: "npm",
    ran: "npm publish",
    said: `npm notice
npm notice 📦  @acme/kit@1.0.0
npm notice total files: 12
npm error code E403
npm error 403 403 Forbidden - PUT https://registry.example.com/@acme%2fkit - You cannot publish over the previously published versions: 1.0.0.
npm error 403 In most cases, you or one of your dependencies are requesting
npm error 403 a package version that is forbidden by your security policy.`,
    line: "You cannot publish over the previously published versions",
    meets: [
      { "1.0.0": "1.2.0", "total files: 12": "total files: 40" },
      { "npm publish": "npm publish --access public" },
    ],
    not: [
      {
        "You cannot publish over the previously published versions: 1.0.0.":
          'You do not have permission to publish "kit". Are you logged in as the correct user?',
      },
    ],
  },
  {
    tool: "pnpm",
    ran: "pnpm -r test",
    said: `Scope: 3 of 4 workspace projects
packages/kit test$ vitest run
packages/kit test:  ✓ src/date.test.ts (2 tests) 3ms
packages/kit test: Done
packages/web test$ vitest run
packages/web test: sh: 1: vitest: not found
packages/web test: Failed
/home/ana/shop/packages/web:
 ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 test: \`vitest run\`
spawn ENOENT
 WARN   Local package.json exists, but node_modules missing, did you mean to install?`,
    line: "vitest: not found",
    meets: [{ "/home/ana": "/Users/bo", "3ms": "9ms" }, { "pnpm -r test": "pnpm -r --stream test" }],
    not: [{ "vitest: not found": "tsx: not found" }],
  },
  {
    tool: "python",
    ran: "python app.py",
    said: `  File "/home/ana/shop/app.py", line 14
    print "total"
    ^^^^^^^^^^^^^
SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?`,
    line: "Missing parentheses in call to 'print'",
    meets: [{ "/home/ana": "/Users/bo", "line 14": "line 20" }, { "python app.py": "python3 app.py" }],
    not: [
      { "app.py": "cart.py" },
      { "Missing parentheses in call to 'print'. Did you mean print(...)?": "'(' was never closed" },
    ],
  },
  {
    tool: "python",
    ran: "python load.py",
    said: `Traceback (most recent call last):
  File "/home/ana/shop/load.py", line 4, in <module>
    open("data/items.csv")
FileNotFoundError: [Errno 2] No such file or directory: 'data/items.csv'`,
    line: "data/items.csv",
    meets: [{ "/home/ana": "/Users/bo", "line 4": "line 6" }, { "python load.py": "python load.py --all" }],
    not: [{ "data/items.csv": "data/prices.csv" }],
  },
  {
    tool: "pytest",
    ran: "pytest tests",
    said: `FFF.F...F
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 1 == 2
FAILED tests/test_a.py::test_two[3-4] - assert 3 == 4
2 failed, 7 passed in 0.50s`,
    line: "test_a.py::test_one",
    meets: [{ "0.50s": "0.61s", "7 passed": "8 passed" }, { "pytest tests": "pytest tests -x" }],
    not: [{ "test_two[3-4]": "test_two[5-6]" }, { test_one: "test_three" }],
  },
  {
    tool: "go",
    ran: "go build ./...",
    said: `go: github.com/acme/kit@v1.4.0: missing go.sum entry for go.mod file; to add it:
	go mod download github.com/acme/kit`,
    line: "missing go.sum entry",
    meets: [{ "v1.4.0": "v1.5.2" }, { "go build": "go build -o shop" }],
    not: [{ "acme/kit": "acme/date" }],
  },
  {
    tool: "go",
    ran: "go test -race ./...",
    said: `# runtime/cgo
cgo: C compiler "gcc" not found: exec: "gcc": executable file not found in $PATH
FAIL	example.com/shop/cart [build failed]
FAIL`,
    line: '"gcc"',
    meets: [{ "shop/cart": "shop/money" }, { "./...": "./cart" }],
    not: [{ gcc: "clang" }],
  },
  {
    tool: "cargo",
    ran: "cargo build --locked",
    said: `    Updating crates.io index
error: the lock file /home/ana/shop/Cargo.lock needs to be updated but --locked was passed to prevent this
If you want to try to generate the lock file without accessing the network, remove the --locked flag and use --offline instead.`,
    line: "needs to be updated but --locked",
    meets: [{ "/home/ana": "/Users/bo" }, { "cargo build --locked": "cargo build --locked --release" }],
    not: [
      [
        "cargo build --locked",
        "error: no matching package named `srede` found\nlocation searched: registry `crates-io`\nrequired by package `shop v0.1.0 (/home/ana/shop)`",
      ],
    ],
  },
  {
    tool: "cargo",
    ran: "cargo check",
    said: `    Checking shop v0.1.0 (/home/ana/shop)
warning: unused variable: \`a\`
 --> src/lib.rs:2:9
error[E0308]: mismatched types
  --> src/cart.rs:20:5
   |
20 |     "three"
   |     ^^^^^^^ expected \`u32\`, found \`&str\`

error: could not compile \`shop\` (lib) due to 1 previous error; 1 warning emitted`,
    line: "mismatched types",
    meets: [
      { "20:5": "25:5", "20 |": "25 |", "/home/ana": "/Users/bo" },
      { "unused variable: `a`": "unused variable: `b`" },
    ],
    not: [{ "src/cart.rs": "src/order.rs" }],
  },
  {
    tool: "git",
    ran: "git status",
    said: `fatal: detected dubious ownership in repository at '/home/ana/shop'
To add an exception for this directory, call:

	git config --global --add safe.directory /home/ana/shop`,
    line: "dubious ownership",
    meets: [{ "/home/ana/shop": "/workspace/store" }, { "git status": "git log -1" }],
    not: [["git status", "fatal: not a git repository (or any of the parent directories): .git"]],
  },
  {
    tool: "git",
    ran: "git commit -m 'x'",
    said: `Author identity unknown

*** Please tell me who you are.

Run

  git config --global user.email "you@example.com"
  git config --global user.name "Your Name"

to set your account's default identity.
Omit --global to set the identity only in this repository.

fatal: unable to auto-detect email address (got 'root@3f1a2b4c5d6e.(none)')`,
    line: "unable to auto-detect email address",
    meets: [{ "3f1a2b4c5d6e": "99ffee001122" }, { "git commit -m 'x'": "git commit --amend --no-edit" }],
    not: [
      [
        "git commit -m 'x'",
        "error: gpg failed to sign the data:\ngpg: signing failed: No secret key\nfatal: failed to write commit object",
      ],
    ],
  },
  {
    tool: "git",
    ran: "git merge feature",
    said: `Auto-merging src/cart.ts
CONFLICT (content): Merge conflict in src/cart.ts
Automatic merge failed; fix conflicts and then commit the result.`,
    line: "Merge conflict in src/cart.ts",
    meets: [
      { "git merge feature": "git merge --no-ff feature" },
      { "Auto-merging src/cart.ts\n": "Auto-merging README.md\nAuto-merging src/cart.ts\n" },
    ],
    not: [{ "src/cart.ts": "src/order.ts" }],
  },
  {
    tool: "git",
    ran: "git commit -am 'wip'",
    said: "fatal: Unable to create '/home/ana/shop/.git/index.lock': File exists.\n\nAnother git process seems to be running in this repository, e.g.\nan editor opened by 'git commit'.",
    line: "index.lock': File exists",
    meets: [{ "/home/ana/shop": "/Users/bo/store" }, { "git commit -am 'wip'": "git add -A" }],
    not: [
      [
        "git commit -am 'wip'",
        "fatal: Unable to create '/home/ana/shop/.git/index.lock': Read-only file system",
      ],
    ],
  },
  {
    tool: "docker",
    ran: "docker pull acme/private:latest",
    said: "Error response from daemon: pull access denied for acme/private, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
    line: "pull access denied for acme/private",
    meets: [{ ":latest": ":v2" }, { "docker pull": "docker pull -q" }],
    not: [
      { "acme/private": "acme/other" },
      [
        "docker pull acme/private:latest",
        "Error response from daemon: manifest for acme/private:latest not found: manifest unknown: manifest unknown",
      ],
    ],
  },
  {
    tool: "docker",
    ran: "docker compose up",
    said: `[+] Running 1/1
 ✔ Network shop_default  Created                                           0.1s
service "worker" depends on undefined service "redis": invalid compose project`,
    line: 'depends on undefined service "redis"',
    meets: [
      { "0.1s": "0.4s", shop_default: "store_default" },
      { "docker compose up": "docker compose up -d" },
    ],
    not: [{ redis: "queue" }],
  },
  {
    tool: "docker",
    ran: "docker build .",
    said: `#9 [5/7] RUN pip install -r requirements.txt
#9 1.203 Collecting flask
#9 4.110 ERROR: Could not find a version that satisfies the requirement flsk (from versions: none)
#9 4.111 ERROR: No matching distribution found for flsk
#9 ERROR: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1
------
Dockerfile:9
--------------------
ERROR: failed to solve: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1`,
    line: "flsk",
    meets: [
      { "4.110": "12.001", "#9": "#12", "[5/7]": "[6/8]" },
      { "docker build .": "docker build -t shop ." },
    ],
    not: [{ flsk: "djnago" }],
  },
  {
    tool: "kubectl",
    ran: "kubectl apply -f k8s/",
    said: `namespace/shop unchanged
error: resource mapping not found for name: "web" namespace: "" from "k8s/ingress.yml": no matches for kind "Ingress" in version "extensions/v1beta1"
ensure CRDs are installed first`,
    line: 'no matches for kind "Ingress"',
    meets: [
      { "namespace/shop unchanged": "namespace/shop configured" },
      { "kubectl apply": "kubectl -n shop apply" },
    ],
    not: [{ '"Ingress" in version "extensions/v1beta1"': '"CronJob" in version "batch/v1beta1"' }],
  },
  {
    tool: "tsc",
    ran: "npm run typecheck",
    said: `
> shop@1.0.0 typecheck
> tsc --noEmit

src/a.ts(1,1): error TS2304: Cannot find name 'x'.
src/b.ts(1,1): error TS2304: Cannot find name 'x'.
src/c.ts(1,1): error TS2304: Cannot find name 'x'.`,
    line: "TS2304",
    meets: [{ "(1,1)": "(9,2)" }, { "shop@1.0.0": "shop@1.1.0" }],
    not: [{ "src/c.ts": "src/d.ts" }, { "'x'": "'y'" }],
  },
  {
    tool: "eslint",
    ran: "npm run lint",
    said: `
> shop@1.0.0 lint
> eslint . --max-warnings 0

/home/ana/shop/src/cart.ts
  1:1  error  Parsing error: "parserOptions.project" has been provided for @typescript-eslint/parser

✖ 1 problem (1 error, 0 warnings)

npm error Lifecycle script \`lint\` failed with error:
npm error code 1
npm error path /home/ana/shop
npm error workspace shop@1.0.0`,
    line: "Parsing error",
    meets: [{ "/home/ana": "/Users/bo", "1.0.0": "1.0.1" }, { "npm run lint": "npm run lint -- --cache" }],
    not: [{ "src/cart.ts": "src/order.ts" }],
  },
  {
    tool: "make",
    ran: "make all",
    said: "make: *** No rule to make target 'proto/cart.proto', needed by 'gen/cart.pb.go'.  Stop.",
    line: "proto/cart.proto",
    meets: [{ "make all": "make -j4 all" }, { "'proto/cart.proto'": "`proto/cart.proto'" }],
    not: [{ "proto/cart.proto": "proto/order.proto", "cart.pb.go": "order.pb.go" }],
  },
  {
    tool: "make",
    ran: "make deploy",
    said: `./scripts/deploy.sh
Error: AWS_PROFILE is not set
make: *** [Makefile:30: deploy] Error 1`,
    line: "AWS_PROFILE is not set",
    meets: [
      { "Makefile:30": "Makefile:33" },
      { "make: *** [Makefile:30: deploy] Error 1": "make: *** [deploy] Error 1" },
    ],
    not: [{ AWS_PROFILE: "DEPLOY_ENV" }],
  },
  {
    tool: "psql",
    ran: "psql postgres://shop@localhost/shop",
    said: 'psql: error: connection to server at "localhost" (::1), port 5432 failed: FATAL:  password authentication failed for user "shop"\nconnection to server at "localhost" (::1), port 5432 failed: FATAL:  password authentication failed for user "shop"',
    line: 'password authentication failed for user "shop"',
    meets: [
      { "::1": "127.0.0.1" },
      ["psql -h localhost -U shop", 'psql: error: FATAL:  password authentication failed for user "shop"'],
    ],
    not: [{ 'user "shop"': 'user "admin"' }],
  },
  {
    tool: "psql",
    ran: "psql shop -f seed.sql",
    said: 'INSERT 0 1\npsql:seed.sql:20: ERROR:  duplicate key value violates unique constraint "items_pkey"\nDETAIL:  Key (id)=(42) already exists.',
    line: 'violates unique constraint "items_pkey"',
    meets: [{ "(42)": "(77)", "sql:20": "sql:31" }, { "psql shop": "psql -v ON_ERROR_STOP=1 shop" }],
    not: [{ items_pkey: "users_email_key" }],
  },
  {
    tool: "curl",
    ran: "curl --max-time 5 https://api.example.com",
    said: "curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received",
    line: "timed out after",
    meets: [{ "5001": "5003" }, { "--max-time 5": "--max-time 10", "5001": "10002" }],
    not: [
      {
        "(28) Operation timed out after 5001 milliseconds with 0 bytes received":
          "(35) LibreSSL SSL_connect: SSL_ERROR_SYSCALL in connection to api.example.com:443",
      },
    ],
  },
  {
    tool: "bash",
    ran: "bash deploy.sh",
    said: "deploy.sh: line 12: TOKEN: unbound variable",
    line: "TOKEN: unbound variable",
    meets: [{ "line 12": "line 30" }, { "bash deploy.sh": "bash deploy.sh staging" }],
    not: [{ TOKEN: "REGION" }],
  },
  {
    tool: "zsh",
    ran: 'echo "done!"',
    said: 'zsh:1: event not found: "',
    line: "event not found",
    meets: [{ "zsh:1": "(eval):3" }, { "done!": "ready!" }],
    not: [["echo x", "zsh:1: bad substitution"]],
  },
  {
    tool: "bash",
    ran: "date -d yesterday +%F",
    said: "date: illegal option -- d\nusage: date [-jnRu] [-I[date|hours|minutes|seconds|ns]] [-f input_fmt]",
    line: "illegal option -- d",
    meets: [{ yesterday: "tomorrow" }, { "illegal option": "invalid option" }],
    not: [{ "-- d": "-- i" }, ["stat -d x", "stat: illegal option -- d\nusage: stat [-FLnq]"]],
  },
  {
    tool: "yarn",
    ran: "yarn add lefft-pad",
    said: `yarn add v1.22.19
[1/4] Resolving packages...
error Couldn't find package "lefft-pad" on the "npm" registry.
info Visit https://yarnpkg.com/en/docs/cli/add for documentation about this command.`,
    line: 'Couldn\'t find package "lefft-pad"',
    meets: [{ "1.22.19": "1.22.22" }, { "yarn add": "yarn add -D" }],
    not: [{ "lefft-pad": "rihgt-pad" }],
  },
  {
    tool: "bun",
    ran: "bun install --frozen-lockfile",
    said: "bun install v1.1.3 (2615dc74)\nerror: lockfile had changes, but lockfile is frozen\nnote: try re-running without --frozen-lockfile and commit the updated lockfile",
    line: "lockfile is frozen",
    meets: [{ "v1.1.3 (2615dc74)": "v1.2.9 (aa11bb22)" }, { "bun install": "bun install --silent" }],
    not: [
      [
        "bun install --frozen-lockfile",
        "error: GET https://registry.example.com/lefft-pad - 404\nerror: lefft-pad@^1.0.0 failed to resolve",
      ],
    ],
  },
  {
    tool: "uv",
    ran: "uv add numpy",
    said: `  × No solution found when resolving dependencies for split (python_full_version >= '3.13'):
  ╰─▶ Because numpy==1.21.0 depends on Python>=3.7,<3.11 and your project depends on numpy==1.21.0, we can conclude that your project's requirements are unsatisfiable.`,
    line: "numpy",
    meets: [{ "3.13": "3.12" }, { "uv add numpy": "uv add --dev numpy" }],
    not: [{ numpy: "scipy" }],
  },
  {
    tool: "maven",
    ran: "mvn test",
    said: `[INFO] Running shop.CartTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in shop.CartTest
[ERROR] shop.CartTest.rounds  Time elapsed: 0.01 s  <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <2> but was: <1>
	at shop.CartTest.rounds(CartTest.java:14)
[ERROR] Failures:
[ERROR]   CartTest.rounds:14 expected: <2> but was: <1>
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test (default-test) on project shop: There are test failures.`,
    line: "CartTest.rounds",
    meets: [
      { "0.05 s": "0.31 s", "java:14": "java:20", "rounds:14": "rounds:20" },
      { "mvn test": "mvn -q test" },
    ],
    not: [{ rounds: "splits" }],
  },
  {
    tool: "terraform",
    ran: "terraform validate",
    said: `╷
│ Error: Unsupported argument
│
│   on main.tf line 12, in resource "aws_s3_bucket" "logs":
│   12:   acl_policy = "private"
│
│ An argument named "acl_policy" is not expected here.
╵`,
    line: "acl_policy",
    meets: [
      { "line 12": "line 20", "12:   acl": "20:   acl" },
      { "terraform validate": "terraform validate -no-color" },
    ],
    not: [{ acl_policy: "versionning" }],
  },
  {
    tool: "gh",
    ran: "gh api repos/acme/shop/branches",
    said: 'gh: Not Found (HTTP 404)\n{\n  "message": "Not Found",\n  "documentation_url": "https://docs.github.com/rest"\n}',
    line: "HTTP 404",
    meets: [
      { '"https://docs.github.com/rest"': '"https://docs.github.com/rest/branches"' },
      { "gh api": "gh api -X GET" },
    ],
    not: [{ "Not Found (HTTP 404)": "Bad credentials (HTTP 401)" }],
  },
  {
    tool: "ssh",
    ran: "scp a.txt deploy@db.example.com:/srv",
    said: "ssh: connect to host db.example.com port 22: Operation timed out\nscp: Connection closed",
    line: "db.example.com port 22",
    meets: [{ "a.txt": "b.txt" }, { "scp a.txt": "scp -q a.txt" }],
    not: [{ "db.example.com": "web.example.com" }, { "Operation timed out": "Connection refused" }],
  },
  {
    tool: "jest",
    ran: "npx jest",
    said: `FAIL src/cart.test.ts
  ● rounds

    thrown: "Exceeded timeout of 5000 ms for a test.
    Use jest.setTimeout(newTimeout) to increase the timeout value, if this is a long-running test."

Tests:       1 failed, 3 passed, 4 total`,
    line: "rounds",
    meets: [{ "3 passed, 4 total": "5 passed, 6 total" }, { "npx jest": "npx jest --ci" }],
    not: [{ rounds: "saves" }],
  },
  {
    tool: "vitest",
    ran: "npx vitest run",
    said: ` FAIL  src/app.test.ts [ src/app.test.ts ]
Error: Failed to resolve import "@acme/kit/money" from "src/app.ts". Does the file exist?
 ❯ TransformPluginContext._formatError ../node_modules/vite/dist/node/chunks/dep-abc123.js:40:1

 Test Files  1 failed (1)
      Tests  no tests
   Duration  310ms`,
    line: 'Failed to resolve import "@acme/kit/money"',
    meets: [
      { "310ms": "2.02s", "dep-abc123.js:40:1": "dep-9f8e7d.js:77:3" },
      { "npx vitest run": "npx vitest run --silent" },
    ],
    not: [{ "@acme/kit/money": "@acme/kit/date" }],
  },
  {
    tool: "ruff",
    ran: "ruff format --check .",
    said: "Would reformat: shop/cart.py\n1 file would be reformatted, 12 files already formatted",
    line: "shop/cart.py",
    meets: [
      { "12 files": "14 files" },
      { "ruff format --check .": "ruff format --check shop" },
      { "shop/cart.py": "shop/order.py" },
    ],
    not: [
      ["npx prettier --check .", "[warn] shop/cart.md\n[warn] Code style issues found in the above file."],
    ],
  },
  {
    tool: "aws",
    ran: "aws ec2 describe-instances",
    said: '\nYou must specify a region. You can also configure your region by running "aws configure".',
    line: "You must specify a region",
    meets: [{ "aws ec2 describe-instances": "aws ec2 describe-instances --output json" }, { "\nYou": "You" }],
    not: [
      [
        "aws ec2 describe-instances",
        "An error occurred (UnauthorizedOperation) when calling the DescribeInstances operation: You are not authorized to perform this operation.",
      ],
    ],
  },
  {
    tool: "java",
    ran: "./gradlew run",
    said: `2025-03-01 10:11:12.345  INFO 4242 --- [main] shop.App : Starting App using Java 17.0.2 on build-1 with PID 4242
2025-03-01 10:11:13.001 ERROR 4242 --- [main] o.s.b.d.LoggingFailureAnalysisReporter :

***************************
APPLICATION FAILED TO START
***************************

Description:

Web server failed to start. Port 8080 was already in use.

Action:

Identify and stop the process that's listening on port 8080 or configure this application to listen on another port.`,
    line: "Port 8080 was already in use",
    meets: [
      { "10:11:12.345": "09:00:00.001", "4242": "99", "build-1": "build-7" },
      { "./gradlew run": "./gradlew run --console=plain" },
    ],
    not: [{ "8080": "8443" }],
  },
  {
    tool: "ruby",
    ran: "bundle exec rspec",
    said: `.F

Failures:

  1) Cart rounds half up
     Failure/Error: expect(cart.total).to eq(2)

       expected: 2
            got: 1
     # ./spec/cart_spec.rb:9:in \`block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.08 seconds to load)
2 examples, 1 failure

Failed examples:

rspec ./spec/cart_spec.rb:7 # Cart rounds half up`,
    line: "rounds half up",
    meets: [
      { "0.01 seconds": "1.2 seconds", "spec.rb:7": "spec.rb:9" },
      { "bundle exec rspec": "bundle exec rspec spec/cart_spec.rb" },
    ],
    not: [{ "rounds half up": "rejects text" }],
  },
  {
    tool: "prisma",
    ran: "npx prisma db push",
    said: `Prisma schema loaded from prisma/schema.prisma
Error: Prisma schema validation - (get-config wasm)
Error code: P1012
error: Error parsing attribute "@relation": The relation field \`cart\` on model \`Item\` is missing an opposite relation field on the model \`Cart\`.
  -->  prisma/schema.prisma:20

Prisma CLI Version : 5.10.2`,
    line: "relation field `cart`",
    meets: [{ "prisma:20": "prisma:31", "5.10.2": "5.12.0" }, { "db push": "db push --skip-generate" }],
    not: [{ "`cart` on model `Item`": "`user` on model `Order`" }],
  },
  {
    tool: "bash",
    ran: "./run.sh",
    said: `[2025-03-01 10:11:12] starting worker 3
[2025-03-01 10:11:13] ERROR could not open queue "orders": no such queue
[2025-03-01 10:11:13] exiting`,
    line: 'could not open queue "orders"',
    meets: [{ "10:11:1": "23:00:0", "worker 3": "worker 9" }, { "2025-03-01": "2024-12-24" }],
    not: [{ orders: "mails" }],
  },
  // Nested tools, and errors whose first line says least.
  {
    tool: "npm",
    ran: "npm run build && npm test",
    said: `
> shop@1.0.0 build
> webpack --mode production

assets by status 1.2 MiB [cached] 3 assets
ERROR in ./src/hash.ts 1:0-24
Module not found: Error: Can't resolve 'crypto' in '/home/ana/shop/src'

BREAKING CHANGE: webpack < 5 used to include polyfills for node.js core modules by default.

webpack 5.90.0 compiled with 1 error in 2310 ms`,
    line: "Can't resolve 'crypto'",
    meets: [
      { "/home/ana": "/Users/bo", "2310 ms": "877 ms", "1.2 MiB": "980 KiB" },
      { "npm run build && npm test": "npm run build" },
    ],
    not: [{ crypto: "stream" }],
  },
  {
    tool: "npm",
    ran: "npm run build",
    said: `
> shop@1.0.0 build
> tsc -b

sh: 1: tsc: not found`,
    line: "tsc: not found",
    meets: [
      { "sh: 1: tsc: not found": "sh: tsc: command not found" },
      { "npm run build": "npm run build --silent" },
    ],
    not: [{ "tsc: not found": "vite: not found" }],
  },
  {
    tool: "npm",
    ran: "npm run build",
    said: `
> shop@1.0.0 build
> next build

   Creating an optimized production build ...
 ✓ Compiled successfully
   Linting and checking validity of types ...
Failed to compile.

./src/app/page.tsx:12:5
Type error: Property 'vat' does not exist on type 'Cart'.

  10 |   return (
> 12 |     cart.vat
     |          ^`,
    line: "Property 'vat' does not exist",
    meets: [
      { "page.tsx:12:5": "page.tsx:20:5", "1.0.0": "1.1.0" },
      { "npm run build": "npm run build -- --debug" },
    ],
    not: [{ "src/app/page.tsx": "src/app/layout.tsx" }, { "'vat'": "'tax'" }],
  },
  {
    tool: "node",
    ran: "npx vite build",
    said: `vite v5.1.4 building for production...
✓ 40 modules transformed.
x Build failed in 812ms
error during build:
[vite]: Rollup failed to resolve import "lodash-es" from "/home/ana/shop/src/main.ts".
This is most likely unintended because it can break your application at runtime.`,
    line: 'failed to resolve import "lodash-es"',
    meets: [
      { "/home/ana": "/Users/bo", "812ms": "1.20s", "v5.1.4": "v5.2.0" },
      { "npx vite build": "npx vite build --mode staging" },
    ],
    not: [{ "lodash-es": "date-fns" }],
  },
  {
    tool: "python",
    ran: "python manage.py shell -c 'x'",
    said: `Traceback (most recent call last):
  File "/home/ana/shop/.venv/lib/python3.11/site-packages/sqlalchemy/engine/base.py", line 1900, in _execute_context
    self.dialect.do_execute(
sqlite3.OperationalError: no such table: items

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/ana/shop/manage.py", line 9, in <module>
    main()
sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) no such table: items
[SQL: SELECT count(*) FROM items]
(Background on this error at: https://sqlalche.me/e/20/e3q8)`,
    line: "no such table: items",
    meets: [
      { "/home/ana": "/Users/bo", "line 1900": "line 1967", "python3.11": "python3.12" },
      { "e/20/e3q8": "e/21/e3q8" },
    ],
    not: [{ items: "orders" }],
  },
  {
    tool: "python",
    ran: "python run.py",
    said: `Traceback (most recent call last):
  File "/home/ana/shop/run.py", line 7, in <module>
    cfg = os.environ["STRIPE_KEY"]
  File "<frozen os>", line 685, in __getitem__
KeyError: 'STRIPE_KEY'`,
    line: "KeyError: 'STRIPE_KEY'",
    meets: [{ "/home/ana": "/Users/bo", "line 685": "line 679" }, { "line 7": "line 12" }],
    not: [{ STRIPE_KEY: "MAIL_KEY" }],
  },
  {
    tool: "go",
    ran: "go run .",
    said: `panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.total(...)
	/home/ana/shop/main.go:12
main.main()
	/home/ana/shop/main.go:20 +0x1d
exit status 2`,
    line: "index out of range",
    meets: [
      { "/home/ana": "/Users/bo", "+0x1d": "+0x2f", "main.go:12": "main.go:14" },
      { "[3] with length 3": "[5] with length 5" },
    ],
    not: [
      {
        "runtime error: index out of range [3] with length 3":
          "runtime error: invalid memory address or nil pointer dereference",
      },
    ],
  },
  {
    tool: "cargo",
    ran: "cargo build",
    said: `   Compiling pq-sys v0.4.8
error: linking with \`cc\` failed: exit status: 1
  |
  = note: "cc" "-m64" "/tmp/rustcAb12Cd/symbols.o" "-lpq" "-o" "/home/ana/shop/target/debug/deps/shop-3f1a2b4c5d6e7f80"
  = note: /usr/bin/ld: cannot find -lpq
          collect2: error: ld returned 1 exit status

error: could not compile \`shop\` (bin "shop") due to previous error`,
    line: "cannot find -lpq",
    meets: [
      { rustcAb12Cd: "rustcXy98Zw", "3f1a2b4c5d6e7f80": "99aa88bb77cc66dd" },
      { "cargo build": "cargo build --release" },
    ],
    not: [{ "-lpq": "-lmysqlclient" }],
  },
  {
    tool: "git",
    ran: "git push origin main",
    said: "error: src refspec main does not match any\nerror: failed to push some refs to 'github.com:acme/shop.git'",
    line: "src refspec main does not match any",
    meets: [{ "acme/shop": "acme/store" }, { "git push origin main": "git push -u origin main" }],
    not: [{ "refspec main": "refspec master" }],
  },
  {
    tool: "git",
    ran: "git pull",
    said: `hint: You have divergent branches and need to specify how to reconcile them.
hint: You can do so by running one of the following commands sometime before
hint: your next pull:
hint:
hint:   git config pull.rebase false  # merge
fatal: Need to specify how to reconcile divergent branches.`,
    line: "divergent branches",
    meets: [
      { "git pull": "git pull origin main" },
      { "hint:   git config pull.rebase false  # merge\n": "" },
    ],
    not: [["git pull", "fatal: refusing to merge unrelated histories"]],
  },
  {
    tool: "git",
    ran: "git commit -m 'feat: x'",
    said: `Trim Trailing Whitespace.................................................Passed
mypy.....................................................................Failed
- hook id: mypy
- exit code: 1

shop/cart.py:12: error: Incompatible return value type (got "str", expected "int")  [return-value]
Found 1 error in 1 file (checked 1 source file)`,
    line: "Incompatible return value type",
    meets: [{ "py:12": "py:30" }, { "feat: x": "feat: y" }],
    not: [{ "shop/cart.py": "shop/order.py" }],
  },
  {
    tool: "docker",
    ran: "docker run --rm shop",
    said: "exec /app/run.sh: exec format error",
    line: "exec format error",
    meets: [{ "--rm shop": "--rm shop:dev" }, { "docker run --rm": "docker run -it --rm" }],
    not: [["docker run --rm shop", "exec /app/run.sh: no such file or directory"]],
  },
  {
    tool: "docker",
    ran: "docker compose up -d",
    said: `[+] Running 0/1
 ⠋ Container shop-db-1  Starting                                            0.1s
Error response from daemon: Ports are not available: exposing port TCP 0.0.0.0:3306 -> 0.0.0.0:0: listen tcp 0.0.0.0:3306: bind: address already in use`,
    line: "3306",
    meets: [{ "0.1s": "0.9s", "shop-db-1": "store-db-1" }, { "-> 0.0.0.0:0": "-> 127.0.0.1:0" }],
    not: [{ "3306": "5432" }],
  },
  {
    tool: "kubectl",
    ran: "kubectl get nodes",
    said: "error: You must be logged in to the server (Unauthorized)",
    line: "You must be logged in to the server",
    meets: [
      ["kubectl get pods", "error: You must be logged in to the server (Unauthorized)"],
      { "get nodes": "get nodes -o wide" },
    ],
    not: [
      ["kubectl get nodes", "Unable to connect to the server: x509: certificate signed by unknown authority"],
    ],
  },
  {
    tool: "eslint",
    ran: "npx eslint src",
    said: `
/home/ana/shop/src/a.js
  1:1  error  Definition for rule 'import/order' not found  import/order

/home/ana/shop/src/b.js
  1:1  error  Definition for rule 'import/order' not found  import/order

✖ 2 problems (2 errors, 0 warnings)`,
    line: "Definition for rule 'import/order' not found",
    meets: [{ "/home/ana": "/Users/bo" }, { "npx eslint src": "npx eslint --ext .js src" }],
    not: [{ "import/order": "react/jsx-key" }],
  },
  {
    tool: "psql",
    ran: "psql -h db -U shop",
    said: 'psql: error: could not translate host name "db" to address: Name or service not known',
    line: 'host name "db"',
    meets: [{ "-U shop": "-U shop -l" }, { "Name or service not known": "Name or service not known\n" }],
    not: [{ '"db"': '"cache"', "-h db": "-h cache" }],
  },
  {
    tool: "psql",
    ran: "psql shop -c 'select * form items'",
    said: 'ERROR:  syntax error at or near "form"\nLINE 1: select * form items\n                 ^',
    line: 'syntax error at or near "form"',
    meets: [{ "LINE 1": "LINE 3" }, { "psql shop": "psql -A shop" }],
    not: [{ form: "wehre" }],
  },
  {
    tool: "bash",
    ran: "find . -name '*.ts' -printf '%f'",
    said: "find: -printf: unknown primary or operator",
    line: "-printf",
    meets: [{ "'*.ts'": "'*.js'" }, { "find .": "find src" }],
    not: [{ "-printf": "-regextype" }],
  },
  {
    tool: "pip",
    ran: "pip install psycopg2",
    said: `Collecting psycopg2
  Downloading psycopg2-2.9.9.tar.gz (384 kB)
  Preparing metadata (setup.py): finished with status 'error'
  error: subprocess-exited-with-error

  × python setup.py egg_info did not run successfully.
  │ exit code: 1
  ╰─> [23 lines of output]
      running egg_info
      Error: pg_config executable not found.

      pg_config is required to build psycopg2 from source.
      [end of output]

note: This error originates from a subprocess, and is likely not a problem with pip.
error: metadata-generation-failed`,
    line: "pg_config",
    meets: [
      { "2.9.9": "2.9.10", "384 kB": "390 kB", "[23 lines": "[25 lines" },
      { "pip install": "pip3 install" },
    ],
    not: [{ pg_config: "mysql_config", psycopg2: "mysqlclient" }],
  },
  {
    tool: "maven",
    ran: "mvn compile",
    said: `[INFO] Compiling 12 source files to /home/ana/shop/target/classes
[ERROR] COMPILATION ERROR :
[ERROR] /home/ana/shop/src/main/java/shop/Cart.java:[14,9] cannot find symbol
  symbol:   class Money
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project shop: Compilation failure`,
    line: "Cart.java:[14,9] cannot find symbol",
    meets: [
      { "/home/ana": "/Users/bo", "[14,9]": "[20,9]", "12 source": "14 source" },
      { "mvn compile": "mvn -o compile" },
    ],
    not: [{ "shop/Cart.java": "shop/Order.java" }],
  },
  {
    tool: "java",
    ran: "java -jar shop.jar",
    said: `Exception in thread "main" java.lang.NullPointerException: Cannot invoke "shop.Cart.total()" because "cart" is null
	at shop.Main.main(Main.java:9)`,
    line: 'Cannot invoke "shop.Cart.total()"',
    meets: [{ "java:9": "java:12" }, { "java -jar": "java -ea -jar" }],
    not: [{ "Cart.total()": "Cart.items()" }],
  },
  {
    tool: "ruby",
    ran: "bin/rails test",
    said: `/home/ana/shop/vendor/bundle/ruby/3.2.0/gems/activerecord-7.1.2/lib/active_record/migration.rb:777:in \`check_pending_migrations': (ActiveRecord::PendingMigrationError)

Migrations are pending. To resolve this issue, run:

        bin/rails db:migrate

You have 1 pending migration:

db/migrate/20250301101112_add_vat.rb`,
    line: "igration",
    meets: [
      { "/home/ana": "/Users/bo", "7.1.2": "7.1.3", "20250301101112_add_vat": "20250401101112_add_tax" },
      { "bin/rails test": "bin/rails test test/models" },
    ],
    not: [
      [
        "bin/rails test",
        "/home/ana/shop/test/cart_test.rb:3:in `<main>': undefined local variable or method `foo' for main:Object (NameError)",
      ],
    ],
  },
  {
    tool: "playwright",
    ran: "npx playwright test",
    said: `[WebServer] > vite preview
Error: Timed out waiting 60000ms from config.webServer.

    at node_modules/playwright/lib/plugins/webServerPlugin.js:90:11`,
    line: "config.webServer",
    meets: [{ "60000ms": "120000ms" }, { "npx playwright test": "npx playwright test --headed" }],
    not: [
      [
        "npx playwright test",
        "Error: http://localhost:3000 is already used, make sure that nothing is running on the port/url or set reuseExistingServer:true in config.webServer.",
      ],
    ],
  },
  {
    tool: "prisma",
    ran: "node dist/main.js",
    said: `/home/ana/shop/node_modules/.prisma/client/default.js:43
    throw new Error('@prisma/client did not initialize yet. Please run "prisma generate" and try to import it again.');
    ^

Error: @prisma/client did not initialize yet. Please run "prisma generate" and try to import it again.
    at new PrismaClient (/home/ana/shop/node_modules/.prisma/client/default.js:43:11)`,
    line: "did not initialize yet",
    meets: [{ "/home/ana": "/Users/bo", "js:43": "js:44" }, { "dist/main.js": "dist/worker.js" }],
    not: [
      [
        "node dist/main.js",
        'PrismaClientInitializationError: Query engine library for current platform "debian-openssl-3.0.x" could not be found.',
      ],
    ],
  },
  {
    tool: "aws",
    ran: "aws sts get-caller-identity",
    said: "Error loading SSO Token: Token for acme-sso does not exist",
    line: "Error loading SSO Token",
    meets: [
      ["aws s3 ls", "Error loading SSO Token: Token for acme-sso does not exist"],
      { "get-caller-identity": "get-caller-identity --output text" },
    ],
    not: [["aws sts get-caller-identity", "The config profile (acme) could not be found"]],
  },
  {
    tool: "gh",
    ran: "gh run rerun 123456789",
    said: "failed to get run: HTTP 403: Resource not accessible by personal access token (https://api.github.com/repos/acme/shop/actions/runs/123456789)",
    line: "HTTP 403",
    meets: [{ "123456789": "987654321" }, { "acme/shop": "acme/store" }],
    not: [{ "403: Resource not accessible by personal access token": "404: Not Found" }],
  },
  {
    tool: "gradle",
    ran: "./gradlew test",
    said: `> Task :test FAILED

CartTest > rounds() FAILED
    org.opentest4j.AssertionFailedError at CartTest.java:14

3 tests completed, 1 failed

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.
> There were failing tests. See the report at: file:///home/ana/shop/build/reports/tests/test/index.html

BUILD FAILED in 2s`,
    line: "CartTest > rounds()",
    meets: [
      { "/home/ana": "/Users/bo", "in 2s": "in 9s", "java:14": "java:20" },
      { "./gradlew test": "./gradlew test --rerun" },
    ],
    not: [{ "rounds()": "splits()" }],
  },
  {
    tool: "terraform",
    ran: "terraform init",
    said: `Initializing the backend...
╷
│ Error: error configuring S3 Backend: no valid credential sources for S3 Backend found.
│
│ Please see https://www.terraform.io/docs/language/settings/backends/s3.html
│ for more information about providing credentials.
│
│ Error: NoCredentialProviders: no valid providers in chain. Deprecated.
╵`,
    line: "redential",
    meets: [
      { "terraform init": "terraform init -upgrade" },
      { "Initializing the backend...\n": "Initializing the backend...\nInitializing modules...\n" },
    ],
    not: [
      [
        "terraform init",
        "╷\n│ Error: Failed to query available provider packages\n│\n│ Could not retrieve the list of available versions for provider hashicorp/awss\n╵",
      ],
    ],
  },
  {
    tool: "prettier",
    ran: "npx prettier --check .",
    said: `Checking formatting...
[warn] src/cart.ts
[warn] Code style issues found in the above file. Run Prettier with --write to fix.`,
    line: "src/cart.ts",
    meets: [
      { "npx prettier": "prettier" },
      { "--check .": "--check src" },
      { "src/cart.ts": "src/order.ts" },
      [
        "npm run ci",
        "> shop@1.0.0 ci\n> prettier --check src\n\n[warn] src/tax.ts\n[warn] Code style issues found in the above file.",
      ],
    ],
    not: [
      [
        "npx biome check .",
        "src/cart.ts format ━━━━━━━━\n\n  × Formatter would have printed the following content:",
      ],
      ["cargo fmt --check", "Diff in /home/ana/shop/src/cart.rs:3:"],
    ],
  },
  {
    tool: "esbuild",
    ran: "node build.mjs",
    said: `✘ [ERROR] Could not resolve "left-pad"

    src/main.ts:3:20:
      3 │ import pad from "left-pad"
        ╵                 ~~~~~~~~~~

  You can mark the path "left-pad" as external to exclude it from the bundle.

1 error`,
    line: 'Could not resolve "left-pad"',
    meets: [{ "3:20": "9:20", "3 │": "9 │" }, { "src/main.ts": "src/app.ts" }],
    not: [{ "left-pad": "right-pad" }],
  },
  {
    tool: "wrangler",
    ran: "npx wrangler deploy",
    said: `⛅️ wrangler 3.28.0
✘ [ERROR] A request to the Cloudflare API (/accounts/1a2b3c4d5e6f/workers) failed.

  Authentication error [code: 10000]`,
    line: "Authentication error",
    meets: [
      { "3.28.0": "3.40.0", "1a2b3c4d5e6f": "99aa88bb77cc" },
      { "wrangler deploy": "wrangler deploy --env prod" },
    ],
    not: [{ "Authentication error [code: 10000]": "Script too large error [code: 10027]" }],
  },
  {
    tool: "playwright",
    ran: "npm run e2e",
    said: `Error: page.click: Timeout 30000ms exceeded.
Call log:
  - waiting for locator('#buy')`,
    line: "#buy",
    meets: [{ "30000ms": "5000ms" }, { "npm run e2e": "npm run e2e -- --headed" }],
    not: [{ "#buy": "#pay" }],
  },
];

/** What every tool says, and what says nothing: these meet nothing, not even themselves. */
const hollow: readonly (readonly [ran: string, said: string])[] = [
  ["echo $(cat a | head", "bash: -c: line 1: unexpected EOF while looking for matching `)'"],
  [
    "python release.py",
    "subprocess.CalledProcessError: Command '['git', 'push']' returned non-zero exit status 1.",
  ],
  ["make test", "Exit code 1"],
  ["npm test", ""],
  ["npm test", "npm error Test failed.  See above for more details."],
  ["npx mocha", "3 failing"],
  ["pytest", "=== 4 failed, 20 passed in 3.21s ==="],
  ["npm run build", "Command failed with exit code 1."],
  [
    "npm run build",
    "npm error Lifecycle script `build` failed with error:\nnpm error code 1\nnpm error path /home/ana/shop",
  ],
  ["pnpm build", " ELIFECYCLE  Command failed with exit code 1."],
  ["make", "make: *** [Makefile:4: build] Error 2"],
  ["./gradlew build", "BUILD FAILED in 3s"],
  ["cargo build", 'error: could not compile `shop` (bin "shop") due to 1 previous error'],
  [
    "docker build .",
    'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2',
  ],
  ["yarn build", "error Command failed with exit code 1."],
  ["git commit -m x", "husky - pre-commit script failed (code 1)"],
  ["git push", "error: failed to push some refs to 'github.com:acme/shop.git'"],
  ["npx tsc", "Found 3 errors in 2 files."],
  ["npx eslint .", "✖ 3 problems (3 errors, 0 warnings)"],
  ["go test ./...", "FAIL\nFAIL\texample.com/shop/cart\t0.006s\nFAIL"],
  ["python x.py", "Traceback (most recent call last):"],
  ["grep -rn TOKEN", "Permission to use Bash with command grep -rn TOKEN has been denied."],
  ["find / -name x", "command timed out after 10012 milliseconds"],
  ["npx jest", "PASS src/a.test.ts\nRan all\nof it\nin time\nDone"],
  ["bun run build", 'error: script "build" exited with code 1'],
];

const meets = 0.6;

function symptomIn({ ran, said }: Trouble, variant: Variant): Symptom {
  if (isCall(variant)) return readSymptom(variant[0], variant[1], 1);
  let [command, output] = [ran, said];
  for (const [old, fresh] of Object.entries(variant)) {
    if (!command.includes(old) && !output.includes(old)) throw new Error(`"${old}" is nowhere`);
    command = command.replaceAll(old, fresh);
    output = output.replaceAll(old, fresh);
  }
  return readSymptom(command, output, 1);
}

function told(...symptoms: readonly Symptom[]): string {
  return symptoms
    .map(({ head, cause, about, signature }) => [head, cause, about, signature].join(" | "))
    .join("\n");
}

function isCall(variant: Variant): variant is readonly [string, string] {
  return Array.isArray(variant);
}

const rows = troubles.map((trouble) => ({
  trouble,
  symptom: readSymptom(trouble.ran, trouble.said, 1),
  title: `${trouble.tool}: ${trouble.line}`,
}));

describe("a failure", () => {
  it.each(rows)("is known by its telling line ($title)", ({ trouble: { said, line } }) =>
    expect(readError(said, 1).line).toContain(line),
  );

  it.each(
    rows.flatMap(({ trouble, symptom, title }) =>
      trouble.meets.map((variant, at) => ({ title, at, trouble, symptom, variant })),
    ),
  )("is known again ($title, $at)", ({ trouble, symptom, variant }) => {
    const other = symptomIn(trouble, variant);
    expect(compareSymptoms(symptom, other), told(symptom, other)).toBeGreaterThanOrEqual(meets);
  });

  it.each(
    rows.flatMap(({ trouble, symptom, title }) =>
      trouble.not.map((variant, at) => ({ title, at, trouble, symptom, variant })),
    ),
  )("is not taken for what looks like it ($title, $at)", ({ trouble, symptom, variant }) => {
    const other = symptomIn(trouble, variant);
    expect(compareSymptoms(symptom, other), told(symptom, other)).toBeLessThan(meets);
  });

  test("is not taken for any other of the table", () => {
    const known = rows.map(({ title, trouble, symptom }) => ({
      title,
      symptoms: [symptom, ...trouble.meets.map((variant) => symptomIn(trouble, variant))],
    }));
    const taken = known.flatMap((a, at) =>
      known
        .slice(at + 1)
        .filter((b) =>
          a.symptoms.some((one) => b.symptoms.some((other) => compareSymptoms(one, other) >= meets)),
        )
        .map((b) => `${a.title} | ${b.title}`),
    );
    expect(taken).toEqual([]);
  });

  it.each(hollow)("that says nothing is never known again (%s: %s)", (ran, said) => {
    const symptom = readSymptom(ran, said, 1);
    expect(compareSymptoms(symptom, symptom), told(symptom)).toBe(0);
  });

  test("is as like another as that is like it, and most like itself", () => {
    for (const { symptom: a } of rows) {
      expect(compareSymptoms(a, a), told(a)).toBeGreaterThanOrEqual(0.9);
      for (const { symptom: b } of rows) expect(compareSymptoms(a, b)).toBe(compareSymptoms(b, a));
    }
  });
});

describe("a signature", () => {
  const home = fc.constantFrom("/home/ana", "/Users/bo", "/root", "/tmp/tmpk3j4h5", "C:/Users/cy");
  const hash = fc.stringMatching(/^[a-f][0-9][0-9a-f]{8,38}$/);
  const line = fc.nat({ max: 99_999 });
  const time = fc
    .date({
      min: new Date("2001-01-01T00:00:00Z"),
      max: new Date("2099-12-31T00:00:00Z"),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString());
  const words = fc.constantFrom(
    "cannot open",
    "lost track of",
    "is no",
    "refused by",
    "error:",
    "at",
    "for",
    "'x'",
  );
  const text = fc
    .array(
      fc.oneof(
        words,
        hash,
        time,
        line.map(String),
        home.map((folder) => `${folder}/shop/src/cart.ts:3`),
        fc.webUrl(),
        fc.ipV4(),
        fc.uuid(),
        fc.emailAddress(),
        fc.string({ maxLength: 12 }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(" "));

  test("of a signature is the same", () => {
    fc.assert(
      fc.property(text, (said) => {
        expect(makeSignature(makeSignature(said))).toBe(makeSignature(said));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("has neither homes, hashes, lines nor times", () => {
    const said = (folder: string, id: string, at: number, when: string) =>
      makeSignature(`${when} cannot open ${folder}/shop/src/cart.ts:${at}:${at + 1} of ${id} (line ${at})`);
    fc.assert(
      fc.property(home, hash, line, time, (folder, id, at, when) => {
        expect(said(folder, id, at, when)).toBe(
          said("/home/dee", "a1b2c3d4e5", 1, "2025-03-01T10:11:12.345Z"),
        );
      }),
    );
  });

  test("keeps the port of a service, and no other", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32_767 }), fc.integer({ min: 1, max: 32_767 }), (a, b) => {
        const [one, other] = [a, b].map((port) => makeSignature(`connect ECONNREFUSED 127.0.0.1:${port}`));
        expect(one === other).toBe(a === b);
      }),
    );
    expect(makeSignature("read from 127.0.0.1:51234 failed")).toBe(
      makeSignature("read from 127.0.0.1:60001 failed"),
    );
  });
});

it.each([
  ["/a/".repeat(40_000)],
  ["a1".repeat(60_000)],
  [`${"1.".repeat(60_000)} failing`],
  ["1 failing\n".concat("x:\n".repeat(30_000))],
  ["FAILED a::b - ".repeat(8_000)],
  [Array.from({ length: 9_000 }, (_, at) => `--- FAIL: T${at}`).join("\n")],
  [Array.from({ length: 9_000 }, (_, at) => `a${at}.ts:1:1: error:`).join("\n")],
  [`error: ${"error: ".repeat(20_000)}x`],
  [`File "${"a/".repeat(50_000)}`],
  ["https://".repeat(15_000)],
  ["-a1b2c3d4-".repeat(12_000)],
  [`Could not find ${"a-".repeat(50_000)} in`],
  ["a@".repeat(60_000)],
  ["'".repeat(100_000)],
])(
  "a long output is read at once (%#)",
  (said) => {
    const symptom = readSymptom("npm test", said, 1);
    expect(makeSignature(said).length).toBeLessThan(said.length);
    expect(compareSymptoms(symptom, symptom)).toBeLessThanOrEqual(1);
  },
  10_000,
);

test("two failures are as like as the other way round, whatever was said", () => {
  const call = fc.constantFrom("npm test", "git push", "python -m pytest", "npx tsc", "ls x");
  const said = fc.oneof(fc.string(), fc.constantFrom(...troubles.map((each) => each.said)));
  fc.assert(
    fc.property(call, call, said, said, (ranA, ranB, saidA, saidB) => {
      const [a, b] = [readSymptom(ranA, saidA, 1), readSymptom(ranB, saidB, 1)];
      expect(compareSymptoms(a, b)).toBe(compareSymptoms(b, a));
      expect(compareSymptoms(a, b)).toBeLessThanOrEqual(1);
      expect(compareSymptoms(a, b)).toBeGreaterThanOrEqual(0);
    }),
  );
});
