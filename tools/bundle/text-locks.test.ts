import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bunLockProblems, cargoLockProblems } from './text-locks.ts';

const SHA512 = `sha512-${'A'.repeat(86)}==`;
const bunLock = (entry: unknown, version = 1) =>
  // As Bun writes it: commas at the end, too.
  bunLockProblems(
    `{"lockfileVersion": ${version}, "packages": {"a": ${JSON.stringify(entry)},}, }`,
    'bun.lock',
  );

describe('bun.lock', () => {
  test('of this repository pins everything', () => {
    const path = resolve(import.meta.dir, '../..', 'bun.lock');
    expect(bunLockProblems(readFileSync(join(path), 'utf8'), 'bun.lock')).toEqual([]);
  });
  test.each<[string, unknown]>([
    ['a package', ['a@1.0.0', '', {}, SHA512]],
    ['one of a scope', ['@s/a@1.0.0-rc.1', '', {}, SHA512]],
    ['one with its address', ['a@1.0.0', 'https://registry.npmjs.org/a/-/a-1.0.0.tgz', {}, SHA512]],
    ['one of the tree', ['a@workspace:packages/a']],
  ])('takes %s', (_, entry) => expect(bunLock(entry)).toEqual([]));
  test.each<[string, unknown, string]>([
    ['a directory', ['a@file:../a', {}], "bun.lock: 'a' comes from 'file:../a'"],
    ['a link', ['@s/a@link:a', {}], "comes from 'link:a'"],
    ['an archive of the tree', ['a@../a.tgz', {}, SHA512], "comes from '../a.tgz'"],
    ['a repository', ['a@git+ssh://git@x.example/a.git#abc', {}, 'abc'], "comes from 'git+ssh:"],
    [
      'a repository of a hub',
      ['a@github:some/where#abc', {}, 'abc', SHA512],
      "comes from 'github:some/where#abc'",
    ],
    [
      'an archive from anywhere',
      ['a@https://evil.example/a.tgz', {}, SHA512],
      "comes from 'https://evil.example/a.tgz'",
    ],
    [
      'another registry',
      ['a@1.0.0', 'https://evil.example/a.tgz', {}, SHA512],
      "comes from 'evil.example', which is not",
    ],
    ['http', ['a@1.0.0', 'http://registry.npmjs.org/a.tgz', {}, SHA512], 'which is not registry.npmjs.org'],
    ['no integrity', ['a@1.0.0', '', {}], "has no sha512 integrity, found 'undefined'"],
    ['a weak one', ['a@1.0.0', '', {}, 'sha1-AAAA'], "has no sha512 integrity, found 'sha1-AAAA'"],
    ['no package', 'a@1.0.0', 'is no package'],
  ])('refuses %s', (_, entry, says) => expect(bunLock(entry).join()).toContain(says));
  test('refuses another form', () =>
    expect(bunLock([], 9).join()).toContain('expected lockfileVersion 1 or 2, found 9'));
  test('refuses what is none', () => expect(() => bunLockProblems('{', 'bun.lock')).toThrow('bun.lock: '));
});

const cargoLock = (lines: string) =>
  cargoLockProblems(`version = 4\n\n[[package]]\nname = "a"\nversion = "1.0.0"\n${lines}\n`, 'Cargo.lock');
const CRATES = 'source = "registry+https://github.com/rust-lang/crates.io-index"';
const SUM = `checksum = "${'a'.repeat(64)}"`;

describe('Cargo.lock', () => {
  test.each<[string, string]>([
    ['a crate', `${CRATES}\n${SUM}`],
    ['one of the sparse index', `source = "sparse+https://index.crates.io/"\n${SUM}`],
    ['one of the tree', ''],
  ])('takes %s', (_, lines) => expect(cargoLock(lines)).toEqual([]));
  test.each<[string, string, string]>([
    [
      'a repository',
      `source = "git+https://x.example/a?rev=1#abc"`,
      "Cargo.lock: 'a 1.0.0' comes from 'git+https://x.example/",
    ],
    [
      'another registry',
      `source = "registry+https://evil.example/index"\n${SUM}`,
      "comes from 'registry+https://evil.example/index'",
    ],
    [
      'a name that looks alike',
      `source = "sparse+https://index.crates.io.evil.example/"\n${SUM}`,
      'comes from',
    ],
    ['no checksum', CRATES, 'has no checksum'],
  ])('refuses %s', (_, lines, says) => expect(cargoLock(lines).join()).toContain(says));
  test('refuses what is none', () =>
    expect(() => cargoLockProblems('[[', 'Cargo.lock')).toThrow('Cargo.lock: '));
});
