/** How a container starts the session: at once from an image, or after it has received and checked a bundle (spec §4). */
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

/** The script that waits for the bundle below `bundle`, in the shell of any base image. */
export const bundleScript = (bundle = BUNDLE, patience = PATIENCE): string =>
  `bundle=${bundle} patience=${patience}\n${script}`;

/** The container's command. */
export const commandOf = (delivery: 'image' | 'bundle'): string[] =>
  delivery === 'image' ? ['node', `${ROOTS.image}/${SESSION}`] : ['sh', '-c', bundleScript()];
