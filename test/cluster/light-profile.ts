/** Profiles whose processes only wait: sessions that take their time and leave the machine to the tests. */
import type { Profile } from '../../schemas/profile.ts';

/** The artifacts' own shell, in images and bundles. */
const shell = (script: string): string[] => [
  '{root}/bin/busybox',
  'sh',
  '-c',
  script.replaceAll('{', '{{').replaceAll('}', '}}').replaceAll('DIR', '{dir}'),
];

const fixture = JSON.stringify({ seedMs: 1, fingerprint: 'light', bytes: 1 });
const line = JSON.stringify({ open: 1, turn: [1, 2, 1], fingerprint: 'light' });

/** As many targets as the built-in profile has; each sample takes so many s. */
export const lightProfile = (sample_s: number): Profile => {
  const commands = {
    seed: shell(`echo '${fixture}' > 'DIR/seed.json'`),
    seedMeta: '{dir}/seed.json',
    sample: shell(`sleep ${sample_s}; echo '${line}'`),
  };
  return {
    name: 'light',
    rule: 'light',
    about: 'waits',
    fingerprints: {},
    metrics: [],
    targets: [
      { name: 'journal', role: 'candidate', ...commands },
      { name: 'sqlite', role: 'reference', ...commands },
      { name: 'memory', role: 'floor', sample: commands.sample },
    ],
  };
};

export const LIGHT = lightProfile(0.05);
