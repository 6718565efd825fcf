/** What cargo reads beside the tree (a user's config.toml): what reaches crates is theirs to say; what changes a program is the tree's. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { usage } from '../../shared/failure.ts';
import { readText } from '../../shared/read.ts';

/** Settings of no consequence for a program's bytes. */
const HARMLESS = new Set([
  'alias',
  'cache',
  'cargo-new',
  'credential-alias',
  'doc',
  'future-incompat-report',
  'http',
  'install',
  'net',
  'registries',
  'registry',
  'source',
  'term',
]);
/** The same of `build` and of `target.<triple>`: each of the others is replaced by what the build says itself. */
const HARMLESS_BUILD =
  /^(jobs|rustc-wrapper|rustflags|rustdocflags|rustdoc|incremental|target|target-dir|build-dir)$/;
const HARMLESS_TARGET = /^(linker|rustflags|rustdocflags|runner)$/;

const keysOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.keys(value) : [];

/** Settings of a config.toml that would change a program, by their names. */
export const settingsIn = (text: string, shown: string): string[] => {
  let config: Record<string, unknown>;
  try {
    config = Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw usage(`${shown}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return Object.entries(config).flatMap(([key, value]) => {
    if (HARMLESS.has(key)) return [];
    if (key === 'build')
      return keysOf(value)
        .filter((one) => !HARMLESS_BUILD.test(one))
        .map((one) => `build.${one}`);
    if (key === 'target')
      return Object.entries(value as Record<string, unknown>).flatMap(([triple, settings]) =>
        keysOf(settings)
          .filter((one) => !HARMLESS_TARGET.test(one))
          .map((one) => `target.${triple}.${one}`),
      );
    return keysOf(value).length > 0 && !Array.isArray(value)
      ? keysOf(value).map((one) => `${key}.${one}`)
      : [key];
  });
};

/** Places of cargo's settings for a build below `directory`, and those of the user. */
const placesOf = (directory: string, home: string): string[] => {
  const above: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    above.push(join(at, '.cargo'));
    if (at === dirname(at)) break;
  }
  return [...new Set([...above, home])].flatMap((one) => [join(one, 'config.toml'), join(one, 'config')]);
};

/** What of the settings outside of the tree would change a program that is built below `directory`, one sentence each. */
export const cargoSettingsProblems = (directory: string, home: string): string[] =>
  placesOf(directory, home)
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      settingsIn(readText(path), path).map(
        (one) =>
          `'${path}' sets '${one}', which would make another program than elsewhere; move it into the tree's Cargo.toml or .cargo/config.toml`,
      ),
    );
