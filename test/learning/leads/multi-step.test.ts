import { describe, expect, it, test } from "vitest";
import { multiStep as multiStepIn } from "../../../src/learning/leads/multi-step.ts";
import { analyzeSession } from "../../../src/learning/leads/session.ts";
import { extractGist, isSameLesson } from "../../../src/lessons/similarity.ts";
import { renderLessonSkill } from "../../../src/library/publish/render.ts";
import { parseSkill } from "../../../src/library/skill.ts";
import type { Skill } from "../../../src/records/change.ts";
import type { Finding } from "../../../src/records/lesson.ts";
import type { Event } from "../../../src/records/session.ts";
import { edited, ran, replied, said, session } from "../../helpers/events.ts";

const found = (...events: Event[]) =>
  multiStepIn(analyzeSession(session(said("get the shop service out"), ...events)));
const ok = (...commands: string[]) => commands.map((command) => ran(command, "ok"));

const rollout = [
  "docker build -t shop:v3 .",
  "docker tag shop:v3 registry.example.com/shop:v3",
  "docker push registry.example.com/shop:v3",
  "kubectl rollout restart deployment/shop",
];
const setUp = [
  "git clone https://github.com/example/repo.git",
  "cd repo",
  "npm install",
  "npx prisma migrate deploy",
  "npm start",
];

