/** Everything that a task-completion run needs in a cluster, made by the programs themselves: locked tasks, a staged bundle, a model that answers. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { git } from '../bundle/source-tree.ts';
import { run } from '../cluster/kube-binary.ts';
import { nodeImage, scriptedImage, taskImage } from './trial-images.ts';
import { type ServicesCluster, servicesCluster } from './services-cluster.ts';

const top = resolve(import.meta.dir, '../..');
export const NAMESPACE = 'task-runs';
export const MODEL = 'scripted';
/** Any commit will do: the file server has one revision. */
const REVISION = '5'.repeat(40);
const LONG_AGO = '2026-01-02T00:00:00Z';

export interface Ended {
  exit: number;
  stdout: string;
  stderr: string;
}

export interface RunBed {
  cluster: ServicesCluster;
  directory: string;
  /** `k8sbench TOOL …` in the bed's directory. */
  tool(...words: string[]): Ended;
  /** The same; one that fails throws with what it said. */
  done(...words: string[]): string;
  /** A shell with kubectl and k8sbench on its PATH. */
  shell(script: string): Ended;
  /** Kills a container of a pod, as it is in the API, from outside: nobody in it can kill its first process. */
  killContainer(pod: any, name: string): void;
  remove(): void;
}

const ofFixture = (name: string): string =>
  readFileSync(join(top, 'fixtures/bundles', name, 'bundle.yaml'), 'utf8');

/** The two agents of the fixtures and the Node that runs them. */
const recipe = (): string =>
  ofFixture('agents').trimEnd() +
  '\n' +
  ofFixture('workloads').slice(ofFixture('workloads').indexOf('  - kind: node'));

const repository = (directory: string, fill: () => void): void => {
  mkdirSync(directory);
  fill();
  git(directory, 'init', '-q', '-b', 'main');
  git(directory, 'add', '-A');
  git(directory, 'commit', '-qm', 'all');
};

export const claim = (name: string, volume: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    storageClassName: '',
    volumeName: volume,
    accessModes: ['ReadWriteMany'],
    resources: { requests: { storage: '2Gi' } },
  },
});

/** A server of one repository's files, as a hub serves them. */
const fileServer = (image: string, script: string): object[] => {
  const labels = { app: 'files' };
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'files', namespace: NAMESPACE },
      data: { 'script.json': script },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'files', namespace: NAMESPACE, labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        containers: [
          {
            name: 'files',
            image,
            command: ['httpd', '-f', '-p', '8080', '-h', '/www'],
            volumeMounts: [{ name: 'files', mountPath: `/www/test/scripted/resolve/${REVISION}` }],
          },
        ],
        volumes: [{ name: 'files', configMap: { name: 'files' } }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'files', namespace: NAMESPACE },
      spec: { selector: labels, ports: [{ port: 8080 }] },
    },
  ];
};

const modelsLock = (engine: string, script: string): object => ({
  format: 'models-lock/1',
  engines: {
    scripted: {
      image: engine,
      version: '1',
      published: LONG_AGO,
      command: [
        'node',
        '/engine/scripted-model/main.ts',
        '--script',
        '{model}/script.json',
        '--host',
        '0.0.0.0',
        '--port',
        '8000',
      ],
      health: '/health',
    },
  },
  models: {
    [MODEL]: {
      engine: 'scripted',
      hub: `http://files.${NAMESPACE}.svc:8080`,
      repository: 'test/scripted',
      revision: REVISION,
      published: LONG_AGO,
      contextTokens: 32768,
      files: { 'script.json': { size: Buffer.byteLength(script), sha256: sha256(script) } },
    },
  },
});

