/** What `--arm` says: which agent, from where, and which file of it starts it. */
import type { Arm } from '../../schemas/arms-lock.ts';
import type { Arch } from '../../schemas/recipe.ts';
import { usage } from '../../shared/failure.ts';

/** A word of the command line in which `{arch}` and the like stand for a machine's own words. */
export type Pattern = (arch: Arch) => string;

export type Wish = { id: string; version: string; executable: Pattern } & (
  { source: 'npm'; package: string } | { source: 'release'; url: Pattern }
);

export const ARCHES: readonly Arch[] = ['amd64', 'arm64'];

const WORDS = {
  amd64: { arch: 'x64', cpu: 'x86_64', goarch: 'amd64' },
  arm64: { arch: 'arm64', cpu: 'aarch64', goarch: 'arm64' },
} as const;

const pattern =
  (text: string, version: string): Pattern =>
  (arch) =>
    text.replace(/\{(arch|cpu|goarch|version)\}/g, (_, word: 'arch' | 'cpu' | 'goarch' | 'version') =>
      word === 'version' ? version : WORDS[arch][word],
    );

const ID = '[A-Za-z0-9][\\w.-]*';
const RELEASE = new RegExp(`^(${ID})=([^@:\\s]+)@(https://[^\\s@]+?\\.(?:tar\\.gz|tgz|tar)):(\\S+)$`);
const NPM = new RegExp(`^(${ID})=((?:@[^@/:\\s]+/)?[^@/:\\s]+)@([^@:\\s]+):([^/\\s]\\S*)$`);

/** An npm package, `ID=PACKAGE@VERSION:PATH`, or a release, `ID=VERSION@https://….tar.gz:PATH`. */
export const wishOf = (given: string): Wish => {
  const release = RELEASE.exec(given);
  if (release) {
    const [, id, version, url, path] = release as unknown as [string, string, string, string, string];
    return { source: 'release', id, version, url: pattern(url, version), executable: pattern(path, version) };
  }
  const npm = NPM.exec(given);
  if (npm) {
    const [, id, name, version, path] = npm as unknown as [string, string, string, string, string];
    return { source: 'npm', id, package: name, version, executable: pattern(path, version) };
  }
  throw usage(
    `flag '--arm': expected ID=PACKAGE@VERSION:PATH, such as pi=@scope/pi@1.2.3:node_modules/@scope/pi/cli.js, or ID=VERSION@https://….tar.gz:PATH, found '${given}'`,
  );
};

/** The wish that an arm of a lock stands for: the same version from the same place. */
export const wishAgain = (id: string, arm: Arm): Wish => {
  const executable: Pattern = (arch) => arm.executables[arch]?.path ?? '';
  return arm.source === 'npm'
    ? { source: 'npm', id, package: arm.package, version: arm.version, executable }
    : {
        source: 'release',
        id,
        version: arm.version,
        url: (arch) => arm.archives[arch]?.url ?? '',
        executable,
      };
};
