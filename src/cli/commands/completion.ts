import { sections, typedNames } from "../catalog.ts";
import { arg, defineCommand, wrongUsage } from "../command.ts";

interface Completed {
  readonly name: string;
  readonly about: string;
  readonly options: readonly string[];
}

export const completion = defineCommand({
  about: "Print a script that completes knack's commands and options in your shell.",
  args: { shell: arg.words("bash, zsh or fish") },
  run: async ({ args, screen }) => {
    const [shell = "", ...more] = args._;
    const render = Object.hasOwn(shells, shell) ? shells[shell as keyof typeof shells] : undefined;
    if (!render || more.length > 0)
      throw wrongUsage(
        shell === ""
          ? "knack completion needs the name of a shell."
          : `No completion for "${args._.join(" ")}".`,
        "knack completion bash, knack completion zsh, or knack completion fish",
      );
    screen.print([render(await readCommands())]);
    return 0;
  },
});

async function readCommands(): Promise<Completed[]> {
  const all = sections.flatMap(({ commands }) => Object.entries(commands));
  return Promise.all(
    all.map(async ([name, { load }]) => {
      const { about, args } = await load();
      const options = Object.entries(args).filter(([, { type }]) => type !== "positional");
      return {
        name,
        about: (about.split(/[.:]/)[0] ?? "").replace(/['"\\]/g, ""),
        options: [...options.map(([key]) => `--${key}`), "--help"],
      };
    }),
  );
}

const shells = { bash: renderBash, zsh: renderZsh, fish: renderFish };

function renderBash(commands: readonly Completed[]): string {
  return [
    "_knack() {",
    `  local word="\${COMP_WORDS[COMP_CWORD]}" words=""`,
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${typedNames.join(" ")} --help --version"`,
    '  elif [[ "$word" == -* ]]; then',
    `    case "\${COMP_WORDS[1]}" in`,
    ...commands.map(({ name, options }) => `      ${name}) words="${options.join(" ")}" ;;`),
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "}",
    "complete -o default -F _knack knack",
  ].join("\n");
}

function renderZsh(commands: readonly Completed[]): string {
  return [
    "#compdef knack",
    "_knack() {",
    "  local -a commands options",
    `  commands=(${commands.map(({ name, about }) => `'${name}:${about}'`).join(" ")})`,
    "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
    '  case "$words[2]" in',
    ...commands.map(({ name, options }) => `    ${name}) options=(${options.join(" ")}) ;;`),
    "  esac",
    '  if [[ "$words[CURRENT]" == -* ]]; then compadd -- $options; else _files; fi',
    "}",
    "compdef _knack knack",
  ].join("\n");
}

function renderFish(commands: readonly Completed[]): string {
  return commands
    .flatMap(({ name, about, options }) => [
      `complete -c knack -n __fish_use_subcommand -f -a ${name} -d '${about}'`,
      ...options.map(
        (option) => `complete -c knack -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`,
      ),
    ])
    .join("\n");
}
