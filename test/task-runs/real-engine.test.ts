/** A real engine behind `model`: llama.cpp with a model of random weights; fetched, checked, started offline, closed to others, asked by a trial. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { sha256 } from '../../shared/files.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { randomModel } from './random-model.ts';
import { makeRunBed, NAMESPACE, type RunBed } from './run-bed.ts';
import { stageTasks } from './shell-bundle.ts';
import { llamaImage } from './trial-images.ts';

const REVISION = '6'.repeat(40);
const LONG_AGO = '2026-01-02T00:00:00Z';
const DEPLOYMENT = 'k8sbench-model-tiny';

let bed: RunBed;
let staged: string;
const weights = randomModel();

/** A server of the one file, as a hub serves it. */
const hub = (image: string): object[] => [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'weights', namespace: NAMESPACE },
    binaryData: { 'tiny.gguf': weights.toString('base64') },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'weights', namespace: NAMESPACE, labels: { app: 'weights' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'weights',
          image,
          command: ['httpd', '-f', '-p', '8080', '-h', '/www'],
          volumeMounts: [{ name: 'weights', mountPath: `/www/test/tiny/resolve/${REVISION}` }],
        },
      ],
      volumes: [{ name: 'weights', configMap: { name: 'weights' } }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'weights', namespace: NAMESPACE },
    spec: { selector: { app: 'weights' }, ports: [{ port: 8080 }] },
  },
];

const lockOf = (image: string): object => ({
  format: 'models-lock/1',
  engines: {
    'llama.cpp': {
      image,
      version: '3.22.1',
      published: LONG_AGO,
      command: ['node', '/engine/server.mjs', '{model}/tiny.gguf', '{name}', '8000'],
      health: '/health',
    },
  },
  models: {
    tiny: {
      engine: 'llama.cpp',
      hub: `http://weights.${NAMESPACE}.svc:8080`,
      repository: 'test/tiny',
      revision: REVISION,
      published: LONG_AGO,
      contextTokens: 256,
      files: { 'tiny.gguf': { size: weights.length, sha256: sha256(weights) } },
    },
  },
});

const ASK = `timeout 60 wget -qO answer.json --header 'content-type: application/json' --post-data "{\\"model\\":\\"$2\\",\\"max_tokens\\":4,\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"hi\\"}]}" "$1/chat/completions"`;

/** One task: ask the model, and keep what it says. */
const writeTask = (tasks: string): void => {
  const directory = join(tasks, 'ask');
  mkdirSync(join(directory, 'tests'), { recursive: true });
  writeFileSync(join(directory, 'instruction.md'), `${ASK}\n`);
  writeFileSync(
    join(directory, 'tests/test.sh'),
    '#!/bin/sh\nif grep -q \'"choices":\\[{\' /app/answer.json; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
    { mode: 0o755 },
  );
  writeFileSync(
    join(directory, 'task.toml'),
    '[agent]\ntimeout_sec = 90\n[environment]\ndocker_image = "localhost:5000/k8sbench-test/task:1"\ncpus = 0.3\nmemory_mb = 256\nstorage_mb = 512\n',
  );
};

beforeAll(() => {
  bed = makeRunBed('{}');
  const at = (path: string): string => join(bed.directory, path);
  const engine = bed.cluster.push(llamaImage(at('images')), 'k8sbench-test/llama');
  writeFileSync(at('models.lock'), JSON.stringify(lockOf(engine)));
  const task = bed.cluster.kubectl([
    '-n',
    NAMESPACE,
    'get',
    'pod',
    'files',
    '-o',
    'jsonpath={.spec.containers[0].image}',
  ]);
  bed.cluster.kubectl(
    // The weights are larger than the annotation that kubectl otherwise leaves.
    ['apply', '--server-side', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: hub(task) }),
  );
  bed.cluster.kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/warn=restricted']);
  staged = stageTasks(bed, writeTask);
}, 600_000);
// Thousands of files on a disk that others use.
afterAll(() => bed?.remove(), 300_000);

const kubectl = (script: string): string => {
  const { exit, stdout, stderr } = bed.shell(script.replaceAll('KC', `kubectl -n ${NAMESPACE}`));
  if (exit !== 0)
    throw new Error(stderr + stdout + bed.shell(`kubectl -n ${NAMESPACE} describe pods | tail -80`).stdout);
  return stdout;
};

test('the engine waits for its files, and comes with them; nothing of it warns at the restricted level', async () => {
  const parts = bed.done('model', '--model', 'tiny', '--staged', staged).split(/^---\n/m);
  const kindOf = (part: string): string => (parseForeignYaml(part, 'model') as { kind: string }).kind;
  const without = parts.filter((one) => kindOf(one) !== 'Job');
  writeFileSync(join(bed.directory, 'without.yaml'), without.join('---\n'));
  writeFileSync(
    join(bed.directory, 'fetch.yaml'),
    parts.find((one) => kindOf(one) === 'Job')!,
  );
  expect(kubectl('KC apply -f without.yaml 2>&1')).not.toContain('Warning');
  const waits = `for at in $(seq 60); do KC logs deployment/${DEPLOYMENT} -c await-model 2>/dev/null | grep waiting && exit 0; sleep 1; done; exit 1`;
  expect(kubectl(waits)).toContain('"found":null');
  expect(kubectl('KC apply -f fetch.yaml 2>&1')).not.toContain('Warning');
  kubectl('KC wait job -l app.kubernetes.io/component=fetch --for=condition=Complete --timeout=120s');
  kubectl(`KC wait deployment/${DEPLOYMENT} --for=condition=Available --timeout=180s`);
  expect(kubectl(`KC logs deployment/${DEPLOYMENT} -c await-model`)).toContain(
    '{"t":"network","closed":true',
  );
  expect(kubectl(`KC logs deployment/${DEPLOYMENT} -c ready`)).toMatch(/"ready":true,"completion_s":/);
}, 400_000);

test('a pod that is no trial of this model does not reach it', () => {
  const url = `http://${DEPLOYMENT}.${NAMESPACE}.svc:8000/health`;
  // The file server's pod is as good as any.
  const { exit, stdout } = bed.shell(`kubectl -n ${NAMESPACE} exec files -- timeout 8 wget -qO- ${url}`);
  expect({ reached: exit === 0, stdout }).toEqual({ reached: false, stdout: '' });
}, 60_000);

test('a trial asks it', () => {
  const words = ['--model', 'tiny', '--staged', staged, '--arm-settings', 'shell.yaml', '--attempts', '2'];
  bed.done('trials', ...words, '--out', 'asked');
  bed.done('trials', 'apply', '--run', 'asked');
  bed.done('trials', 'collect', '--run', 'asked');
  const lines = readFileSync(join(bed.directory, 'asked/trials.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one) as TrialLine);
  expect(lines.map((one) => one.error ?? one.reward)).toEqual([1, 1]);
}, 300_000);

test('an engine that went away is ready again after another completion', () => {
  const [pod] = JSON.parse(kubectl(`KC get pods -l app.kubernetes.io/instance=${DEPLOYMENT} -o json`)).items;
  bed.killContainer(pod, 'engine');
  const again = `for at in $(seq 90); do [ "$(KC logs deployment/${DEPLOYMENT} -c ready | grep -c completion_s)" -ge 2 ] && exit 0; sleep 1; done; exit 1`;
  kubectl(again);
  kubectl(`KC wait deployment/${DEPLOYMENT} --for=condition=Available --timeout=60s`);
}, 200_000);
