/** The help text of a tool, from its definition. */
import type { ArgsDef } from 'citty';
import { stripVTControlCharacters } from 'node:util';
import type { ToolDefinition } from './command-definition.ts';
import { EXIT_ABOUT } from './exit.ts';
import type { Flags } from './flags.ts';
import { VERSION } from './version.ts';

const cittyArgs = (definition: ToolDefinition<Flags>): ArgsDef => {
  const args: ArgsDef = {};
  for (const word of definition.words ?? [])
    args[word.name] = { type: 'positional', description: word.about, required: word.required ?? false };
  for (const [name, flag] of Object.entries(definition.flags)) {
    const alias = flag.alias ? { alias: [...flag.alias] } : {};
    if (flag.kind === 'boolean')
      args[flag.negatable ? `no-${name}` : name] = { type: 'boolean', description: flag.about };
    else
      args[name] = {
        type: 'string',
        description: flag.about + (flag.kind === 'many' ? ' (may be repeated)' : ''),
        valueHint: flag.hint,
        ...alias,
        ...(flag.default === undefined ? {} : { default: flag.default }),
      };
  }
  args['help'] = { type: 'boolean', description: 'print this text' };
  args['version'] = { type: 'boolean', description: 'print the version' };
  return args;
};

/** What `--help` prints, without colours. */
export const helpOf = async (definition: ToolDefinition<Flags>): Promise<string> => {
  const { renderUsage } = await import('citty');
  const usageText = await renderUsage({
    meta: {
      name: `k8sbench ${definition.name}`.replace(/^k8sbench k8sbench/, 'k8sbench'),
      version: VERSION,
      description: definition.about,
    },
    args: cittyArgs(definition),
  });
  // citty shows an alias with one dash and aligns names to the right; both spellings work here, and left reads better in a README.
  const blocks = stripVTControlCharacters(usageText)
    .replace(/^ +(?=-|[A-Z…]+ )/gm, '  ')
    .split('\n')
    .map((line) => line.trimEnd());
  const columns = blocks.map((line) => /^( {2}-\S.*?|^ {2}[A-Z…]+) {2,}(.*)$/.exec(line));
  const widest = Math.max(0, ...columns.map((found) => (found ? found[1]!.trimEnd().length : 0)));
  const aligned = blocks.map((line, at) => {
    const found = columns[at];
    return found ? `${found[1]!.trimEnd().padEnd(widest)}  ${found[2]}` : line;
  });
  const exits = `EXIT STATUS\n\n${definition.exits.map((one) => `  ${String(one).padEnd(5)}${EXIT_ABOUT[one]}`).join('\n')}\n`;
  return (
    [aligned.join('\n').trimEnd(), definition.more?.trim(), exits.trimEnd()].filter(Boolean).join('\n\n') +
    '\n'
  );
};
