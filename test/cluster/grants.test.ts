/** The READMEs' grants verb by verb: with all of them everything works (the other tests), without any one of them something named does not. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunDirectory } from '../../shared/rundir.ts';
import { main as pickNodes } from '../../tools/pick-nodes/main.ts';
import { runTool } from '../outside.ts';
import { reachesKubelets } from './bad-servers.ts';
import { apply, kubectl, real, small } from './fault.ts';
import { until } from './processes.ts';
import { makeArtifacts } from './session-image.ts';
import {
  type Bed,
  type Ended,
  grants,
  jobOf,
  makeBed,
  planned,
  type Right,
  rightsIn,
  type Rule,
  session,
  start,
  untilNothingIsLeft,
  without,
} from './session-runs.ts';
import { sideBySide } from './side-by-side.ts';
import { admin, node1, ownDirectory, scratch, untilAllowed } from './the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

const files = scratch();
const bundle = join(files.path, 'bundle');
await makeArtifacts(bundle);
afterAll(() => files.remove());

const all = grants();
const of = (bed: Bed, delivery: string, change: (manifest: any) => void = small) =>
  planned(bed, {
    ...(delivery === 'bundle' ? { words: ['--bundle', bundle, '--base-image', bed.images.base] } : {}),
    change(manifest) {
      change(manifest);
      real(manifest.spec.template.spec);
    },
  });

/** The session of a user who may not list events: nobody says why no pod comes. */
const withoutEvents = async (bed: Bed, delivery: string): Promise<Ended> => {
  const run = await of(bed, delivery, (manifest) => void delete small(manifest).securityContext.runAsNonRoot);
  const process = start(bed, ['--run', run.name, '--settle', '60s']);
  await until('that it can not tell', () => process.said().includes('events'));
  process.kill('SIGINT');
  return process.ended;
};

/** Back to the moment at which the Job's creation was not answered: it must be found. */
const forgetJob = async (bed: Bed, run: RunDirectory): Promise<void> => {
  expect((await session(bed, run, '--detach')).exit).toBe(0);
  const { job: _job, pod: _pod, ...before } = jobOf(run);
  writeFileSync(run.file('job.json'), JSON.stringify({ ...before, timeline: before.timeline.slice(0, 1) }));
};

/** Exec over WebSocket goes by `get`, and from Kubernetes 1.35 on by `create`, too. */
const countsHere = async ({ verb, resource }: Right): Promise<boolean> =>
  resource !== 'pods/exec' || verb === 'get' || (await admin.version()).minor >= 35;

const tryWithout = async (delivery: string, right: Right): Promise<void> => {
  const { verb, resource } = right;
  const bed = await makeBed('grant', without(all.get(`k8sbench-${delivery}`)!, right));
  try {
    let ended: Ended;
    if (resource === 'events') ended = await withoutEvents(bed, delivery);
    else {
      const run = await of(bed, delivery);
      if (verb === 'get' && resource === 'jobs') await forgetJob(bed, run);
      ended = await session(bed, run, '--settle', '4s');
      if (!(await countsHere(right))) return expect(ended.exit).toBe(0);
      // One that can't be found again, or not be deleted, is left to its time to live.
      if (!['get jobs', 'delete jobs'].includes(nameOf(right))) await untilNothingIsLeft(bed, run);
    }
    expect([ended.exit, ended.stdout]).toEqual([resource === 'events' ? 130 : 1, '']);
    expect(ended.stderr).toMatch(new RegExp(`not allowed to ${verb} ${resource}.*the README's grants list`));
    return undefined;
  } finally {
    await bed.remove();
  }
};

const nameOf = ({ verb, resource }: Right): string => `${verb} ${resource}`;
const rows = ['image', 'bundle'].flatMap((delivery) =>
  rightsIn(all.get(`k8sbench-${delivery}`)!).map((right) => ({ delivery, ...right })),
);
sideBySide(
  "delivery 'image' and 'bundle' without one verb of their grant",
  Object.fromEntries(
    rows.map((row) => [`${row.delivery} ${nameOf(row)}`, () => tryWithout(row.delivery, row)]),
  ),
  4,
);

/** Gives a bed's user rights in the whole cluster; the function that is given takes them away. */
const everywhere = async (bed: Bed, rules: readonly Rule[]): Promise<() => void> => {
  const [metadata, api] = [{ name: `k8sbench-${bed.namespace}` }, 'rbac.authorization.k8s.io/v1'];
  const remove = apply(
    { apiVersion: api, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: api,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', ...metadata },
      subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: bed.namespace }],
    },
  );
  const config = JSON.parse(readFileSync(bed.kubeconfig, 'utf8'));
  for (const { verb, resource } of rightsIn(rules)) {
    const [name, subresource] = resource.split('/');
    await untilAllowed(config.users[0].user.token, {
      verb,
      resource: name!,
      ...(subresource ? { subresource } : {}),
    });
  }
  return remove;
};