/** Files that the steps read, in a directory of their own. */
const writeFiles = (directory: string, images: { node: string; engine: string }, script: string): void => {
  const values = {
    namespace: NAMESPACE,
    baseImage: images.node,
    gpu: { serverCpus: 1, serverMemory: '512Mi', modelPVC: 'models', trialPVC: 'trials' },
  };
  writeFileSync(join(directory, 'values.local.yaml'), formatYaml(values));
  writeFileSync(join(directory, 'models.lock'), JSON.stringify(modelsLock(images.engine, script), null, 2));
  repository(join(directory, 'dataset'), () =>
    cpSync(join(top, 'fixtures/trials/tasks'), join(directory, 'dataset/tasks'), { recursive: true }),
  );
  repository(join(directory, 'recipe'), () => {
    for (const name of ['arms.lock', 'codex', 'pi'])
      cpSync(join(top, 'fixtures/bundles/agents', name), join(directory, 'recipe', name), {
        recursive: true,
      });
    writeFileSync(join(directory, 'recipe/bundle.yaml'), recipe());
  });
};

const kubectlOn = (directory: string, cluster: ServicesCluster): string => {
  const path = join(directory, 'bin');
  mkdirSync(path);
  writeFileSync(
    join(path, 'kubectl'),
    `#!/bin/sh\nexec '${cluster.directory}/kube' kubectl --kubeconfig '${cluster.kubeconfig}' "$@"\n`,
    { mode: 0o755 },
  );
  symlinkSync(join(top, 'tools/k8sbench/main.ts'), join(path, 'k8sbench'));
  symlinkSync(process.execPath, join(path, 'bun'));
  return path;
};

/** A cluster with all of it but the run's own Jobs; `script` is what the model says. */
export const makeRunBed = (script: string): RunBed => {
  const cluster = servicesCluster();
  const directory = mkdtempSync(join(tmpdir(), 'k8sbench-task-run-'));
  const bin = kubectlOn(directory, cluster);
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env['PATH']}`,
    KUBECONFIG: cluster.kubeconfig,
    NO_COLOR: '1',
  };
  const start = (words: string[]): Ended => {
    const { status, stdout, stderr } = spawnSync(words[0]!, words.slice(1), {
      cwd: directory,
      encoding: 'utf8',
      env,
      maxBuffer: 1 << 28,
    });
    return { exit: status ?? -1, stdout, stderr };
  };
  const program = join(top, 'tools/k8sbench/main.ts');
  const tool = (...words: string[]): Ended => start([process.execPath, program, ...words]);
  const checked = (what: string, ended: Ended): string => {
    if (ended.exit !== 0)
      throw new Error(`${what} ended with ${ended.exit}:\n${ended.stderr}${ended.stdout}`);
    return ended.stdout;
  };
  const done = (...words: string[]): string => checked(words.join(' '), tool(...words));
  const shell = (text: string): Ended => start(['bash', '-eo', 'pipefail', '-c', text]);
  const bed: RunBed = {
    cluster,
    directory,
    tool,
    done,
    shell,
    killContainer(pod, name) {
      const { containerID } = pod.status.containerStatuses.find((one: any) => one.name === name);
      const socket = join(cluster.directory, pod.spec.nodeName, 'containerd.sock');
      const id = containerID.replace(/^.*\//, '');
      run(['ctr', '-a', socket, '-n', 'k8s.io', 'tasks', 'kill', '-s', 'SIGKILL', id]);
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
  const push = (archive: string, name: string): string => cluster.push(archive, `k8sbench-test/${name}`);
  const work = join(directory, 'images');
  mkdirSync(work);
  const images = {
    task: push(taskImage(work), 'task'),
    node: push(nodeImage(work), 'node'),
    engine: push(scriptedImage(work), 'scripted'),
  };
  writeFiles(directory, images, script);
  for (const name of ['models', 'trials']) cluster.volume(name, '2Gi');
  cluster.resource('node-2', 'nvidia.com/gpu', 1);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  const objects = [
    namespace,
    claim('models', 'models'),
    claim('trials', 'trials'),
    ...fileServer(images.task, script),
  ];
  cluster.kubectl(['apply', '-f', '-'], objects.map((one) => formatYaml(one)).join('---\n'));
  return bed;
};
