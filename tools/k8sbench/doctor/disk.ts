/** The directory of the fixtures: where a durable write goes, and what it costs there. Pure. */
import { mountOf } from '../../../shared/mounts.ts';
import { quantile } from '../../../shared/statistics.ts';
import { area, bytes, type Check, type Finding } from './finding.ts';

const { ok, warn, fail } = area('disk');

const LITTLE = 2 ** 30;
/** File systems that keep nothing, and those whose speed is a network's or another program's. */
const VOLATILE = new Set(['tmpfs', 'ramfs']);
const REMOTE = /^(nfs4?|cifs|smb3|9p|virtiofs|ceph|glusterfs|lustre|fuse(\..*)?)$/;

const elsewhere = 'set TMPDIR to a directory on a local disk';

const filesystem = (path: string, type: string | undefined, device: string): Finding => {
  if (type === undefined) return ok('file-system', `'${path}', of a kind not told`, 'fixtures lie there');
  const found = `'${path}' on ${type}, ${device}`;
  if (VOLATILE.has(type))
    return warn(
      'file-system',
      found,
      'nothing reaches a disk: durable writes cost next to nothing',
      elsewhere,
    );
  return REMOTE.test(type)
    ? warn('file-system', found, 'a network or another program answers: its mood is measured too', elsewhere)
    : ok('file-system', found, 'fixtures lie on a local disk');
};

const ms = (seconds: number): string => (seconds * 1000).toFixed(seconds < 0.001 ? 3 : 1);

const syncs = (times: readonly number[]): Finding => {
  const [half, most] = [quantile(times, 0.5), quantile(times, 0.95)];
  const found = `${ms(half)} ms for a small durable write, 95 % within ${ms(most)} ms`;
  const values = { fsync_p50_s: half, fsync_p95_s: most };
  return most <= 5 * half
    ? ok('fsync', found, 'durable writes take much the same time', values)
    : warn(
        'fsync',
        found,
        'some durable writes take far longer: wall times of workloads that sync will vary',
        'stop what else writes to that disk, or set TMPDIR to a disk of its own',
        values,
      );
};

export const disk: Check = ({ machine, trials: { temporary } }) => {
  if ('problem' in temporary)
    return [
      fail(
        'fixtures',
        temporary.problem,
        'fixtures and logs of a session lie there',
        'set TMPDIR to a directory that you can write',
      ),
    ];
  const { path, free_bytes, fsync_s } = temporary;
  const on = mountOf(machine, path);
  const values = { free_bytes };
  return [
    filesystem(path, on?.filesystem, on?.device ?? ''),
    free_bytes >= LITTLE
      ? ok('free', bytes(free_bytes), 'room for fixtures of all targets and sizes', values)
      : warn('free', bytes(free_bytes), 'a session ends when it is full', 'free some, or set TMPDIR', values),
    syncs(fsync_s),
  ];
};
