/** A package-lock.json, read as what it can make npm fetch: every package from a known host, with a digest, and nothing else. */
import { parseJson, shownValue } from '../../shared/read.ts';
import { usage } from '../../shared/failure.ts';

type Entry = Record<string, unknown>;

/** sha512 and longer: sha1, which old lockfiles have, can be forged. */
const STRONG = /(^|\s)sha(512|384)-[A-Za-z0-9+/]+={0,2}(\s|$)/;

const isMap = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Why one package isn't pinned; undefined when it is. */
const entryProblem = (
  path: string,
  entry: Entry,
  hosts: readonly string[],
  pinned: boolean,
): string | undefined => {
  if (
    !/^(?:[^\0]*\/)?node_modules\/(@[^/@\\]+\/)?[^/@\\][^/\\]*$/.test(path) ||
    path.split('/').some((part) => part === '..' || part === '.')
  )
    return 'stands outside of node_modules; only packages of a registry are installed';
  if (entry['link'] === true) return 'is a link to a directory; only packages of a registry are installed';
  const { resolved, integrity } = entry;
  if (resolved !== undefined) {
    if (typeof resolved !== 'string' || !resolved.startsWith('https://'))
      return `comes from '${String(resolved)}'; only https addresses of a registry are installed`;
    const url = URL.canParse(resolved) ? new URL(resolved) : undefined;
    if (!url || url.username !== '' || url.password !== '' || !hosts.includes(url.host))
      return `comes from '${url?.host ?? resolved}', which is none of ${hosts.join(', ')}`;
  }
  if (typeof entry['version'] !== 'string') return 'has no version';
  if (integrity === undefined && pinned) return undefined;
  if (typeof integrity !== 'string' || !STRONG.test(integrity))
    return integrity === undefined
      ? "has no integrity; lock it again, or pin what is installed with 'content'"
      : `has no sha512 integrity, found '${String(integrity)}'`;
  return undefined;
};

/** Where an alias such as `npm:…`, `file:` or `git+ssh:` hides: the root's own wishes. */
const wishProblem = (name: string, wish: unknown): string | undefined =>
  typeof wish === 'string' &&
  !/^(file|link|git|git\+[a-z]+|github|gitlab|bitbucket|https?|workspace):|^[^@/\s]+\/[^/\s]+$/i.test(wish)
    ? undefined
    : `wants '${name}' from '${String(wish)}'; only packages of a registry are installed`;

/** All that is wrong with a lockfile, each with its place. `content`: paths below node_modules that the recipe pins by digest. */
export const npmLockProblems = (
  text: string,
  shown: string,
  hosts: readonly string[],
  content: readonly string[] = [],
): string[] => {
  const lock = parseJson(text, shown, usage);
  if (!isMap(lock)) return [`${shown}: expected an object`];
  if (lock['lockfileVersion'] !== 2 && lock['lockfileVersion'] !== 3)
    return [
      `${shown}: expected lockfileVersion 2 or 3, found ${shownValue(lock['lockfileVersion'])}; 'npm install --package-lock-only' writes one`,
    ];
  const packages = lock['packages'];
  if (!isMap(packages)) return [`${shown}: packages: missing`];
  const problems: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    if (!isMap(entry)) problems.push(`${shown}: '${path}' is no package`);
    else if (path === '')
      for (const group of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])
        for (const [name, wish] of Object.entries(isMap(entry[group]) ? entry[group] : {})) {
          const problem = wishProblem(name, wish);
          if (problem) problems.push(`${shown}: it ${problem}`);
        }
    else {
      const pinned = content.some((one) => `${path}/`.startsWith(`node_modules/${one}/`));
      const problem = entryProblem(path, entry, hosts, pinned);
      if (problem) problems.push(`${shown}: '${path}' ${problem}`);
    }
  }
  return problems;
};

/** What a lockfile says of the package that it installs at the top. */
export const lockedPackage = (
  text: string,
  name: string,
): { version: unknown; integrity: unknown } | undefined => {
  const lock = parseJson(text, 'package-lock.json', usage);
  const packages = isMap(lock) && isMap(lock['packages']) ? lock['packages'] : {};
  const found = packages[`node_modules/${name}`];
  return isMap(found) ? { version: found['version'], integrity: found['integrity'] } : undefined;
};
