import type { CompactPlan } from '../../schemas/plan.ts';
import { uses } from '../../schemas/placeholders.ts';
import { SessionError } from './session-error.ts';

/** Where a session runs. It comes from the environment, never from the plan. */
export interface Place {
  delivery: CompactPlan['delivery'];
  /** `{root}`; empty when no command uses it. */
  root: string;
  /** Directory of the fixtures; absent: one of the session's own, removed at its end. */
  data?: string;
  cwd: string;
  node: string;
  pod: string;
  image: string;
  bundleSha256: string;
  /** The commit that `plan` found; the root's own COMMIT file comes first. */
  commit: string;
}

const ROOTS: Partial<Record<CompactPlan['delivery'], string>> = {
  image: '/opt/k8sbench',
  bundle: '/bundle/root',
};
const DATA: Partial<Record<CompactPlan['delivery'], string>> = { image: '/data', bundle: '/data' };

/** The place from the environment; `host` is the node's name when nothing names one. */
export const placeOf = (
  env: Readonly<Record<string, string | undefined>>,
  plan: CompactPlan,
  cwd: string,
  host: string,
): Place => {
  const delivery = (env['K8SBENCH_DELIVERY'] || plan.delivery) as CompactPlan['delivery'];
  if (!['image', 'bundle', 'local'].includes(delivery))
    throw new SessionError('plan', `K8SBENCH_DELIVERY: expected image, bundle or local, found '${delivery}'`);
  const root = env['K8SBENCH_ROOT'] || ROOTS[delivery] || '';
  const data = env['K8SBENCH_DATA'] || DATA[delivery];
  const words = plan.profile.targets.flatMap((one) => [
    ...(one.seed ?? []),
    ...(one.sample ?? []),
    ...(one.command ?? []),
    ...(one.prepare ?? []),
  ]);
  if (root === '' && words.some((word) => uses(word, 'root')))
    throw new SessionError(
      'plan',
      "a command of the plan uses '{root}'; say where that is with K8SBENCH_ROOT",
    );
  return {
    delivery,
    root: root.replace(/(?<=.)\/+$/, ''),
    ...(data ? { data: data.replace(/(?<=.)\/+$/, '') } : {}),
    cwd,
    node: env['NODE_NAME'] || host,
    pod: env['POD_NAME'] ?? '',
    image: env['K8SBENCH_IMAGE_REF'] ?? '',
    bundleSha256: env['K8SBENCH_BUNDLE_SHA256'] ?? '',
    commit: env['K8SBENCH_COMMIT'] ?? '',
  };
};
