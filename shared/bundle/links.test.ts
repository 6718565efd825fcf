import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { leadsOut } from './links.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'k8sbench-links-')));
afterAll(() => rmSync(base, { recursive: true }));
let made = 0;

/** What the kernel says of a link in a tree that holds these links, a directory wherever one may be wanted, and files outside. */
const kernelSays = (path: string, links: Record<string, string>): boolean => {
  const top = join(base, String(++made), 'a/b/tree');
  for (const one of ['.', 'deep/a/b', 'shallow', 'x', 'd/x']) mkdirSync(join(top, one), { recursive: true });
  for (const one of ['x', '../x', '../../x']) mkdirSync(join(top, '..', one), { recursive: true });
  writeFileSync(join(top, 'file'), '');
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(join(top, dirname(name)), { recursive: true });
    symlinkSync(target, join(top, name));
  }
  try {
    return !`${realpathSync(join(top, path))}/`.startsWith(`${top}/`);
  } catch {
    return false;
  }
};

describe('a link leads out of the tree, as the kernel says, too', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['l', { l: 'file' }, false],
    ['deep/a/l', { 'deep/a/l': '../../file' }, false],
    ['l', { l: '../x' }, true],
    ['deep/l', { 'deep/l': '../../x' }, true],
    ['l', { l: '/etc' }, true],
    ['l', { l: '.' }, false],
    ['l', { l: 'd/../d/x' }, false],
    // Each by itself stays inside as it is written; one through the other does not.
    ['deep/a/b/t', { 'deep/a/b/s': '../../../shallow', 'deep/a/b/t': 's/../../x' }, true],
    ['deep/a/b/t', { 'deep/a/b/s': '../../../shallow', 'deep/a/b/t': 's/../x' }, false],
    ['m', { l: '../x', m: 'l' }, true],
    // As it is written this leaves; the kernel goes through the link and stays inside.
    ['m', { l: 'deep/a/b', m: 'l/../../x' }, false],
    ['l', { l: 'm', m: 'l' }, false],
    ['l', { l: 'l/..' }, false],
  ])('%s of %j: %p', (path, links, out) => {
    expect(leadsOut(path, new Map(Object.entries(links)))).toBe(out);
    expect(kernelSays(path, links)).toBe(out);
  });

  test('of random trees of links', () => {
    let at = 4711;
    const choose = <T>(of: readonly T[]): T => of[(at = (at * 48_271) % 2_147_483_647) % of.length]!;
    const names = ['p', 'q', 'd/p', 'd/q', 'deep/a/p'];
    const words = ['..', '..', 'p', 'q', 'd', 'x', '.', 'deep', 'a'];
    const seen = { in: 0, out: 0 };
    for (let run = 0; run < 400; run++) {
      const links = Object.fromEntries(
        names.map((name) => [name, [choose(words), choose(words), choose(words)].join('/')]),
      );
      const path = choose(names);
      const said = leadsOut(path, new Map(Object.entries(links)));
      // A link to what isn't there leads nowhere yet; it is refused all the same when it would lead out.
      if (kernelSays(path, links)) expect([links, path, said]).toEqual([links, path, true]);
      seen[said ? 'out' : 'in']++;
    }
    expect([seen.in > 20, seen.out > 20]).toEqual([true, true]);
  });
});
