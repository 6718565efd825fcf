/** What is asked for: from a run directory, or from values file, environment and flags. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { run as runSchema } from '../../schemas/run.ts';
import { dnsSubdomain, quantity, type Values, values as valuesSchema } from '../../schemas/values.ts';
import { usage } from '../../shared/failure.ts';
import { readWhole } from '../../shared/flags.ts';
import { check, readText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { World } from '../../shared/world.ts';
import { parseYaml } from '../../shared/yaml.ts';
import type { PickFlags } from './flags.ts';
import type { Wanted } from './ranking.ts';

export interface Asked {
  wanted: Wanted;
  values: Pick<Values, 'kubeconfig' | 'kubeContext' | 'namespace'>;
}

const wantedOf = (
  values: Pick<Values, 'cpus' | 'memory' | 'nodeSelector' | 'tolerations'>,
  count: number,
): Wanted => ({
  cpus: values.cpus,
  memory: values.memory,
  selector: values.nodeSelector ?? {},
  tolerations: values.tolerations ?? [],
  count,
});

/** Flags that say what a run directory says already. */
const SETTINGS = [
  'values',
  'kubeconfig',
  'context',
  'namespace',
  'cpus',
  'memory',
  'arch',
  'node-selector',
  'nodes',
  'spread',
] as const;

/** From run.json and values.json. */
export const askedOfRun = (run: RunDirectory, flags: PickFlags): Asked => {
  const surplus = SETTINGS.filter((name) => flags[name] !== undefined);
  if (surplus.length > 0)
    throw usage(
      surplus.map(
        (name) => `'--run' and '--${name}' exclude each other: the run was planned with its own settings`,
      ),
    );
  const about = run.json('run.json', runSchema);
  if (about.delivery === 'local') throw usage(`'${run.shown}' is a local run: it runs on this machine`);
  if (about.parent !== undefined)
    throw usage(`'${run.shown}' is a part of run '${about.parent}'; nodes are picked for that one`);
  const values = run.json('values.json', valuesSchema);
  const { nodes, pickNode, spread = 1, arch } = about;
  return {
    values,
    wanted: {
      ...wantedOf(values, spread),
      ...(nodes ? { candidates: nodes } : {}),
      ...(nodes && !pickNode ? { exactly: true, count: nodes.length } : {}),
      ...(arch === undefined ? {} : { arch }),
      deadline_s: values.deadlineSeconds,
    },
  };
};

/** Read when no other is named. */
const LOCAL_VALUES = 'values.local.yaml';
const VARIABLES = {
  kubeContext: 'K8SBENCH_CONTEXT',
  namespace: 'K8SBENCH_NAMESPACE',
  memory: 'K8SBENCH_MEMORY',
} as const;

/** From flags, environment and values file, in this order (spec §1). */
export const askedOfFlags = (flags: PickFlags, world: World): Asked => {
  const named = flags.values ?? (world.env['K8SBENCH_VALUES'] || undefined);
  const file = named ?? (existsSync(resolve(world.cwd, LOCAL_VALUES)) ? LOCAL_VALUES : undefined);
  const text = file ? readText(resolve(world.cwd, file), file) : '';
  const placed = file ? parseYaml(text, file) : { value: {} };
  const fromFile = check(
    valuesSchema,
    placed.value === undefined ? { value: {} } : placed,
    file ?? 'values',
    usage,
  );
  const fromEnvironment: Partial<Values> = {};
  for (const [key, variable] of Object.entries(VARIABLES))
    if (world.env[variable]) fromEnvironment[key as keyof typeof VARIABLES] = world.env[variable];
  const cpus = world.env['K8SBENCH_CPUS'];
  if (cpus) {
    const read = readWhole(cpus, { min: 1 });
    if (!read.ok) throw usage(`$K8SBENCH_CPUS: expected ${read.expected}, found '${cpus}'`);
    fromEnvironment.cpus = read.value;
  }
  const values: Values = {
    ...fromFile,
    ...fromEnvironment,
    ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { kubeContext: flags.context }),
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...(flags.cpus === undefined ? {} : { cpus: flags.cpus }),
    ...(flags.memory === undefined ? {} : { memory: flags.memory }),
    ...(flags['node-selector'] === undefined ? {} : { nodeSelector: flags['node-selector'] }),
  };
  const problems: string[] = [];
  if (!v.is(quantity, values.memory))
    problems.push(`memory: expected a quantity such as 8Gi, found '${values.memory}'`);
  for (const name of flags.nodes ?? [])
    if (!v.is(dnsSubdomain, name)) problems.push(`flag '--nodes': '${name}' is not a node's name`);
  const count = flags.spread ?? 1;
  if (flags.nodes && count > flags.nodes.length)
    problems.push(
      `flag '--spread': ${count} nodes of ${flags.nodes.length} named with '--nodes'; name more, or spread less`,
    );
  if (problems.length > 0) throw usage(problems);
  return {
    values,
    wanted: {
      ...wantedOf(values, count),
      ...(flags.nodes ? { candidates: flags.nodes } : {}),
      ...(flags.arch === undefined ? {} : { arch: flags.arch }),
      deadline_s: values.deadlineSeconds,
    },
  };
};
