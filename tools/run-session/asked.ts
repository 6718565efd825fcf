/** Which flags belong to what is asked of run-session. A flag that has no meaning there is refused: it would be believed to have had one. Pure. */
import type { Run } from '../../schemas/run.ts';
import { usage } from '../../shared/failure.ts';
import { surplusFlags } from '../../shared/verbs.ts';

export const ACTIONS = ['list', 'cancel', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

/** Where to look, when no run directory tells. */
const PLACE = ['values', 'kubeconfig', 'context', 'namespace'];
const OF_RUN = { flags: ['run', 'dry-run'] };
const TAKEN = {
  '--run DIR': {
    flags: [
      'run',
      'detach',
      'settle',
      'read-kubelet-config',
      'keep',
      'edited-manifest',
      'force',
      'dry-run',
      'json',
    ],
  },
  list: { flags: [...PLACE, 'json', 'dry-run'] },
  'cancel --run DIR': OF_RUN,
  'delete --run DIR': OF_RUN,
  'delete NAME': { flags: [...PLACE, 'dry-run'] },
};

/** Flags of sessions in a cluster. */
const OF_CLUSTER = ['detach', 'settle', 'read-kubelet-config', 'edited-manifest'];

/** Refuses flags that have no meaning for a run on this machine. */
export const checkLocal = (
  { delivery }: Pick<Run, 'delivery'>,
  shown: string,
  given: ReadonlyMap<string, unknown>,
): void => {
  const surplus = delivery === 'local' ? OF_CLUSTER.filter((name) => given.has(name)) : [];
  if (surplus.length > 0)
    throw usage(
      surplus.map(
        (name) => `flag '--${name}' is for a session in a cluster, and '${shown}' runs on this machine`,
      ),
    );
};

/** Refuses words and flags that do not fit together. */
export const checkAsked = (
  action: Action | undefined,
  name: string | undefined,
  given: ReadonlyMap<string, unknown>,
): void => {
  const named = given.has('run');
  if (action === 'list' && (name !== undefined || named))
    throw usage("'list' shows the runs of a namespace; name it with --namespace");
  if (action === 'cancel' && !named && name !== undefined)
    throw usage("'cancel' saves what is there, so it needs the directory: --run DIR");
  if ((action === 'cancel' || action === 'delete') && (name === undefined) !== named)
    throw usage(
      `'${action}' needs ${action === 'delete' ? "a run's name, or " : ''}its directory: --run DIR`,
    );
  const what =
    action === undefined
      ? '--run DIR'
      : action === 'list'
        ? action
        : (`${action} ${named ? '--run DIR' : 'NAME'}` as keyof typeof TAKEN);
  const problems = surplusFlags('run-session', what, TAKEN[what], given);
  if (problems.length === 0) return;
  const places = PLACE.some((flag) => given.has(flag)) && TAKEN[what].flags.includes('run');
  throw usage([
    ...problems,
    ...(places
      ? ["a run is measured where its 'values.json' says; to measure elsewhere, plan another run"]
      : []),
  ]);
};
