/** A profile whose processes only wait: sessions that take their time and leave the machine to the tests. */
import type { Profile } from '../../schemas/profile.ts';

/** How long a sample takes, s. */
const SAMPLE_S = 0.05;

/** The artifacts' own shell, in images and bundles. */
const shell = (script: string): string[] => [
  '{root}/bin/busybox',
  'sh',
  '-c',
  script.replaceAll('{', '{{').replaceAll('}', '}}').replaceAll('DIR', '{dir}'),
];

const fixture = JSON.stringify({ seedMs: 1, fingerprint: 'light', bytes: 1 });
const line = JSON.stringify({ open: 1, turn: [1, 2, 1], fingerprint: 'light' });
const commands = {
  seed: shell(`echo '${fixture}' > 'DIR/seed.json'`),
  seedMeta: '{dir}/seed.json',
  sample: shell(`sleep ${SAMPLE_S}; echo '${line}'`),
};

/** As many targets as the built-in profile has. */
export const LIGHT: Profile = {
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
