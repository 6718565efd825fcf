/** Building blocks that several formats share. Units are in the doc comment of each field that uses them. */
import * as v from 'valibot';

/** A measured number: finite, so that neither `Infinity` nor `NaN` (which JSON writes as null) passes. */
export const finite = v.pipe(v.number('expected a finite number'), v.finite('expected a finite number'));

/** A measured number that can't be negative: a time, a count, a size. */
export const amount = v.pipe(finite, v.minValue(0, 'expected a number ≥ 0'));

/** A whole number ≥ 0. */
export const count = v.pipe(
  finite,
  v.safeInteger('expected a whole number'),
  v.minValue(0, 'expected a whole number ≥ 0'),
);

/** A whole number ≥ 1. */
export const positive = v.pipe(count, v.minValue(1, 'expected a whole number ≥ 1'));

/** A text that says something. */
export const text = v.pipe(v.string('expected a text'), v.minLength(1, 'expected a text that is not empty'));

/** A program and its arguments; never a shell string. */
export const command = v.pipe(
  v.array(v.string('expected a text'), 'expected a list of arguments'),
  v.minLength(1, 'expected a program and its arguments'),
  v.check((words) => words[0] !== '', 'expected a program as first word'),
);

/** A digest as `sha256sum` prints it. */
export const sha256 = v.pipe(
  v.string('expected a SHA-256'),
  v.regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits'),
);

/** Whether a day and a time of the form are in the calendar: engines read 30 February as 2 March. */
const isTime = (written: string): boolean => {
  const time = Date.parse(written);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 19) === written.slice(0, 19);
};

/** UTC, ISO 8601, with or without milliseconds. */
export const instant = v.pipe(
  v.string('expected a time'),
  v.regex(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
    'expected a UTC time such as 2026-01-02T03:04:05.000Z',
  ),
  v.check(isTime, 'expected a time that exists'),
);

/** A DNS label (RFC 1123), the form of Kubernetes object names used as run ids. */
export const dnsLabel = v.pipe(
  v.string('expected a name'),
  v.regex(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    'expected a DNS label: a-z, 0-9 and -, at most 63 characters',
  ),
);

/** Whether a path stays inside the directory that it is relative to, as it is written: `/` as separator, no `..`, nothing empty. */
export const isInside = (path: string): boolean =>
  !/[\0\n\r\\]/.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/** A word that may stand in a path, a rule or a tracker line. */
export const word = v.pipe(
  v.string('expected a name'),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'expected a name of A-Z, a-z, 0-9, ".", "_" and "-", at most 63 characters',
  ),
);

/** What a session is for: one target against another, or the reference alone. */
export const mode = v.picklist(['compare', 'calibrate'], 'expected compare or calibrate');

/** How artifacts reach the place where they run. */
export const delivery = v.picklist(['image', 'bundle', 'local'], 'expected image, bundle or local');

/** Which metrics decide whether a comparison may be reported: wall and CPU times, or CPU times and counts alone. */
export const gate = v.picklist(['wall', 'cpu'], 'expected wall or cpu');

/** The literal that names a format and its version; a reader refuses any other. */
export const formatTag = <const T extends string>(tag: T) =>
  v.literal(tag, `expected format "${tag}"; another version needs another k8sbench`);

/** Digests of the files a derived file was made from, by path inside the run directory. */
export const inputs = v.record(v.string(), sha256);

/** Seeds and sizes are keyed by the size, written in decimal. */
export const sizeKey = v.pipe(v.string(), v.regex(/^[1-9]\d*$/, 'expected a size: a whole number ≥ 1'));

/** An image that can't change: a name with the digest of what it stands for. */
export const pinnedImage = v.pipe(
  v.string('expected an image'),
  v.regex(
    /^[a-z0-9[][a-zA-Z0-9._:/\][-]{0,400}@sha256:[0-9a-f]{64}$/,
    'expected an image with its digest, such as registry.example/name@sha256:<64 hex>',
  ),
);

/** A commit or revision in full. */
export const revision = v.pipe(
  v.string('expected a commit'),
  v.regex(/^[0-9a-f]{40}$/, 'expected 40 hex digits'),
);
