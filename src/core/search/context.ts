/** What the files of a project say about it, in the words that people and skills use: languages, tools. */
export function contextOf(files: readonly string[]): string[] {
  const words = new Set<string>();
  for (const file of files.slice(0, mostFiles)) {
    const name = file.toLowerCase();
    const ending = name.slice(name.lastIndexOf(".") + 1);
    for (const word of `${byName[name] ?? ""} ${byEnding[ending] ?? ""}`.split(" "))
      if (word !== "") words.add(word);
  }
  return [...words];
}

/** Of a folder with more, the first tell what it is. */
const mostFiles = 200;

const byName: Readonly<Record<string, string>> = {
  "package.json": "javascript node npm",
  "tsconfig.json": "typescript",
  "deno.json": "deno typescript",
  "bun.lock": "bun",
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "next.config.js": "nextjs react",
  "next.config.mjs": "nextjs react",
  "next.config.ts": "nextjs react",
  "vite.config.ts": "vite",
  "angular.json": "angular",
  "svelte.config.js": "svelte",
  "nuxt.config.ts": "nuxt vue",
  "tailwind.config.js": "tailwind",
  "tailwind.config.ts": "tailwind",
  "components.json": "shadcn",
  "pyproject.toml": "python",
  "requirements.txt": "python pip",
  "setup.py": "python",
  "uv.lock": "uv",
  "manage.py": "django",
  "cargo.toml": "rust cargo",
  "go.mod": "go golang",
  "pom.xml": "java maven",
  "build.gradle": "java gradle",
  "build.gradle.kts": "kotlin gradle",
  gemfile: "ruby",
  "composer.json": "php composer",
  artisan: "laravel php",
  "mix.exs": "elixir",
  "pubspec.yaml": "flutter dart",
  "package.swift": "swift",
  podfile: "ios swift",
  "cmakelists.txt": "cmake cpp",
  makefile: "make",
  dockerfile: "docker",
  "docker-compose.yml": "docker compose",
  "compose.yaml": "docker compose",
  "chart.yaml": "helm kubernetes",
  "kustomization.yaml": "kubernetes",
  "global.json": "dotnet csharp",
  "dbt_project.yml": "dbt sql",
  "hardhat.config.ts": "solidity ethereum",
  "foundry.toml": "solidity ethereum",
};

const byEnding: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript react",
  js: "javascript",
  jsx: "javascript react",
  py: "python",
  ipynb: "python jupyter",
  rs: "rust",
  go: "go golang",
  java: "java",
  kt: "kotlin",
  rb: "ruby",
  php: "php",
  cs: "csharp dotnet",
  csproj: "csharp dotnet",
  sln: "dotnet",
  slnx: "dotnet",
  fs: "fsharp dotnet",
  swift: "swift",
  xcodeproj: "ios xcode swift",
  cpp: "cpp",
  c: "c",
  ex: "elixir",
  dart: "dart flutter",
  vue: "vue",
  svelte: "svelte",
  sql: "sql",
  tf: "terraform",
  sh: "shell bash",
  tex: "latex",
  r: "r",
  scala: "scala",
  lua: "lua",
  sol: "solidity",
};
