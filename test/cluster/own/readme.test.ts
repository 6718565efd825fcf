/**
 * Runs the examples of README.md's chapter about clusters, as the user whom its grant names, in a restricted namespace.
 * K8SBENCH_WRITE=1 writes what they print into the document instead of comparing. The chapter before makes their bundle.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseForeignYaml } from '../../../shared/yaml.ts';
import {
  CLUSTER_CHAPTER,
  comparable,
  type Example,
  examplesOf,
  isRefused,
  withOutputs,
} from '../../readme/examples.ts';
import { holderOf } from '../../../tools/preflight/holders.ts';
import { kubeBinary } from '../kube-binary.ts';
import { until } from '../processes.ts';
import { sessionImages } from '../session-image.ts';
import { grants, type Rule } from '../session-runs.ts';
import { admin, kubeconfig, ownDirectory, scratch } from '../the-cluster.ts';

const root = resolve(import.meta.dir, '../../..');
const path = join(root, 'README.md');
const document = readFileSync(path, 'utf8');
const NAMESPACE = 'bench';
const BUNDLE_CHAPTER = 'Your own program, as a bundle';
/** For one command. */
const PATIENCE_MS = 120_000;

const isOurs = ({ chapter }: Example): boolean => chapter === CLUSTER_CHAPTER;
const examples = examplesOf(document).filter(isOurs);
const chapter = document.split(/^(?=## )/m).find((one) => one.startsWith(`## ${CLUSTER_CHAPTER}\n`)) ?? '';
/** Its files: blocks that begin with their name. */
const files = new Map(
  [...chapter.matchAll(/^```yaml\n(# (\S+\.yaml)\b[\s\S]*?)^```/gm)].map((one) => [one[2]!, one[1]!]),
);
const documents = (name: string): any[] =>
  (files.get(name) ?? '').split(/^---$/m).map((one) => parseForeignYaml(one, name));
/** The base image by the name that the document gives it. */
const namedImage = /^baseImage: (\S+)/m.exec(files.get('values.local.yaml') ?? '')?.[1] ?? '';

const home = scratch();
const work = join(home.path, 'work');
let baseImage = '';

const run = (command: string): { exit: number; printed: string } => {
  const done = Bun.spawnSync(['bash', '-o', 'pipefail', '-c', `exec 2>&1\n${command}`], {
    cwd: work,
    stdin: 'ignore',
    timeout: PATIENCE_MS,
    env: {
      ...process.env,
      PATH: `${join(home.path, 'bin')}:${process.env['PATH']}`,
      HOME: home.path,
      KUBECONFIG: join(home.path, 'kubeconfig'),
      K8SBENCH_VALUES: undefined,
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'reader',
      GIT_CONFIG_KEY_1: 'user.email',
      GIT_CONFIG_VALUE_1: 'reader@example.com',
    },
  });
  const printed = done.stdout.toString().replaceAll(home.path, '~').replaceAll(baseImage, namedImage);
  return { exit: done.exitCode, printed };
};

/** A kubeconfig of the administrator's who acts as the user of the grant. */
const kubeconfigAs = (name: string): string => {
  const config = parseForeignYaml(readFileSync(kubeconfig, 'utf8'), kubeconfig) as any;
  for (const one of config.users) one.user = { ...one.user, as: name };
  return JSON.stringify(config);
};

/** A program of the document's PATH. */
const script = (name: string, ...words: string[]): void =>
  writeFileSync(join(home.path, 'bin', name), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });

beforeAll(async () => {
  baseImage = (await sessionImages(ownDirectory!)).base;
  for (const one of ['bin', 'work']) mkdirSync(join(home.path, one));
  symlinkSync(join(root, 'tools/k8sbench/main.ts'), join(home.path, 'bin/k8sbench'));
  symlinkSync(process.execPath, join(home.path, 'bin/bun'));
  script('kubectl', kubeBinary(), 'kubectl', '--kubeconfig', kubeconfig);
  const binding = documents('grant.yaml').find((one) => one.kind === 'RoleBinding');
  writeFileSync(join(home.path, 'kubeconfig'), kubeconfigAs(binding.subjects[0].name));
  for (const [name, text] of files) writeFileSync(join(work, name), text.replaceAll(namedImage, baseImage));
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await admin.create('namespaces', {}, { metadata: { name: NAMESPACE, labels } });
  await until('its service account', async () =>
    (await admin.list<any>('serviceaccounts', { namespace: NAMESPACE })).some(
      (one) => one.metadata.name === 'default',
    ),
  );
  // Kubelets look for new images every 30 s; a reader's nodes have had theirs for longer.
  await until(
    'the nodes to tell of their base image',
    async () => (await admin.list<any>('nodes', {})).every(holderOf(baseImage)),
    90_000,
  );
  for (const { command } of examplesOf(document)
    .filter((one) => one.chapter === BUNDLE_CHAPTER)
    .flatMap((one) => one.commands)) {
    const { exit, printed } = run(command);
    if (exit !== 0) throw new Error(`'${command}' ended with ${exit}: ${printed}`);
  }
}, 120_000);
afterAll(async () => {
  run('kubectl delete -f grant.yaml');
  run(`kubectl delete namespace ${NAMESPACE} --wait=false`);
  home.remove();
});

const outputs: string[][][] = [];

test('there are examples, with their files', () => {
  expect(examples.length).toBeGreaterThan(3);
  expect([...files.keys()]).toEqual(['grant.yaml', 'values.local.yaml']);
});

test("its grant is run-session's", () => {
  const rules = new Map(
    documents('grant.yaml')
      .filter((one) => one.kind.endsWith('Role'))
      .map((one): [string, Rule[]] => [one.kind, one.rules]),
  );
  expect(rules.get('Role')).toEqual(grants().get('k8sbench-bundle')!);
  expect(rules.get('ClusterRole')).toEqual(grants().get('k8sbench-cluster-reads')!);
});

test.each(examples.map((one, at) => [at + 1, one.commands[0]!.command.split('\n')[0]!, one] as const))(
  'example %i: %s',
  async (_, __, example) => {
    const printed: ReturnType<typeof run>[] = [];
    for (const { command } of example.commands) {
      const done = run(command);
      expect({ command, ...done }).toMatchObject({ exit: done.exit === 3 ? 3 : 0 });
      printed.push(done);
      // The API server reads new bindings a moment after they were made.
      if (command.startsWith('kubectl apply')) await Bun.sleep(1000);
    }
    outputs.push(
      printed.map((one) => (one.printed === '' ? [] : one.printed.replace(/\n$/, '').split('\n'))),
    );
    if (process.env['K8SBENCH_WRITE']) return;
    for (const [at, { printed: now }] of printed.entries()) {
      const written = example.commands[at]!.printed.join('\n');
      const [found, wanted] = comparable(now, written);
      expect(found).toBe(wanted);
      if (isRefused(now) !== isRefused(written)) break;
    }
  },
  3 * PATIENCE_MS,
);

afterAll(() => {
  if (!process.env['K8SBENCH_WRITE'] || outputs.length !== examples.length) return;
  // Read again: the rest may have been edited in these minutes.
  writeFileSync(path, withOutputs(readFileSync(path, 'utf8'), outputs, isOurs));
});
