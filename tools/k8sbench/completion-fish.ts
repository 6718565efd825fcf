/** The completion script for fish. Pure. */
import { type Described, type DescribedFlag, kindOf, linkOf } from './described.ts';

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

const VALUES = { directory: " -x -a '(__fish_complete_directories)'", file: ' -r -F', other: ' -x' };

const flagLine = (tool: string, { name, about, value }: DescribedFlag): string => {
  const values = !value
    ? ''
    : value.options.length > 0
      ? ` -x -a ${quoted(value.options.join(' '))}`
      : VALUES[kindOf(value.hint)];
  return `complete -c k8sbench -n '__fish_seen_subcommand_from ${tool}' -l ${name} -d ${quoted(about)}${values}`;
};

const toolLines = ({ name, about, flags, words }: Described): string[] => [
  `complete -c ${linkOf({ name })} -w 'k8sbench ${name}'`,
  `complete -c k8sbench -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`,
  ...flags.map((flag) => flagLine(name, flag)),
  ...words
    .filter((options) => options.length > 0)
    .map(
      (options) =>
        `complete -c k8sbench -n '__fish_seen_subcommand_from ${name}' -a ${quoted(options.join(' '))}`,
    ),
];

export const fishScript = (tools: readonly Described[]): string =>
  `# fish completion for k8sbench\ncomplete -c k8sbench -f\n${tools.flatMap(toolLines).join('\n')}\n`;