/**
 * What the kubelet of a session's node says, as far as this API server hands it on to anybody: one whose nodes have addresses
 * of its own machine refuses to (`address not allowed`), and the session must then say just that.
 */
const kubeletsWord = async (): Promise<{ missing: string[]; cpuManagerPolicy?: string }> => {
  if (ownDirectory !== undefined) return { missing: [], cpuManagerPolicy: 'none' };
  try {
    const { kubeletconfig } = JSON.parse(kubectl(['get', '--raw', `/api/v1/nodes/${node1}/proxy/configz`]));
    return { missing: [], cpuManagerPolicy: kubeletconfig.cpuManagerPolicy };
  } catch (error) {
    const [said] = /address not allowed|[^:]+$/.exec((error as Error).message.trim())!;
    const path = `nodes/proxy/configz '${node1}'`;
    return { missing: [`kubelet configuration: can't get ${path}: ${said.trim()}`] };
  }
};

/** What a user with these rights in the whole cluster gets of picking nodes, and of a session's cluster.json. */
const seenBy = async (rules: readonly Rule[], ...words: string[]) => {
  const bed = await makeBed('reads');
  const remove = await everywhere(bed, rules);
  try {
    const picked = await runTool(
      pickNodes,
      ['--namespace', bed.namespace, '--cpus', '1', '--memory', '64Mi', '--json'],
      { cwd: bed.directory, env: { KUBECONFIG: bed.kubeconfig } },
    );
    if (words.length > 0 && ownDirectory !== undefined) bed.kubeconfig = reachesKubelets(bed);
    const run = await of(bed, 'image');
    const ended = await session(bed, run, ...words);
    const cluster = JSON.parse(readFileSync(run.file('cluster.json'), 'utf8'));
    return { picked, exit: ended.exit, missing: cluster.missing as string[], node: cluster.node };
  } finally {
    remove();
    await bed.remove();
  }
};

describe('the grant of cluster reads', () => {
  const reads = all.get('k8sbench-cluster-reads')!;
  test('with all of it', async () => {
    const { picked, exit, missing, node } = await seenBy(reads);
    expect([exit, missing]).toEqual([0, []]);
    expect(node.info.operatingSystem).toBe('linux');
    expect(JSON.parse(picked.stdout).basis).toBe('cluster');
  });

  const LOST: Readonly<Record<string, (seen: Awaited<ReturnType<typeof seenBy>>) => void>> = {
    'get nodes': ({ missing }) => expect(missing).toEqual(['node: not allowed']),
    'list nodes': ({ picked }) => {
      expect([picked.exit, picked.stdout]).toEqual([2, '']);
      expect(picked.stderr).toContain("the account can't list nodes; name candidates with '--nodes a,b,…'");
    },
    'list pods': ({ picked }) => {
      expect(JSON.parse(picked.stdout).basis).toBe('namespace');
      expect(picked.stderr).toContain("others' requests are not counted");
    },
  };
  test('every verb of it is here', () =>
    expect(Object.keys(LOST).toSorted()).toEqual(rightsIn(reads).map(nameOf).toSorted()));
  sideBySide(
    'without',
    Object.fromEntries(
      rightsIn(reads).map((right) => [
        nameOf(right),
        async () => LOST[nameOf(right)]!(await seenBy(without(reads, right))),
      ]),
    ),
    3,
  );

  test("the kubelet's own word is asked for only when it is wanted, and needs its own grant", async () => {
    const kubelet = all.get('k8sbench-kubelet-config')!;
    const [granted, refused, silent] = await Promise.all([
      seenBy([...reads, ...kubelet], '--read-kubelet-config'),
      seenBy(reads, '--read-kubelet-config'),
      seenBy([...reads, ...kubelet]),
    ]);
    const { missing, cpuManagerPolicy } = await kubeletsWord();
    expect([granted.exit, granted.missing, granted.node.cpuManagerPolicy]).toEqual([
      0,
      missing,
      cpuManagerPolicy,
    ]);
    expect([refused.exit, refused.missing]).toEqual([0, ['kubelet configuration: not allowed']]);
    expect([silent.missing, silent.node.cpuManagerPolicy]).toEqual([[], undefined]);
  }, 120_000);
});
