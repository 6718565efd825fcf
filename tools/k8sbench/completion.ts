import { defineTool, type Tool } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { bashScript } from './completion-bash.ts';
import { fishScript } from './completion-fish.ts';
import { zshScript } from './completion-zsh.ts';
import { type Described, described } from './described.ts';
import type { Entry } from './entry.ts';

/** Shell → its script. */
const SCRIPTS: Readonly<Record<string, (tools: readonly Described[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The tool that completes these tools. */
export const completionOf = (entries: Readonly<Record<string, Entry>>): Tool =>
  defineTool({
    name: 'completion',
    about: 'prints a completion script for a shell',
    words: [{ name: 'SHELL', about: 'bash, zsh or fish', required: true, options: Object.keys(SCRIPTS) }],
    flags: {},
    more: `EXAMPLES

  source <(k8sbench completion bash)
  k8sbench completion zsh > "\${fpath[1]}/_k8sbench"
  k8sbench completion fish > ~/.config/fish/completions/k8sbench.fish`,
    exits: [EXIT.done, EXIT.usage],
    async run({ words: [shell], world }) {
      const tools = await Promise.all(
        Object.entries(entries).map(async ([name, entry]) => described(name, (await entry.load()).tool)),
      );
      const help = {
        name: 'help',
        about: 'print what a tool takes',
        words: [Object.keys(entries)],
        flags: [],
      };
      await world.stdout.write(SCRIPTS[shell!]!([...tools, help]));
      return EXIT.done;
    },
  });
