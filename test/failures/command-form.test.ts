import { describe, expect, it } from "vitest";
import { parseCommand } from "../../src/failures/command.ts";
import { classifyRun, writeTemplate } from "../../src/failures/command-form.ts";
import type { Run } from "../../src/failures/run.ts";
import { extractGist } from "../../src/lessons/similarity.ts";

type Role = ReturnType<typeof classifyRun>["role"];

const first = (command: string): Run => parseCommand(command)[0] as Run;
const form = (command: string) => classifyRun(first(command)).form;

describe("the normal form of a command", () => {
  it.each<[string, string, string]>([
    ["go test -v ./x", "go test ./y", "go test"],
    ["go test ./pkg/auth/...", "go test ./pkg/db/...", "go test"],
    ["docker build -t a:v1 .", "docker build -t b:v2 .", "docker build"],
    ['curl -H "Auth: xxx" https://api.example.com/data', "curl -s http://localhost:3000/up", "curl <url>"],
    ["cd app && npm run build", "npm run build 2>&1 | tail -5", "npm run build"],
    ["CI=1 timeout 60 npm test", "sudo npm test", "npm test"],
    ["python scripts/seed.py --n 3", "python3 ./scripts/seed.py", "seed.py"],
    [".venv/bin/python tools/gen.py a", "cd tools && python gen.py b c", "gen.py"],
    ["./scripts/deploy.sh staging", "bash scripts/deploy.sh staging", "deploy.sh staging"],
    ["python -m pytest tests/a.py", "python3 -m pytest -q", "python -m pytest"],
    ["git commit -m 'fix: a'", 'git commit -am "feat: b"', "git commit"],
    ["git -C ../x push origin main", "git push", "git push"],
    [
      "kubectl rollout restart deployment/app",
      "kubectl rollout restart deploy/web -n prod",
      "kubectl rollout restart",
    ],
    ["npx prisma migrate deploy", "npx prisma migrate deploy --schema x.prisma", "npx prisma migrate deploy"],
    ["uv run pytest -x", "uv run --extra dev pytest tests", "uv run pytest"],
    ["npm install left-pad@1.2.3", "npm install zod", "npm install"],
    ["docker compose -f a.yml up -d", "docker compose -f b.yml up", "docker compose up"],
    ["pnpm --filter web test", "pnpm test", "pnpm test"],
    ["make build VERSION=1.2.0", "make build", "make build"],
    [
      "docker exec -it pg psql -U a -c 'select 1'",
      'docker exec db psql -c "SELECT 2"',
      "docker exec psql select",
    ],
    ["ssh -i key web1 systemctl restart a", "ssh root@web2 'systemctl restart b'", "ssh systemctl restart"],
    ["terraform apply -auto-approve", "terraform apply plan.out", "terraform apply"],
  ])("%s meets %s", (a, b, both) => {
    expect([form(a), form(b)]).toEqual([both, both]);
  });

  it.each<[string, string]>([
    ["npm run build", "npm run test"],
    ["git push", "git pull"],
    ["python -m pytest", "python -m http.server"],
    ["python scripts/a.py", "python scripts/b.py"],
    ["node scripts/bench.mjs run", "node scripts/bench.mjs summarize"],
    ["docker build .", "docker push x"],
    ["gh pr create", "gh pr merge 3"],
    ["npx prisma generate", "npx prisma migrate deploy"],
    ["uv run pytest", "uv run mypy src"],
    ["kubectl rollout restart x", "kubectl rollout undo x"],
    ["rtk git commit -m x", "rtk bun run test"],
    ["make test", "make deploy"],
    ['docker exec pg psql -c "CREATE DATABASE a"', 'docker exec pg psql -c "SELECT 1"'],
    ["kubectl -n shop exec -it web-1 -- rails db:migrate", "kubectl exec web-1 -- rails assets:clean"],
    ["ssh -p 22 web1 systemctl restart shop", "ssh web1 'cd /srv && make deploy'"],
    ['docker compose exec -T db sh -c "pg_dump shop"', "docker compose exec db createdb shop"],
  ])("%s does not meet %s", (a, b) => expect(form(a)).not.toBe(form(b)));

  it.each([
    'python -c "print(1)"',
    "node -e '1'",
    "python3 << 'EOF'\nprint(1)\nEOF",
    "node - x.json",
    'bash "$SCRIPT"',
  ])("%s has none: it is another each time", (command) => expect(form(command)).toBeNull());

  it.each<[string, string]>([
    ["docker build -t shop:v1 .", "docker build -t <image> ."],
    ["git add src/a.ts src/b.ts", "git add <files>"],
    ["git checkout -b feat/x", "git checkout -b <branch>"],
    ['git commit -m "fix: the title"', "git commit -m <message>"],
    ["curl -X POST https://api.example.com/v1/x", "curl -X POST <url>"],
    ["pytest tests/unit/test_a.py --cov=shop", "pytest <path> --cov=shop"],
    ["npm install zod@4.1.0", "npm install zod@<version>"],
    ["go test ./pkg/x -run TestA5 -count=1", "go test <path> -run <test> -count=1"],
    [
      "aws cloudformation deploy --stack-name web-1 --region us-east-1",
      "aws cloudformation deploy --stack-name <stack-name> --region us-east-1",
    ],
    ["sync --env stage --since 2026-11-06", "sync --env stage --since <date>"],
    [
      "helm upgrade web charts/web --set image.tag=1.1.0",
      "helm upgrade web charts/web --set image.tag=<version>",
    ],
    ["python manage.py runserver 0.0.0.0:8000", "python manage.py runserver 0.0.0.0:8000"],
    ["kubectl set image deployment/api api=reg.io/x:v1", "kubectl set image deployment/api api=<image>"],
    ["git push origin v1.1.0", "git push origin <tag>"],
    ["aws s3 cp s3://backups/db.dump /tmp/db.dump", "aws s3 cp <url> <path>"],
    ["sudo -E env FOO=1 nice -n 5 systemctl stop app1", "sudo -E env FOO=1 nice -n 5 systemctl stop <name>"],
    ["scp app-1.tgz deploy@10.0.0.1:/srv/app/", "scp <path> <address>:/srv/app/"],
    ["git tag release/0.3.0", "git tag release/<version>"],
    ["python3 /home/dev/shop/scripts/gen.py 17", "python3 …/scripts/gen.py <number>"],
    ["deploy --api-key abc --stage prod", "deploy --api-key <secret> --stage prod"],
    [
      "docker run -d --name pg -e POSTGRES_PASSWORD=secret postgres:16-alpine",
      "docker run -d --name pg -e POSTGRES_PASSWORD=<secret> <image>",
    ],
    ['docker exec pg psql -c "CREATE DATABASE a"', 'docker exec pg psql -c "CREATE DATABASE …"'],
    ["ssh web1 'cd /srv && git pull && make up'", 'ssh web1 "git pull && make up"'],
    ["NODE_ENV=test npm start", "NODE_ENV=test npm start"],
    ["docker compose -f infra/dev.yml up", "docker compose -f infra/dev.yml up"],
    [
      "GITHUB_TOKEN=$(gh auth token) python3 scripts/stars.py",
      "GITHUB_TOKEN=<secret> python3 scripts/stars.py",
    ],
  ])("%s is written down as %s", (command, told) => expect(writeTemplate(first(command))).toBe(told));

  it("keeps the values that every time had", () => {
    const runs = ["pytest tests/ -k a --cov=shop", "pytest tests/ -k b --cov=shop"].map(first);
    expect(writeTemplate(runs[1] as Run, [runs[0] as Run])).toBe("pytest tests/ -k <test> --cov=shop");
    const keys = ["deploy --token abc --token=x", "deploy --token abc --token=x"].map(first);
    expect(writeTemplate(keys[1] as Run, [keys[0] as Run])).toBe("deploy --token <secret> --token=<secret>");
    const paths = ["eslint src/a.ts --max-warnings 0", "eslint src/b.ts --max-warnings 0"].map(first);
    expect(writeTemplate(paths[1] as Run, [paths[0] as Run])).toBe("eslint <path> --max-warnings 0");
  });

  it("is one word for those who compare words", () => {
    const forms = ["npm run build", "curl <url>", "gen.py", "python -m pytest"];
    const action = forms.map((form) => `\`${form}\``).join(", then ");
    expect([...extractGist({ trigger: "", action, kind: "repeated-action" }).wants]).toEqual([
      "npm-run-build",
      "curl",
      "gen.py",
      "python-m-pytest",
    ]);
  });
});

