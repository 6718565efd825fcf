/** LimitRanges of the namespace against what a run asks for. Pure. */
import { NANO, parseQuantity } from '../../shared/quantity.ts';
import { type Answer, isKnown } from './answer.ts';
import { area, type Finding } from './finding.ts';
import { type Need, shown } from './need.ts';

const { ok, warn, fail } = area('namespace');

export interface LimitRange {
  metadata: { name: string };
  spec?: {
    limits?: {
      type: string;
      min?: Record<string, string>;
      max?: Record<string, string>;
      default?: Record<string, string>;
      defaultRequest?: Record<string, string>;
      maxLimitRequestRatio?: Record<string, string>;
    }[];
  };
}
type Limit = NonNullable<NonNullable<LimitRange['spec']>['limits']>[number];

const askedOf = (type: string, resource: string, need: Need): bigint | undefined =>
  type === 'PersistentVolumeClaim'
    ? resource === 'storage'
      ? need.claim?.size
      : undefined
    : need.named.includes(resource)
      ? need.amounts.get(resource)
      : undefined;

const ofLimit = (name: string, limit: Limit, need: Need): Finding[] => {
  const { type } = limit;
  if (type === 'PersistentVolumeClaim' ? need.claim === undefined : type !== 'Container' && type !== 'Pod')
    return [];
  const what = `limits '${name}'`;
  const found: Finding[] = [];
  const bounds = [
    ...Object.entries(limit.min ?? {}).map(([resource, much]) => ['min', resource, much] as const),
    ...Object.entries(limit.max ?? {}).map(([resource, much]) => ['max', resource, much] as const),
  ];
  const adds = new Set([...Object.keys(limit.default ?? {}), ...Object.keys(limit.defaultRequest ?? {})]);
  for (const [bound, resource, much] of bounds) {
    const asked = askedOf(type, resource, need);
    const limitIs = parseQuantity(much) ?? 0n;
    // A container that names nothing gets the default, else the bound itself: told below.
    if (asked === undefined) {
      if (type === 'Container') adds.add(resource);
      if (type === 'Pod')
        found.push(
          fail(
            what,
            `${resource}: every ${type} must name it, and a session's does not`,
            'the pod is refused',
            'run in another namespace, or have the limit removed',
          ),
        );
    } else if (bound === 'min' ? asked < limitIs : asked > limitIs)
      found.push(
        fail(
          what,
          `${resource}: ${shown(asked, resource)} asked for, ${type} ${bound} ${shown(limitIs, resource)}`,
          'the pod is refused',
          `ask for ${bound === 'min' ? 'more' : 'less'}, or have the limit changed`,
        ),
      );
  }
  for (const [resource, ratio] of Object.entries(limit.maxLimitRequestRatio ?? {}))
    if (need.named.includes(resource) && (parseQuantity(ratio) ?? 0n) < NANO)
      found.push(
        fail(
          what,
          `${resource}: limits above ${ratio} times the requests are refused, and a session's are equal`,
          'the pod is refused',
          'have the limit changed',
        ),
      );
  for (const resource of adds)
    if (type === 'Container' && !need.named.includes(resource))
      found.push(
        fail(
          what,
          `${resource}: the cluster adds an amount that the manifest does not name`,
          'the admitted pod is another one, which voids the run',
          'run in another namespace, or have the default removed',
        ),
      );
  return found;
};

export const limitFindings = (answer: Answer<readonly LimitRange[]>, need: Need): Finding[] => {
  if (!isKnown(answer))
    return [
      warn(
        'limits',
        'not known: the account may not list limitranges',
        'a limit that the pod does not keep refuses it once its Job is there',
        "ask for 'list limitranges' in the namespace",
      ),
    ];
  const found = answer.value.flatMap(({ metadata, spec }) =>
    (spec?.limits ?? []).flatMap((limit) => ofLimit(metadata.name, limit, need)),
  );
  return found.length > 0 ? found : [ok('limits', 'none that a session breaks', 'the pod is taken')];
};
