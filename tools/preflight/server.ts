/** The API server's release against what a run needs of it. Pure. */
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';

const { ok, warn, fail } = area('server');

export interface Version {
  major: number;
  minor: number;
  gitVersion: string;
}

/** The first release on which each works without a feature gate. */
const NEEDS: readonly { release: string; what: string; bundle?: true }[] = [
  {
    release: '1.29',
    what: 'Jobs have podReplacementPolicy (one pod, never two), and requests count sidecars',
  },
  {
    release: '1.30',
    what: 'exec can end the input of a command, which sending a bundle needs',
    bundle: true,
  },
];

/** Whether a server is older than a release such as `1.35`. */
export const isBefore = ({ major, minor }: Version, release: string): boolean => {
  const [wantedMajor, wantedMinor] = release.split('.').map(Number) as [number, number];
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
};

/** `version` is undefined when the server would not tell it. */
export const serverFinding = ({ delivery }: Asked, version: Version | undefined): Finding => {
  const needs = NEEDS.filter((one) => delivery === 'bundle' || !one.bundle);
  const least = needs.at(-1)!.release;
  if (version === undefined || !Number.isInteger(version.major) || !Number.isInteger(version.minor))
    return warn(
      'release',
      'not known: the server does not tell',
      `${least} or later is needed`,
      'ask whoever runs the cluster',
    );
  const missing = needs.filter((one) => isBefore(version, one.release));
  return missing.length === 0
    ? ok('release', version.gitVersion, `${least} or later is needed`)
    : fail(
        'release',
        version.gitVersion,
        missing.map((one) => `from ${one.release} on ${one.what}`).join('; '),
        `use a cluster of release ${least} or later`,
      );
};