describe("what a run is for", () => {
  it.each<[Role, string[]]>([
    [
      "look",
      [
        ...[
          "ls -la",
          "cat a",
          "git log",
          "grep x y",
          "npm ls",
          "docker ps",
          "docker logs web",
          "kubectl get pods",
        ],
        ...[
          "gh run watch 3",
          "gh pr checks",
          "tail -f log",
          "curl -s http://localhost/up",
          "sleep 5",
          "terraform plan",
        ],
        ...["node --check a.mjs", "bash -n a.sh", "rtk git status"],
        ...[
          "aws cloudformation describe-stacks --stack-name web",
          "aws cloudformation wait stack-create-complete --stack-name web",
          "gcloud run services describe web --region x",
          "az webapp show --name web",
          "redis-cli --raw -h cache ping",
          "systemctl is-active app",
          "gh api repos/o/r/actions/runs/3 --jq .status",
        ],
      ],
    ],
    ["chore", ["rm -rf dist", "mkdir -p a", "cp a b", "sed -i s/a/b/ c", "kill 3"]],
    ["record", ["git add .", "git commit -m x", "git push", "git checkout -b x", "git stash"]],
    [
      "check",
      [
        ...[
          "npm test",
          "npm run lint",
          "pnpm check-types",
          "npx tsc --noEmit",
          "bun run test",
          "cargo clippy",
          "go vet ./...",
        ],
        ...[
          "pytest -q",
          "python -m pytest",
          "uv run mypy src",
          "npm run build",
          "make test",
          "node node_modules/mocha/bin/mocha.js",
        ],
      ],
    ],
    [
      "install",
      ["npm ci", "pip install -e .", "bundle install", "uv sync", "go mod download", "python -m venv .venv"],
    ],
    [
      "deed",
      [
        ...[
          "git clone https://x/y",
          "git tag v1",
          "docker build .",
          "docker push x",
          "kubectl rollout restart x",
          "npm run migrate",
        ],
        ...[
          "gh pr create",
          "python scripts/gen.py",
          "terraform apply",
          "npm publish",
          "curl -X POST https://x",
          "make deploy",
        ],
      ],
    ],
  ])("%s", (role, commands) => {
    expect(commands.map((command) => `${command}: ${classifyRun(first(command)).role}`)).toEqual(
      commands.map((command) => `${command}: ${role}`),
    );
  });
});
