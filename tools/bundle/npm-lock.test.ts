import { describe, expect, test } from 'bun:test';
import { npmLockProblems } from './npm-lock.ts';

const HOSTS = ['registry.npmjs.org'];
const SHA512 = `sha512-${'A'.repeat(86)}==`;
const fine = { version: '1.0.0', resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz', integrity: SHA512 };

const problems = (
  packages: Record<string, unknown>,
  more: Record<string, unknown> = {},
  content: string[] = [],
) => npmLockProblems(JSON.stringify({ lockfileVersion: 3, packages, ...more }), 'lock', HOSTS, content);
/** One package of the lockfile with some fields changed. */
const one = (change: Record<string, unknown>, path = 'node_modules/a') =>
  problems({ '': {}, [path]: { ...fine, ...change } });

describe('a lockfile that pins everything', () => {
  test.each<[string, string[]]>([
    ['plain', one({})],
    ['in a scope, nested', one({}, 'node_modules/@s/a/node_modules/b')],
    ['without an address: the registry is npm’s own', one({ resolved: undefined })],
    ['for another machine', one({ optional: true, os: ['darwin'] })],
    [
      'wished by version, tag and alias',
      problems({ '': { dependencies: { a: '^1', b: 'latest', c: 'npm:@s/c@1.0.0-x' } } }),
    ],
    [
      'one package pinned by what is installed',
      problems({ 'node_modules/@s/a': { version: '1.0.0' } }, {}, ['@s']),
    ],
  ])('%s', (_, found) => expect(found).toEqual([]));
});

describe('refused', () => {
  test.each<[string, string[], string]>([
    ['no integrity', one({ integrity: undefined }), "'node_modules/a' has no integrity"],
    ['a weak one', one({ integrity: `sha1-${'A'.repeat(27)}=` }), 'has no sha512 integrity'],
    ['an empty one', one({ integrity: '' }), 'has no sha512 integrity'],
    ['a file', one({ resolved: 'file:../a.tgz' }), "comes from 'file:../a.tgz'"],
    ['a git repository', one({ resolved: 'git+ssh://git@github.com/a/a.git#abc' }), 'only https addresses'],
    ['http', one({ resolved: 'http://registry.npmjs.org/a.tgz' }), 'only https addresses'],
    ['another host', one({ resolved: 'https://evil.example/a.tgz' }), "comes from 'evil.example'"],
    ['another port', one({ resolved: 'https://registry.npmjs.org:8443/a.tgz' }), 'which is none of'],
    [
      'a host that looks alike',
      one({ resolved: 'https://registry.npmjs.org.evil.example/a.tgz' }),
      'which is none of',
    ],
    ['a user', one({ resolved: 'https://me:x@registry.npmjs.org/a.tgz' }), 'which is none of'],
    ['a link', one({ link: true }), 'is a link to a directory'],
    ['a workspace', one({}, 'packages/a'), 'stands outside of node_modules'],
    ['a path upwards', one({}, 'node_modules/../../a'), 'stands outside of node_modules'],
    ['no version', one({ version: undefined }), 'has no version'],
    ['a wished file', problems({ '': { dependencies: { a: 'file:../a' } } }), "wants 'a' from 'file:../a'"],
    ['a wished repository', problems({ '': { devDependencies: { a: 'git+https://x/y.git' } } }), "wants 'a'"],
    [
      'a wished repository of a hub',
      problems({ '': { optionalDependencies: { a: 'some/where' } } }),
      "wants 'a'",
    ],
    ['a wished address', problems({ '': { dependencies: { a: 'https://x/y.tgz' } } }), "wants 'a'"],
    [
      'an old form',
      npmLockProblems('{"lockfileVersion":1,"dependencies":{}}', 'lock', HOSTS),
      'lockfileVersion 2 or 3, found 1',
    ],
    ['no packages', npmLockProblems('{"lockfileVersion":3}', 'lock', HOSTS), 'packages: missing'],
    ['a list', npmLockProblems('[]', 'lock', HOSTS), 'expected an object'],
    [
      'content of another package',
      problems({ 'node_modules/ab': { version: '1' } }, {}, ['a']),
      'has no integrity',
    ],
  ])('%s', (_, found, says) => {
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith('lock: ');
    expect(found[0]).toContain(says);
  });

  test('all of them at once', () =>
    expect(problems({ 'node_modules/a': {}, 'node_modules/b': { ...fine, link: true } })).toHaveLength(2));
  test('what is no JSON', () => expect(() => npmLockProblems('{', 'lock', HOSTS)).toThrow('lock:1'));
});
