/** Completion scripts from descriptions of the tools. Pure. */

export interface DescribedFlag {
  /** Without dashes. */
  name: string;
  about: string;
  /** Absent: a switch. */
  value?: { hint: string; options: string[] };
}

export interface Described {
  name: string;
  about: string;
  /** For each positional word, what it can be; empty: anything. */
  words: string[][];
  flags: DescribedFlag[];
}

type Kind = 'directory' | 'file' | 'other';
/** What a value is, from what the help text calls it. */
const kindOf = (hint: string): Kind =>
  /\bDIR\b/.test(hint) ? 'directory' : /\b(FILE|PATH)\b/.test(hint) ? 'file' : 'other';

/** A text in single quotes for sh, bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const bash = (tools: readonly Described[]): string => {
  const caseOf = ({ name, flags, words }: Described): string => {
    const values = flags.flatMap(({ name: flag, value }) => {
      if (!value) return [];
      const action =
        value.options.length > 0
          ? `_k8sbench_words ${quoted(value.options.join(' '))}`
          : { directory: '_k8sbench_paths -d', file: '_k8sbench_paths -f', other: ':' }[kindOf(value.hint)];
      return [`        ${flag}) ${action}; return ;;`];
    });
    const [first] = words;
    const word =
      first === undefined
        ? ':'
        : first.length === 0
          ? '_k8sbench_paths -f'
          : `_k8sbench_words ${quoted(first.join(' '))}`;
    return `    ${name})
      case $flag in
${[...values, '        *) ;;'].join('\n')}
      esac
      if [[ $cur == -* ]]; then _k8sbench_flags ${quoted(flags.map((one) => one.name).join(' '))}
      elif (( at == 2 )); then ${word}; fi ;;`;
  };
  return `# bash completion for k8sbench: source <(k8sbench completion bash)
_k8sbench_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_k8sbench_flags() {
  local dashes=--
  [[ $cur == -[^-]* ]] && dashes=-
  COMPREPLY=($(compgen -P "$dashes" -W "$1" -- "\${cur#"$dashes"}"))
  [[ $cur == - ]] && COMPREPLY=($(compgen -P -- -W "$1"))
}
_k8sbench_paths() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen "$1" -- "$cur"); }
_k8sbench() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD flag=
  # bash cuts '--flag=value' at the '='.
  if [[ $cur == = ]]; then cur=; flag=\${COMP_WORDS[COMP_CWORD - 1]}
  elif [[ \${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then flag=\${COMP_WORDS[COMP_CWORD - 2]}
  else flag=\${COMP_WORDS[COMP_CWORD - 1]}; fi
  if [[ $flag == -* ]]; then flag=\${flag#-}; flag=\${flag#-}; else flag=; fi
  COMPREPLY=()
  if (( at == 1 )); then _k8sbench_words ${quoted([...tools.map((one) => one.name), '--help', '--version'].join(' '))}; return; fi
  case \${COMP_WORDS[1]} in
${tools.map(caseOf).join('\n')}
  esac
}
complete -F _k8sbench k8sbench
`;
};

const zsh = (tools: readonly Described[]): string => {
  const shown = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');
  const actionOf = (value: NonNullable<DescribedFlag['value']>): string =>
    value.options.length > 0
      ? `(${value.options.join(' ')})`
      : { directory: '_directories', file: '_files', other: '' }[kindOf(value.hint)];
  const specOf = ({ name, about, value }: DescribedFlag): string =>
    quoted(
      value
        ? `*--${name}=[${shown(about)}]:${shown(value.hint)}:${actionOf(value)}`
        : `--${name}[${shown(about)}]`,
    );
  const caseOf = ({ name, flags, words }: Described): string => {
    const positional = words.map((options, at) =>
      quoted(`${at + 1}:word:${options.length > 0 ? `(${options.join(' ')})` : '_files'}`),
    );
    return `    ${name}) _arguments -S ${[...flags.map(specOf), ...positional].join(' \\\n      ')} ;;`;
  };
  return `#compdef k8sbench
_k8sbench() {
  local -a tools=(
${tools.map((one) => `    ${quoted(`${one.name}:${shown(one.about)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe tool tools; return; fi
  local tool=$words[2]
  shift words
  (( CURRENT-- ))
  case $tool in
${tools.map(caseOf).join('\n')}
  esac
}
if [[ $funcstack[1] == _k8sbench ]]; then _k8sbench "$@"; else compdef _k8sbench k8sbench; fi
`;
};

const fish = (tools: readonly Described[]): string => {
  const text = (one: string): string => `'${one.replace(/[\\']/g, '\\$&')}'`;
  const lineOf = (tool: string, { name, about, value }: DescribedFlag): string => {
    const condition = text(`__fish_seen_subcommand_from ${tool}`);
    const action = !value
      ? ''
      : value.options.length > 0
        ? ` -x -a ${text(value.options.join(' '))}`
        : { directory: " -x -a '(__fish_complete_directories)'", file: ' -r -F', other: ' -x' }[
            kindOf(value.hint)
          ];
    return `complete -c k8sbench -n ${condition} -l ${name} -d ${text(about)}${action}`;
  };
  return [
    '# fish completion for k8sbench',
    'complete -c k8sbench -f',
    ...tools.map(
      (one) => `complete -c k8sbench -n __fish_use_subcommand -a ${one.name} -d ${text(one.about)}`,
    ),
    ...tools.flatMap((one) => [
      ...one.flags.map((flag) => lineOf(one.name, flag)),
      ...one.words
        .filter((options) => options.length > 0)
        .map(
          (options) =>
            `complete -c k8sbench -n ${text(`__fish_seen_subcommand_from ${one.name}`)} -a ${text(options.join(' '))}`,
        ),
    ]),
    '',
  ].join('\n');
};

/** Shell → its script. */
export const SCRIPTS: Readonly<Record<string, (tools: readonly Described[]) => string>> = { bash, zsh, fish };
