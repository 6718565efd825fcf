import { defineTool, type Tool } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { type Described, SCRIPTS } from './completion-scripts.ts';
import { TOOLS } from './table.ts';

/** What a shell needs to know of a tool, from the tool's own definition. */
export const described = (
  name: string,
  { about, flags, words }: Pick<Tool, 'about' | 'flags' | 'words'>,
): Described => ({
  name,
  about,
  words: words.map((one) => [...(one.options ?? [])]),
  flags: [
    ...Object.entries(flags).flatMap(([flag, { kind, about: what, hint, options, negatable, alias }]) =>
      negatable
        ? [{ name: `no-${flag}`, about: what }]
        : [flag, ...(alias ?? [])].map((spelled) => ({
            name: spelled,
            about: what,
            ...(kind === 'boolean' ? {} : { value: { hint, options: [...(options ?? [])] } }),
          })),
    ),
    { name: 'help', about: 'print what it takes' },
    { name: 'version', about: 'print the version' },
  ],
});

export const tool = defineTool({
  name: 'completion',
  about: 'print a completion script for a shell',
  words: [{ name: 'SHELL', about: 'bash, zsh or fish', required: true, options: Object.keys(SCRIPTS) }],
  flags: {},
  more: `EXAMPLES

  source <(k8sbench completion bash)
  k8sbench completion zsh > "\${fpath[1]}/_k8sbench"
  k8sbench completion fish > ~/.config/fish/completions/k8sbench.fish`,
  exits: [EXIT.done, EXIT.usage],
  async run({ words: [shell], world }) {
    const tools = await Promise.all(
      Object.entries(TOOLS).map(async ([name, entry]) => described(name, (await entry.load()).tool)),
    );
    const help = { name: 'help', about: 'print what a tool takes', words: [Object.keys(TOOLS)], flags: [] };
    await world.stdout.write(SCRIPTS[shell!]!([...tools, help]));
    return EXIT.done;
  },
});
