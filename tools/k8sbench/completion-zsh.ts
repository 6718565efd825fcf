/** The completion script for zsh. Pure. */
import { type Described, type DescribedFlag, kindOf, linkOf } from './described.ts';
import { quoted } from '../../shared/shell-words.ts';

/** Text inside the specs of `_arguments` and `_describe`. */
const inSpec = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');

const ACTIONS = { directory: '_directories', file: '_files', other: '' };

const specOf = ({ name, about, value }: DescribedFlag): string => {
  if (!value) return quoted(`--${name}[${inSpec(about)}]`);
  const action = value.options.length > 0 ? `(${value.options.join(' ')})` : ACTIONS[kindOf(value.hint)];
  return quoted(`*--${name}=[${inSpec(about)}]:${inSpec(value.hint)}:${action}`);
};

const caseOf = ({ name, flags, words }: Described): string => {
  const positional = words.map((options, at) =>
    quoted(`${at + 1}:word:${options.length > 0 ? `(${options.join(' ')})` : '_files'}`),
  );
  return `    ${name}) _arguments -S ${[...flags.map(specOf), ...positional].join(' \\\n      ')} ;;`;
};

export const zshScript = (tools: readonly Described[]): string => {
  const names = ['k8sbench', ...tools.map(linkOf)].join(' ');
  return `#compdef ${names}
_k8sbench() {
  if [[ $words[1] == *k8sbench-* ]]; then
    words=(k8sbench "\${words[1]##*k8sbench-}" "\${(@)words[2,-1]}")
    (( CURRENT++ ))
  fi
  local -a tools=(
${tools.map((one) => `    ${quoted(`${one.name}:${inSpec(one.about)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe tool tools; return; fi
  local tool=$words[2]
  shift words
  (( CURRENT-- ))
  case $tool in
${tools.map(caseOf).join('\n')}
  esac
}
if [[ $funcstack[1] == _k8sbench ]]; then _k8sbench "$@"; else compdef _k8sbench ${names}; fi
`;
};
