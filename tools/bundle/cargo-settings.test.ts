import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cargoSettingsProblems, settingsIn } from './cargo-settings.ts';

test.each<[string, string[]]>([
  ['[source.crates-io]\nreplace-with = "mirror"\n[net]\noffline = true\n', []],
  ['[build]\njobs = 2\nrustc-wrapper = "sccache"\nrustflags = ["-g"]\n', []],
  ['[target.x86_64-unknown-linux-gnu]\nlinker = "clang"\nrunner = "x"\n', []],
  ['[profile.release]\nlto = true\n', ['profile.release']],
  ['[env]\nA = "1"\n', ['env.A']],
  ['paths = ["/x"]\n', ['paths']],
  ['[build]\nrustc = "x"\n', ['build.rustc']],
  ['[target.x]\nar = "x"\n', ['target.x.ar']],
  ['[patch.crates-io]\na = { path = "/x" }\n', ['patch.crates-io']],
])('%j', (text, found) => expect(settingsIn(text, 'config.toml')).toEqual(found));

test('what is no TOML', () => expect(() => settingsIn('[[', 'config.toml')).toThrow('config.toml: '));

test('places: those above the build, and the user’s own; each is named', () => {
  const base = mkdtempSync(join(tmpdir(), 'k8sbench-settings-'));
  afterAll(() => rmSync(base, { recursive: true }));
  for (const name of ['.cargo', 'home', 'a/b']) mkdirSync(join(base, name), { recursive: true });
  expect(cargoSettingsProblems(join(base, 'a/b'), join(base, 'home'))).toEqual([]);
  writeFileSync(join(base, '.cargo/config'), '[profile.release]\nlto = true\n');
  writeFileSync(join(base, 'home/config.toml'), '[env]\nA = "1"\n');
  expect(
    cargoSettingsProblems(join(base, 'a/b'), join(base, 'home')).map((one) => one.split(',')[0]),
  ).toEqual([`'${base}/.cargo/config' sets 'profile.release'`, `'${base}/home/config.toml' sets 'env.A'`]);
});
