/** Every flag of every tool, from the tools' own tables, by the kind of its value; so that a new one can't be forgotten. */
import type { Tool } from '../../shared/command-line.ts';
import type { Flag } from '../../shared/flags.ts';
import { TOOLS } from '../../tools/k8sbench/table.ts';

export type FlagKind = 'switch' | 'choice' | 'number' | 'path' | 'text';

export interface OneFlag {
  tool: Tool;
  name: string;
  flag: Flag<unknown>;
  kind: FlagKind;
}

/** What the values of path flags are called, and of flags whose text is no path. */
const PATHS = new Set(['FILE', 'FILE,…', 'DIR', 'PATH', 'PROFILE', 'RUN']);
const TEXTS = new Set([
  ...[
    'CMD',
    'NAME',
    'NAME,…',
    'REV',
    'IMAGE',
    'QUANTITY',
    'SIZE',
    'K=V,…',
    'COMMIT',
    'WORD',
    'WORD,…',
    'RULE',
    'ID=PACKAGE@VERSION:PATH',
    'ID',
    'TIME',
    'ID,…',
    'A,…',
    'URL',
    'SHA',
    'SHA256',
    'PATTERN',
    'OWNER/NAME',
    'REGISTRY=URL',
  ],
]);

const accepts = (flag: Flag<unknown>, text: string): boolean => flag.read(text).ok;

/** Numbers that a flag takes, of some that one or another would. */
export const numbersTaken = (flag: Flag<unknown>): string[] =>
  ['7', '100', '0.05', '3600', ...(flag.hint.includes('=N') ? ['retry=2'] : [])].filter((text) =>
    accepts(flag, text),
  );

/** A flag is a number's when it takes digits of some size and no word. */
const isNumber = (flag: Flag<unknown>): boolean =>
  numbersTaken(flag).length > 0 && !['abc', 'a-b', './x', 'A'].some((text) => accepts(flag, text));

/** Undefined: nobody said what its value is. */
const kindOf = (flag: Flag<unknown>): FlagKind | undefined => {
  if (flag.kind === 'boolean') return 'switch';
  if (flag.options) return 'choice';
  if (isNumber(flag)) return 'number';
  if (PATHS.has(flag.hint)) return 'path';
  return TEXTS.has(flag.hint) ? 'text' : undefined;
};

export const tools = async (): Promise<Tool[]> =>
  Promise.all(Object.values(TOOLS).map(async (entry) => (await entry.load()).tool));

/** All flags; one whose kind nobody told is named in the error. */
export const allFlags = async (): Promise<OneFlag[]> => {
  const all: OneFlag[] = [];
  for (const tool of await tools())
    for (const [name, flag] of Object.entries(tool.flags)) {
      const kind = kindOf(flag);
      if (kind === undefined)
        throw new Error(
          `${tool.name} --${name}: is '${flag.hint}' a path? add it to PATHS or TEXTS in test/hostile/flag-kinds.ts`,
        );
      all.push({ tool, name, flag, kind });
    }
  return all;
};
