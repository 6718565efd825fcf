/** The profiles of coding agents: one shape for each question, an agent's name for each reference. */
import type { Metric, Profile, Target } from '../../schemas/profile.ts';

/** Agents whose settings come with k8sbench, in the order in which they are candidates. */
const AGENTS = ['pi', 'codex', 'opencode'] as const;
/** Those whose settings can write a session down; `pi-regular` is pi with its other kind of terminal interface. */
const WITH_SESSIONS = ['pi', 'codex', 'pi-regular'] as const;
type Agent = (typeof AGENTS)[number] | (typeof WITH_SESSIONS)[number];

/** Settings → the arm of a bundle that they start. */
const armOf = (agent: Agent): string => (agent === 'pi-regular' ? 'pi' : agent);

const time = (key: string, more: Partial<Metric> = {}): Metric => ({
  key,
  unit: 'ms',
  better: 'lower',
  gated: false,
  pooled: false,
  signed: false,
  ...more,
});
const memory = (key: string): Metric => time(key, { unit: 'MiB' });
const shares = (prefix: string, ...more: string[]): Metric[] =>
  ['Rss', ...more, 'Pss', 'Anonymous'].map((one) => memory(`${prefix}${one}`));
/** Of the harness itself: its model's own time, the longest time between two looks, its CPU time over the sample. */
const harness = ['modelTime', 'modelTimeMax', 'lookGapMax', 'harnessCpu'].map((key) => time(key));
const request = [
  { ...time('requestBytes'), unit: 'bytes' },
  { ...time('requestMessages'), unit: 'messages' },
];

/** What every scenario measures of its process tree. */
const processOf = (key: string): Metric[] => [
  time(`${key}Wall`),
  time(`${key}Cpu`),
  time(`${key}ExactCpu`),
  memory(`${key}Rss`),
];

const words = (step: 'seed' | 'sample', agent: Agent, ...more: string[]): string[] => [
  'node',
  '{root}/lib/agent/main.ts',
  step,
  '--agent',
  `{root}/lib/agent/settings/${agent}.json`,
  '--arm',
  `{root}/arms/${armOf(agent)}`,
  '--dir',
  '{dir}',
  '--turns',
  '{turns}',
  ...more,
];

const target = (agent: Agent, role: Target['role'], ...more: string[]): Target => ({
  name: agent,
  role,
  seed: words('seed', agent, ...more),
  seedMeta: '{dir}/seed.json',
  sample: words('sample', agent, ...more),
});

/** The reference first, then every other agent as a candidate, each with a history of its own. */
const targetsOf = (rule: string, reference: Agent, agents: readonly Agent[], ...more: string[]): Target[] => [
  target(reference, 'reference', ...more),
  ...agents
    .filter((one) => one !== reference)
    .map((one) => ({ ...target(one, 'candidate', ...more), rule: `${rule}-${one}` })),
];

/** Digest of the work at each size, which shared/workloads/lib/agent/definition.ts defines. */
const OVERHEAD_PINS = { 2: 'a7778ec44266b4db', 8: '46840af0fdc36f73', 32: '19ee6e7b9c092380' };

/** Of long sessions; shared/workloads/lib/agent/long.ts defines them. */
const CONTEXT_PINS = {
  20000: '8805f350ad06bfef',
  100000: '93bcd3786f3c51f9',
  1000000: '3443af996d78dbff',
  4000000: '5e499f5f464b6d29',
};
const ENTRIES_PINS = { 1000: '157d760f931718da', 10000: 'eeaed071314ac3ed' };
const HISTORY_PINS = { 20000: 'fecc8abb3759ab16', 1000000: '9e1793ffe9899af6', 3000000: '0816e9ca141fb80c' };

const overhead = (agent: Agent): Profile => ({
  name: `overhead-${agent}`,
  rule: `overhead-${agent}`,
  about: `what a coding agent costs on its own, against a scripted model that answers at once: N rounds of one tool call; reference ${agent}`,
  fingerprints: OVERHEAD_PINS,
  targets: targetsOf(`overhead-${agent}`, agent, AGENTS),
  metrics: [
    ...['version', 'firstPrint', 'print', 'printTools'].flatMap(processOf),
    time('rpcReady'),
    time('rpcReadyCpu'),
    time('rpcPrompt', { pooled: true }),
    time('rpcPromptCpu', { pooled: true }),
    ...shares('rpc', 'RestRss'),
    ...['ptyFirst', 'ptySettled', 'ptySettledCpu'].map((key) => time(key)),
    time('ptyKey', { pooled: true }),
    ...['ptyToModel', 'ptyToScreen', 'ptyPromptCpu', 'ptyQuit'].map((key) => time(key)),
    ...shares('pty', 'RestRss'),
    ...request,
    { ...time('sideRequests'), unit: 'requests' },
    { ...time('foreignHosts'), unit: 'hosts' },
    ...harness,
  ],
  turns: [8],
  // Which others it takes depends on the candidates; their directories are asked for by name.
  needs: [`arm-${armOf(agent)}`],
});

const long = (
  name: string,
  workload: string,
  about: string,
  turns: number[],
  fingerprints: Profile['fingerprints'],
  metrics: Metric[],
): Profile => ({
  name,
  rule: name,
  about,
  fingerprints,
  targets: targetsOf(name, 'pi', WITH_SESSIONS, '--workload', workload),
  metrics: [...metrics, ...harness],
  turns,
  needs: ['arm-pi'],
});

const SCALE_METRICS = [
  time('firstText'),
  time('key', { pooled: true }),
  ...shares('resumed'),
  ...shares('after'),
  time('quit'),
  ...request,
];

const HISTORY_METRICS = [
  time('rpcResume'),
  time('rpcResumeCpu'),
  ...shares('rpc', 'RestRss'),
  ...request,
  ...['ptyFirst', 'ptySettled', 'ptySettledCpu'].map((key) => time(key)),
  time('keyIdle', { pooled: true }),
  time('keyStreaming', { pooled: true }),
  time('prompt'),
  time('promptCpu'),
  { ...time('streamFrames'), unit: 'frames' },
  { ...time('streamBytes'), unit: 'bytes' },
  time('streamBehind'),
  time('redrawWidth'),
  { ...time('redrawWidthBytes'), unit: 'bytes' },
  time('redrawHeight'),
  { ...time('redrawHeightBytes'), unit: 'bytes' },
  ...shares('pty', 'RestRss'),
  time('ptyQuit'),
  time('resume'),
  time('resumeCpu'),
];

export const AGENT_PROFILES: readonly Profile[] = [
  ...AGENTS.map(overhead),
  long(
    'session-scale-context',
    'context',
    'a session of N tokens in few long turns is resumed in the terminal interface and answers five prompts',
    [100_000],
    CONTEXT_PINS,
    SCALE_METRICS,
  ),
  long(
    'session-scale-entries',
    'entries',
    'a session of N short entries is resumed in the terminal interface and answers five prompts',
    [1000],
    ENTRIES_PINS,
    SCALE_METRICS,
  ),
  long(
    'long-history',
    'history',
    'a session of N history tokens, compacted after each million when it has more: RPC mode, terminal, resumed from within the terminal',
    [1_000_000],
    HISTORY_PINS,
    HISTORY_METRICS,
  ),
];
