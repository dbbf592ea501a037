import { sections, subjects, typedNames } from "../catalog.ts";
import { arg, defineCommand, nameOption, wrongUsage } from "../command.ts";

interface Completed {
  readonly name: string;
  readonly about: string;
  readonly options: readonly string[];
  /** The words for each place after the name. */
  readonly places: readonly (readonly string[])[];
}

export const completion = defineCommand({
  about: "Print a script that completes knack's commands and options in your shell.",
  args: { shell: arg.words("bash, zsh or fish") },
  completes: [["bash", "zsh", "fish"]],
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

/** Every command, and the subjects that stand before some. */
async function readCommands(): Promise<Completed[]> {
  const all = sections.flatMap(({ commands }) => Object.entries(commands));
  const commands = all.map(async ([name, { load }]): Promise<Completed> => {
    const { about, args, completes = [] } = await load();
    const options = Object.entries(args).filter(([, { type }]) => type !== "positional");
    return {
      name,
      about: about.split(/[.:](?=\s|$)/)[0] ?? "",
      options: [...options.map(([key, option]) => nameOption(key, option)), "--help"],
      places: completes,
    };
  });
  const before = Object.entries(subjects).map(([name, { title, commands }]): Completed => {
    return { name, about: title, options: ["--help"], places: [Object.keys(commands)] };
  });
  return [...(await Promise.all(commands)), ...before];
}

const shells = { bash: renderBash, zsh: renderZsh, fish: renderFish };

/** Words after a subject are completed as if it were not there. */
const subjectNames = Object.keys(subjects);

/** The case of each command, and of each place after one, as bash and zsh both take them. */
function renderCases(commands: readonly Completed[], set: (words: readonly string[]) => string) {
  return {
    options: commands.map(({ name, options }) => `      ${name}) ${set(options)} ;;`),
    places: commands.flatMap(({ name, places }) =>
      places.map((words, at) => `      ${name}.${at + 1}) ${set(words)} ;;`),
    ),
  };
}

function renderBash(commands: readonly Completed[]): string {
  const { options, places } = renderCases(commands, (words) => `words="${words.join(" ")}"`);
  return [
    "_knack() {",
    `  local word="\${COMP_WORDS[COMP_CWORD]}" words="" at=1`,
    `  if [ "$COMP_CWORD" -gt 2 ]; then case "\${COMP_WORDS[1]}" in ${subjectNames.join("|")}) at=2 ;; esac; fi`,
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${typedNames.join(" ")} --help --version"`,
    '  elif [[ "$word" == -* ]]; then',
    `    case "\${COMP_WORDS[at]}" in`,
    ...options,
    "    esac",
    "  else",
    `    case "\${COMP_WORDS[at]}.$((COMP_CWORD - at))" in`,
    ...places,
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "}",
    "complete -o default -F _knack knack",
  ].join("\n");
}

function renderZsh(commands: readonly Completed[]): string {
  const { options, places } = renderCases(commands, (words) => `found=(${words.join(" ")})`);
  const described = commands.map(({ name, about }) => quoteSingle(`${name}:${about}`));
  return [
    "#compdef knack",
    "_knack() {",
    "  local -a commands found",
    "  local at=2",
    `  commands=(${described.join(" ")})`,
    "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
    `  if (( CURRENT > 3 )); then case "$words[2]" in ${subjectNames.join("|")}) at=3 ;; esac; fi`,
    '  if [[ "$words[CURRENT]" == -* ]]; then',
    '    case "$words[at]" in',
    ...options,
    "    esac",
    "  else",
    '    case "$words[at].$((CURRENT - at))" in',
    ...places,
    "    esac",
    "  fi",
    "  if (( $#found )); then compadd -- $found; else _files; fi",
    "}",
    "compdef _knack knack",
  ].join("\n");
}

function renderFish(commands: readonly Completed[]): string {
  // The words before the one that is typed, without knack, a subject, and options.
  const before = [
    "function __knack_before",
    "  set -l words (commandline -opc | string match -v -- '-*')[2..-1]",
    `  if test (count $words) -gt 1; and contains -- $words[1] ${subjectNames.join(" ")}`,
    "    set words $words[2..-1]",
    "  end",
    '  test (count $words) -eq $argv[1]; and test "$words[1]" = "$argv[2]"',
    "end",
  ];
  const complete = commands.flatMap(({ name, about, options, places }) => [
    `complete -c knack -n __fish_use_subcommand -f -a ${name} -d ${quoteSingle(about)}`,
    ...places.map(
      (words, at) => `complete -c knack -n '__knack_before ${at + 1} ${name}' -f -a '${words.join(" ")}'`,
    ),
    ...options.map(
      (option) => `complete -c knack -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`,
    ),
  ]);
  return [...before, ...complete].join("\n");
}

/** A word for zsh and fish: both end a quotation for a quote in it. */
function quoteSingle(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
