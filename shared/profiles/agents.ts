/** The profiles of coding agents: one shape for each question, an agent's name for each reference. */
import type { Metric, Profile, Target } from '../../schemas/profile.ts';

/** Agents whose settings come with k8sbench, in the order in which they are candidates. */
const AGENTS = ['pi', 'codex', 'opencode'] as const;
type Agent = (typeof AGENTS)[number];

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
  `{root}/arms/${agent}`,
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
    memory('rpcRss'),
    ...['ptyFirst', 'ptySettled', 'ptySettledCpu'].map((key) => time(key)),
    time('ptyKey', { pooled: true }),
    ...['ptyToModel', 'ptyToScreen', 'ptyPromptCpu', 'ptyQuit'].map((key) => time(key)),
    ...['ptyRss', 'ptyPss', 'ptyAnonymous'].map(memory),
    { ...time('requestBytes'), unit: 'bytes' },
    { ...time('requestMessages'), unit: 'messages' },
    { ...time('sideRequests'), unit: 'requests' },
    { ...time('foreignHosts'), unit: 'hosts' },
    time('modelTime'),
    time('modelTimeMax'),
  ],
  needs: ['agents'],
});

export const AGENT_PROFILES: readonly Profile[] = AGENTS.map(overhead);
