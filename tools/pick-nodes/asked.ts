/** What is asked for: from a run directory, or from values file, environment and flags. */
import * as v from 'valibot';
import { run as runSchema } from '../../schemas/run.ts';
import { dnsSubdomain, type Values, values as valuesSchema } from '../../schemas/values.ts';
import { configurationOf } from '../../shared/configuration.ts';
import { usage } from '../../shared/failure.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { World } from '../../shared/world.ts';
import type { PickFlags } from './flags.ts';
import type { Wanted } from '../../shared/nodes/ranking.ts';

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

/** From flags, environment and values file (spec §1). */
export const askedOfFlags = async (flags: PickFlags, world: World): Promise<Asked> => {
  const { values, problems: found } = await configurationOf(world, flags);
  const problems = [...found];
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
