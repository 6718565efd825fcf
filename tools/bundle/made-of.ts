/** Whether what was built was made of the sources alone: a file from elsewhere is in no digest, and another machine has another one. */
import { existsSync, realpathSync } from 'node:fs';
import { failed } from '../../shared/failure.ts';

/** Files told by name. */
const TOLD = 10;

/** Refuses files that lie in none of these directories. */
export const refuseOutsiders = (files: readonly string[], directories: readonly string[]): void => {
  const inside = directories
    .flatMap((one) => (existsSync(one) ? [one, realpathSync(one)] : []))
    .map((one) => `${one.replace(/\/+$/, '')}/`);
  const outside = [...new Set(files)].filter((file) => !inside.some((one) => `${file}/`.startsWith(one)));
  if (outside.length > 0)
    throw failed([
      ...outside
        .slice(0, TOLD)
        .map(
          (one) =>
            `it is made of '${one}', which is not one of its sources; bring it into the tree, below 'in' or 'with'`,
        ),
      ...(outside.length > TOLD ? [`and of ${outside.length - TOLD} more files that are none`] : []),
    ]);
};

/** Files that a rule of make depends on, as compilers write them into .d files. */
export const dependenciesIn = (rules: string): string[] =>
  rules
    .split('\n')
    .flatMap((line) => /^(?:\\.|[^:\\]|:(?! ))*: (.*)$/.exec(line)?.[1]?.match(/(?:\\.|[^\s\\])+/g) ?? [])
    .map((one) => one.replaceAll('\\ ', ' '));
