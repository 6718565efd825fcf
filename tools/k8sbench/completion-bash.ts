/** The completion script for bash. Pure. */
import { type Described, kindOf, linkOf } from './described.ts';
import { quoted } from '../../shared/shell-words.ts';

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

export const bashScript = (
  tools: readonly Described[],
): string => `# bash completion for k8sbench: source <(k8sbench completion bash)
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
_k8sbench_link() {
  local -a words=("\${COMP_WORDS[@]:1}")
  local -a COMP_WORDS=(k8sbench "\${1##*k8sbench-}" "\${words[@]}")
  local COMP_CWORD=$((COMP_CWORD + 1))
  _k8sbench
}
complete -F _k8sbench k8sbench
complete -F _k8sbench_link ${tools.map(linkOf).join(' ')}
`;
