/** bun.lock and Cargo.lock, read as what they can make Bun and cargo fetch: packages of a registry, with a digest, and nothing else. */
import { usage } from '../../shared/failure.ts';

type Entry = Record<string, unknown>;

const isMap = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** sha512 and longer: shorter ones can be forged. */
const STRONG = /^sha(512|384)-[A-Za-z0-9+/]+={0,2}$/;

const HOST = 'registry.npmjs.org';

/** Why one package of bun.lock isn't pinned; undefined when it is. An entry is `["name@version", registry, facts, integrity]`. */
const bunEntryProblem = (entry: unknown): string | undefined => {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return 'is no package';
  const [id, registry, , integrity] = entry as [string, unknown, unknown, unknown];
  const from = id.slice(id.indexOf('@', 1) + 1);
  // A package of the tree itself is among the sources, or its files are missing when it is built.
  if (/^(workspace|root):/.test(from)) return undefined;
  if (!/^\d/.test(from)) return `comes from '${from}'; only packages of a registry are installed`;
  if (registry !== '') {
    const url = typeof registry === 'string' && URL.canParse(registry) ? new URL(registry) : undefined;
    if (url?.protocol !== 'https:' || url.host !== HOST || url.username !== '')
      return `comes from '${url?.host ?? String(registry)}', which is not ${HOST}`;
  }
  return typeof integrity === 'string' && STRONG.test(integrity)
    ? undefined
    : `has no sha512 integrity, found '${String(integrity)}'`;
};

const parsed = (text: string, shown: string, parse: (text: string) => unknown): Entry => {
  try {
    const value = parse(text);
    if (isMap(value)) return value;
  } catch (error) {
    throw usage(`${shown}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw usage(`${shown}: expected a table`);
};

/** All that is wrong with a bun.lock, each with its place. */
export const bunLockProblems = (text: string, shown: string): string[] => {
  const { lockfileVersion, packages } = parsed(text, shown, (one) => Bun.JSONC.parse(one));
  if (lockfileVersion !== 1 && lockfileVersion !== 2)
    return [
      `${shown}: expected lockfileVersion 1 or 2, found ${JSON.stringify(lockfileVersion)}; 'bun install --lockfile-only' writes one`,
    ];
  return Object.entries(isMap(packages) ? packages : {}).flatMap(([name, entry]) => {
    const problem = bunEntryProblem(entry);
    return problem === undefined ? [] : [`${shown}: '${name}' ${problem}`];
  });
};

/** crates.io, as its index is named. */
const CRATES =
  /^(registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|sparse\+https:\/\/index\.crates\.io\/)$/;

/** All that is wrong with a Cargo.lock. A package without a source is one of the tree. */
export const cargoLockProblems = (text: string, shown: string): string[] => {
  const { package: packages } = parsed(text, shown, (one) => Bun.TOML.parse(one));
  return (Array.isArray(packages) ? packages : []).flatMap((one: unknown) => {
    const { name, version, source, checksum } = isMap(one) ? one : {};
    if (source === undefined) return [];
    const said = `${shown}: '${String(name)} ${String(version)}'`;
    if (typeof source !== 'string' || !CRATES.test(source))
      return [`${said} comes from '${String(source)}'; only crates of crates.io are built`];
    return /^[0-9a-f]{64}$/.test(String(checksum)) ? [] : [`${said} has no checksum; 'cargo update' adds it`];
  });
};
