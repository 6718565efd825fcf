/** task.toml as Harbor and Terminal-Bench write it: what a trial needs of it, and what keeps a task from being one. Pure. */
import * as v from 'valibot';
import { usage } from '../../../shared/failure.ts';
import { problemsOf } from '../../../shared/read.ts';

const seconds = v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0, 'expected a number above 0')));
const amount = v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0, 'expected a number above 0')));
const size = v.optional(
  v.pipe(v.string(), v.regex(/^\d+(\.\d+)?\s*[KMGT]i?B?$/i, 'expected a size such as 4G')),
);
const env = v.optional(v.record(v.string(), v.string('expected a text')));

const taskToml = v.looseObject({
  agent: v.optional(v.looseObject({ timeout_sec: seconds, user: v.optional(v.unknown()) }), {}),
  verifier: v.optional(
    v.looseObject({
      timeout_sec: seconds,
      env,
      user: v.optional(v.unknown()),
      environment_mode: v.optional(v.string()),
    }),
    {},
  ),
  environment: v.optional(
    v.looseObject({
      docker_image: v.optional(v.string()),
      cpus: amount,
      memory_mb: amount,
      memory: size,
      storage_mb: amount,
      storage: size,
      gpus: v.optional(v.pipe(v.number(), v.finite())),
      allow_internet: v.optional(v.boolean()),
      network_mode: v.optional(v.string()),
      workdir: v.optional(v.string()),
      os: v.optional(v.string()),
      env,
      mcp_servers: v.optional(v.array(v.unknown())),
    }),
    {},
  ),
  steps: v.optional(v.array(v.unknown())),
});

export interface TaskFacts {
  image: string;
  workdir?: string;
  agent_timeout_s: number;
  verifier_timeout_s: number;
  cpus?: number;
  memory_bytes?: number;
  storage_bytes?: number;
  internet: boolean;
  env?: Record<string, string>;
  verifierEnv?: Record<string, string>;
}

/** Harbor's default for both, s. */
const TIMEOUT_S = 600;

const UNITS: Readonly<Record<string, number>> = { K: 1 << 10, M: 1 << 20, G: 1 << 30, T: 2 ** 40 };

/** Of `4G` and of a number of MiB; the newer field counts. */
const bytes = (mebibytes: number | undefined, text: string | undefined): number | undefined => {
  if (mebibytes !== undefined) return Math.round(mebibytes * 2 ** 20);
  const found = /^([\d.]+)\s*([KMGT])/i.exec(text ?? '');
  return found ? Math.round(Number(found[1]) * UNITS[found[2]!.toUpperCase()]!) : undefined;
};

/** Variables whose values come from whoever runs the task: secrets, which no manifest may hold. */
const fromCaller = (all: Record<string, string> | undefined): string[] =>
  Object.values(all ?? {}).flatMap((text) => text.match(/\$\{?\w+[^}]*\}?/g) ?? []);

/** Why it can't be a trial; empty: it can. */
const reasonsOf = ({ environment, verifier, agent, steps }: v.InferOutput<typeof taskToml>): string[] => {
  const callers = [...fromCaller(environment.env), ...fromCaller(verifier.env)];
  const network = environment.network_mode;
  return [
    ...(environment.docker_image ? [] : ['it has no prebuilt image (environment.docker_image)']),
    ...((environment.gpus ?? 0) > 0
      ? [`it needs ${environment.gpus} GPU${environment.gpus === 1 ? '' : 's'}`]
      : []),
    ...((steps ?? []).length > 0 ? ['it has several steps'] : []),
    ...(verifier.environment_mode === 'separate' ? ['its verifier has an environment of its own'] : []),
    ...((environment.mcp_servers ?? []).length > 0 ? ['it needs MCP servers'] : []),
    ...(environment.os !== undefined && environment.os.toLowerCase() !== 'linux'
      ? [`it is for ${environment.os}`]
      : []),
    ...(agent.user === undefined
      ? []
      : [`its agent runs as another user than the image's (${String(agent.user)})`]),
    ...(verifier.user === undefined
      ? []
      : [`its verifier runs as another user than the image's (${String(verifier.user)})`]),
    ...(callers.length > 0 ? [`it takes ${callers.join(', ')} from its caller`] : []),
    ...(network !== undefined && !/^(public|no-network)$/.test(network)
      ? [`it wants the network '${network}'`]
      : []),
  ];
};

/** What it says, or why it is left out. */
export const readTaskToml = (text: string, shown: string): TaskFacts | { reason: string } => {
  let value: unknown;
  try {
    value = Bun.TOML.parse(text);
  } catch (error) {
    return { reason: `its task.toml is no TOML: ${(error as Error).message}` };
  }
  const problems = problemsOf(taskToml, { value }, shown);
  if (problems.length > 0) return { reason: problems.join('; ') };
  const task = v.parse(taskToml, value);
  const reasons = reasonsOf(task);
  if (reasons.length > 0) return { reason: reasons.join('; ') };
  const { environment, agent, verifier } = task;
  const memory = bytes(environment.memory_mb, environment.memory);
  const storage = bytes(environment.storage_mb, environment.storage);
  const filled = (one: Record<string, string> | undefined): one is Record<string, string> =>
    Object.keys(one ?? {}).length > 0;
  if (!environment.docker_image) throw usage(`${shown}: no image`);
  return {
    image: environment.docker_image,
    ...(environment.workdir === undefined ? {} : { workdir: environment.workdir }),
    agent_timeout_s: agent.timeout_sec ?? TIMEOUT_S,
    verifier_timeout_s: verifier.timeout_sec ?? TIMEOUT_S,
    ...(environment.cpus === undefined ? {} : { cpus: environment.cpus }),
    ...(memory === undefined ? {} : { memory_bytes: memory }),
    ...(storage === undefined ? {} : { storage_bytes: storage }),
    internet: environment.allow_internet ?? environment.network_mode !== 'no-network',
    ...(filled(environment.env) ? { env: environment.env } : {}),
    ...(filled(verifier.env) ? { verifierEnv: verifier.env } : {}),
  };
};
