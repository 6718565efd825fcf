/** For tests: machines described in fixtures/machines, laid out as files below a directory of their own. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCpuList } from '../shared/cpu-list.ts';
import { type Machine, machineAt } from '../shared/machine.ts';

const MACHINES = fileURLToPath(new URL('../fixtures/machines', import.meta.url));

/** Names of the described machines. */
export const machineNames = (): string[] =>
  readdirSync(MACHINES)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => name.slice(0, -'.txt'.length));

export interface Described extends Machine {
  /** What the machine is, in words. */
  about: string;
  /** Changes a file, as time or somebody else would. */
  write(path: string, text: string): void;
}

interface Section {
  path: string;
  text: string;
  unreadable: boolean;
}

/** The sections of a description; `{0-3}` in a path makes one for each number, which stands for `{n}` in its text. */
const sectionsOf = (description: string): Section[] =>
  description.split(/^-- /m).flatMap((part, at): Section[] => {
    if (at === 0) return [];
    const [, path, unreadable] = /^(\S+)( \(unreadable\))? --\n/.exec(part)!;
    const text = part.slice(part.indexOf('\n') + 1);
    const numbers = /\{([\d,-]+)\}/.exec(path!);
    if (!numbers) return [{ path: path!, text, unreadable: unreadable !== undefined }];
    return parseCpuList(numbers[1]!)!.map((n) => ({
      path: path!.replace(numbers[0], String(n)),
      text: text.replaceAll('{n}', String(n)),
      unreadable: unreadable !== undefined,
    }));
  });

/** A described machine as files. A file that can't be read is a directory there: that stops root too. */
export const describedMachine = (name: string): Described => {
  const description = readFileSync(join(MACHINES, `${name}.txt`), 'utf8');
  const root = mkdtempSync(join(tmpdir(), 'k8sbench-machine-'));
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const { path, text, unreadable } of sectionsOf(description))
    if (unreadable) mkdirSync(join(root, path), { recursive: true });
    else write(path, text);
  return { ...machineAt(root), about: description.slice(0, description.indexOf('\n-- ')), write };
};
