/** Faults of a bundle and of the account that sends it: fault → message → exit status. The shared bed's user may exec. */
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, real } from './fault.ts';
import { foreignExecutable } from './registry.ts';
import { makeArtifacts, sealArtifacts } from './session-image.ts';
import { type Bed, kubeconfigWith, type Planned } from './session-runs.ts';
import { makeUser } from './the-cluster.ts';

/** A bundle in the bed's directory, made once. */
export const bundleIn = async (bed: Bed): Promise<string> => {
  const directory = join(bed.directory, 'bundle');
  if (!existsSync(directory)) await makeArtifacts(directory);
  return directory;
};

/** A copy of it with one thing changed. */
export const changedBundle = async (
  bed: Bed,
  name: string,
  change: (directory: string) => void,
): Promise<string> => {
  const directory = join(bed.directory, name);
  cpSync(await bundleIn(bed), directory, { recursive: true });
  change(directory);
  return directory;
};

export const bundlePlan = (bed: Bed, directory: string): Planned => ({
  words: ['--bundle', directory, '--base-image', bed.images.base],
});

const whole = async (bed: Bed): Promise<Planned> => bundlePlan(bed, await bundleIn(bed));

export const OF_BUNDLE: Readonly<Record<string, Fault>> = {
  'a bundle that was changed after it was planned': {
    plan: async (bed) => {
      const directory = await changedBundle(bed, 'later', () => undefined);
      return {
        ...bundlePlan(bed, directory),
        change: () => writeFileSync(join(directory, 'lib/runtimes.mjs'), 'changed'),
      };
    },
    change: real,
    says: /the bundle that was sent has SHA-256 '[0-9a-f]{64}', and '.*' was planned with '[0-9a-f]{64}'; was '.*' changed\? plan again/,
  },
  'a bundle for another architecture': {
    plan: async (bed) => {
      const directory = await changedBundle(bed, 'other', (one) => {
        writeFileSync(join(one, 'bin/busybox'), foreignExecutable());
        sealArtifacts(one);
      });
      return bundlePlan(bed, directory);
    },
    change(spec) {
      real(spec);
      // The scheduler would keep it away; the pod's own check is what is tested.
      const terms = spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
      for (const term of terms.nodeSelectorTerms)
        term.matchExpressions = term.matchExpressions.filter((one: any) => one.key !== 'kubernetes.io/arch');
    },
    says: /this node is 'a\w+64', the bundle is for 'a\w+64'/,
  },
  'a bundle for another release of Node': {
    plan: async (bed) =>
      bundlePlan(
        bed,
        await changedBundle(bed, 'release', (one) => writeFileSync(join(one, 'VERSIONS'), 'node=v1.2.3\n')),
      ),
    change: real,
    says: /the artifacts need node 'v1\.2\.3' \(VERSIONS\), and this place has 'v\d+/,
  },
  'a bundle larger than the scratch space of its pod': {
    plan: whole,
    change(spec) {
      real(spec);
      spec.volumes.find((one: any) => one.name === 'bundle').emptyDir = {
        medium: 'Memory',
        sizeLimit: '1Mi',
      };
    },
    says: /the pod could not take the bundle: no space is left for it \(ENOSPC, at ".+"\)/,
  },
  'an account that may not exec': {
    // A namespace of its own, whose user has the grant for images.
    place: async () => undefined,
    plan: whole,
    change: real,
    says: /not allowed to (get|create) pods\/exec.*the README's grants list/,
  },
  'an account that may nothing': {
    place: async (bed) => {
      const token = await makeUser(bed.namespace, 'nobody', []);
      kubeconfigWith(bed.kubeconfig, token);
    },
    says: /not allowed to create jobs.*the README's grants list/,
  },
};
