/** How a container starts the session: at once from an image, or after it has received and checked a bundle (spec §4). */
import receive from './receive.txt';
import script from './start-up.txt';

/** Where the bundle arrives and is unpacked. */
export const BUNDLE = '/bundle';
export const ROOTS = { image: '/opt/k8sbench', bundle: `${BUNDLE}/root` } as const;

/** The session's own copy of its log, and the file that ends its waiting for whoever reads it. */
export const SPOOL = `${BUNDLE}/pod.log`;
export const ACKNOWLEDGED = `${BUNDLE}/ACKNOWLEDGED`;

/** The claim that keeps results: the name of its volume, mounted at /results; and a run's copy of its log there. */
export const CLAIM = 'results';
export const claimSpool = (run: string): string => `/${CLAIM}/${run}.log`;

/** The session as one file, beside the artifacts. */
const SESSION = 'lib/pod.mjs';

/** How long a bundle may take to arrive, s. */
const PATIENCE = 1800;

/** A word of the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The script that waits for the bundle below `bundle`, in the shell of any base image. */
export const bundleScript = (bundle = BUNDLE, patience = PATIENCE): string =>
  `bundle=${bundle} patience=${patience}\nreceive=${quoted(receive)}\n${script}`;

/** How an archive is compressed on its way. */
export type Compression = 'gzip' | 'zstd';

/** Whether a release of Node reads zstd: 22.15, 23.8 and later ones do. */
export const readsZstd = (version = ''): boolean => {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
  const [from, since] = Number(major) === 22 ? [22, 15] : [23, 8];
  return Number(major) > from || (Number(major) === from && Number(minor) >= since);
};

/**
 * Run in the container, takes the bundle's archive on stdin, compressed as any number of members or frames: unpacked while
 * it arrives, kept only by its SHA-256. `attempt` is a name that no other stream has. Ends with 0; 3, when the archive has
 * another SHA-256, which is the last line of what it prints; or 1, when it says there why it could not be taken.
 */
export const receiving = (attempt: string, compression: Compression, bundle = BUNDLE): string[] => [
  'sh',
  '-c',
  'until [ -e "$1/WAITING" ]; do sleep 0.1 2>/dev/null || sleep 1; done; exec node "$1/receive.mjs" "$@"',
  'sh',
  bundle,
  attempt,
  compression,
];
export const OTHER_DIGEST = 3;

/** The container's command. */
export const commandOf = (delivery: 'image' | 'bundle'): string[] =>
  delivery === 'image' ? ['node', `${ROOTS.image}/${SESSION}`] : ['sh', '-c', bundleScript()];