describe("a procedure", () => {
  test("has the plan that is then applied", () => {
    const [finding] = found(
      ...ok(
        "terraform init",
        "terraform workspace select stage",
        "terraform plan -out=stage.plan",
        "terraform apply stage.plan",
      ),
    );
    expect(finding?.steps.join("\n")).toContain("terraform plan");
  });

  it.each<[string, Event[]]>([
    ["of four commands that belong together", ok(...rollout)],
    ["that sets a project up", ok(...setUp)],
    ["of a clone, a folder, an installation and a test", ok(...setUp.slice(0, 3), "npm test")],
    [
      "of commands in a container",
      ok(
        "docker pull postgres:16-alpine",
        "docker run -d --name pg -e POSTGRES_PASSWORD=secret postgres:16-alpine",
        'docker exec pg psql -U postgres -c "CREATE DATABASE myapp"',
        'docker exec pg psql -U postgres -c "SELECT 1"',
      ),
    ],
    [
      "on another machine",
      ok(
        "scp dist/shop.tgz web1:/srv",
        'ssh web1 "cd /srv && docker compose pull shop"',
        'ssh web1 "cd /srv && docker compose up -d shop"',
        "ssh web1 bin/migrate shop",
      ),
    ],
    [
      "with a plan that is kept in a file for the next step",
      ok(
        "terraform init",
        "terraform workspace select stage",
        "terraform plan -out=stage.plan",
        "terraform apply stage.plan",
      ),
    ],
    [
      "of an archive that is brought to another machine",
      ok(
        "tar czf app.tgz dist",
        "scp app.tgz deploy@web1:/srv",
        "ssh deploy@web1 'cd /srv && tar xzf app.tgz'",
        "ssh deploy@web1 sudo systemctl restart app",
      ),
    ],
    [
      "that ends with a look at what came of it",
      ok(
        "npm run build",
        "rsync -az dist/ web1:/srv",
        "ssh web1 systemctl restart app",
        "curl -I https://acme.io",
      ),
    ],
    [
      "with a trial before the deed",
      ok(
        "ansible-galaxy install -r req.yml",
        "ansible-playbook -i inv/stage site.yml --check",
        "ansible-playbook -i inv/stage site.yml",
        "ansible -i inv/stage all -m ping",
      ),
    ],
    [
      "of one program that brings up one thing after the other",
      ok(
        "docker compose up -d db",
        "docker compose exec db psql -c 'create database t'",
        "docker compose run --rm web alembic upgrade head",
        "docker compose up -d web",
      ),
    ],
    [
      "of checks before a release",
      ok("cargo fmt --all", "cargo clippy --all-targets", "cargo test --workspace", "cargo publish -p core"),
    ],
    [
      "with other tools in between",
      [
        ...ok(...rollout.slice(0, 2)),
        edited("k8s/app.yml"),
        replied("Now the push."),
        ...ok(...rollout.slice(2)),
      ],
    ],
    [
      "after a failure, when it is whole",
      [ran("docker build .", "failed", "no such file"), ...ok(...rollout)],
    ],
    [
      "that goes on when a person only says so",
      [...ok(...rollout.slice(0, 3)), said("ok, restart it"), ...ok(...rollout.slice(3))],
    ],
    [
      "that a script, a commit and a pull request make",
      ok(
        "python3 scripts/catalog.py",
        "git add docs/catalog.json",
        "git commit -m 'new catalog'",
        "git push -u origin x",
        "gh pr create --title catalog",
      ),
    ],
  ])("is found %s", (_, events) => expect(found(...events)).toHaveLength(1));

  it.each<[string, Event[]]>([
    ["four unrelated looks", ok("ls", "cat package.json", "git status", "grep -rn x src")],
    [
      "the agent's own commit routine",
      ok("git status", "git diff", "git add .", "git commit -m x", "git push", "git log -1"),
    ],
    [
      "a commit that ends in a pull request",
      ok("git checkout -b x", "git add .", "git commit -m x", "git push", "gh pr create"),
    ],
    [
      "a loop of edits, linters and tests",
      [
        ...ok("npm run lint"),
        edited("a.ts"),
        ...ok("npm test"),
        edited("a.ts"),
        ...ok("npm run lint", "npm test", "npm run build", "npx tsc --noEmit"),
      ],
    ],
    [
      "one program again and again",
      ok(...Array.from({ length: 6 }, (_, n) => `docker build -t shop:v${n} .`)),
    ],
    [
      "three calls",
      ok("docker build -t shop .", "docker push shop", "kubectl rollout restart deployment/shop"),
    ],
    [
      "what a failure cut in two",
      [
        ...ok(...rollout.slice(0, 2)),
        ran(rollout[2] as string, "failed", "denied: requested access"),
        ...ok(...rollout.slice(3)),
      ],
    ],
    [
      "what is done to a machine by hand",
      ok(
        "git clone https://x/y",
        "tar -xzf y.tgz",
        "xattr -dr q y",
        "sysctl -n cpu",
        "launchctl load y.plist",
      ),
    ],
    ["what is done to files by hand", ok("mkdir a", "cp x a", "mv a b", "rm -rf c", "chmod +x b/x")],
    [
      "scripts written for the moment",
      ok('python -c "print(1)"', "node -e '2'", "python3 - <<'E'\n3\nE", 'python -c "print(4)"'),
    ],
    [
      "two halves of which another task is between",
      [
        ...ok(...rollout.slice(0, 2)),
        said("stop, write the changelog for the last release first please"),
        ...ok(...rollout.slice(2)),
      ],
    ],
  ])("is not %s", (_, events) => expect(found(...events)).toEqual([]));

  test("is told by its commands, with what is used once left open", () => {
    const [finding] = found(...ok(...rollout));
    expect(finding?.steps).toEqual([
      "Run `docker build -t <image> .`",
      "Run `docker tag <image>`",
      "Run `docker push <image>`",
      "Run `kubectl rollout restart deployment/shop`",
    ]);
    expect(finding).toMatchObject({
      artifact: "skill",
      scope: "project",
      name: "docker-build-to-kubectl-rollout-restart",
    });
    expect(finding?.lesson).toContain("get the shop service out");
    expect(finding?.refs).toEqual(["e2", "e3", "e4", "e5"]);
    expect(finding).toMatchObject({
      trigger:
        "“get the shop service out” or the like is asked for, from `docker build` to `kubectl rollout restart`",
      action: "run `docker build`, then `docker tag`, then `docker push`, then `kubectl rollout restart`",
      excerpt: { worked: rollout.join("\n"), said: "get the shop service out" },
    });
  });

  test("is written down with its proof, and not as a rule of the person", () => {
    const [finding] = found(...ok(...rollout)) as [Finding];
    const evidence = [{ ...finding.excerpt, session: "s1", date: "2026-11-01", refs: finding.refs }];
    const { description, body } = parseSkill(renderLessonSkill({ ...finding, evidence })).skill as Skill;
    expect(description).toBe(
      "Use when “get the shop service out” or the like is asked for, from `docker build` to `kubectl rollout restart`.",
    );
    for (const command of rollout) expect(body).toContain(`   ${command}`);
    expect(body).toContain("the person asked for `get the shop service out`");
    expect(body).not.toContain("in the person's words");
  });

  test("is not asked for by a reproach, and is the same however it is asked for", () => {
    const asked = (words: string) =>
      multiStepIn(
        analyzeSession(session(said("hi"), replied("Hi."), said(words), ...ok(...rollout))),
      )[0] as Finding;
    const one = asked("please ship the new cart to production today");
    expect(
      isSameLesson(
        extractGist(one),
        extractGist(asked("no, you should never deploy by hand, use the pipeline")),
      ),
    ).toBe(true);
    expect(asked("why is the old one still out there?").trigger).toBe(
      "a task goes from `docker build` to `kubectl rollout restart`",
    );
  });

  test("is too weak to be told alone among much else, and never sure", () => {
    const looks = ok("ls", "cat a", "git log", "docker ps", "kubectl get pods");
    const confidences = [ok(...rollout), [...ok(...rollout), ...looks]].map(
      (events) => found(...events)[0]?.confidence,
    );
    expect(confidences[0]).toBeLessThan(0.6);
    expect(confidences[1]).toBeLessThan(0.15);
  });

  test("is the same in another session with other values, and another one is not", () => {
    const gist = (...commands: string[]) => extractGist(found(...ok(...commands))[0] as Finding);
    const again = rollout.map((command) => command.replaceAll("shop", "cart").replaceAll("v3", "v9"));
    expect(isSameLesson(gist(...rollout), gist("git pull", ...again, "git push"))).toBe(true);
    expect(isSameLesson(gist(...rollout), gist(...setUp))).toBe(false);
    expect(
      isSameLesson(
        gist("make image", "make push", "git commit -m x", "git push"),
        gist("make docs", "make site", "git commit -m x", "git push"),
      ),
    ).toBe(false);
  });
});
