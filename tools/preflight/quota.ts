/** Quotas of the namespace against what a run asks for. Pure. */
import { parseQuantity } from '../../shared/quantity.ts';
import { type Answer, isKnown } from './answer.ts';
import { area, type Finding } from './finding.ts';
import { type Need, shown } from './need.ts';

const { ok, warn, fail } = area('namespace');

export interface Quota {
  metadata: { name: string };
  spec?: {
    hard?: Record<string, string>;
    scopes?: string[];
    scopeSelector?: { matchExpressions?: { scopeName: string; operator: string; values?: string[] }[] };
  };
  status?: { used?: Record<string, string> };
}

/** Whether a pod of ours falls under a scope; the pod itself has no deadline, is Guaranteed, and keeps away from others in all namespaces. */
const inScope = (
  scope: string,
  { priorityClass }: Need,
  operator = 'Exists',
  values: string[] = [],
): boolean => {
  switch (scope) {
    case 'NotTerminating':
    case 'NotBestEffort':
    case 'CrossNamespacePodAffinity':
      return true;
    case 'PriorityClass':
      if (operator === 'Exists') return priorityClass !== undefined;
      if (operator === 'DoesNotExist') return priorityClass === undefined;
      return values.includes(priorityClass ?? '') === (operator === 'In');
    default:
      return false;
  }
};

const applies = ({ spec }: Quota, need: Need): boolean =>
  (spec?.scopes ?? []).every((scope) => inScope(scope, need)) &&
  (spec?.scopeSelector?.matchExpressions ?? []).every(({ scopeName, operator, values }) =>
    inScope(scopeName, need, operator, values),
  );

const ofResource = (quota: Quota, resource: string, need: Need): Finding | undefined => {
  const name = `quota '${quota.metadata.name}'`;
  const one = need.amounts.get(resource);
  if (one === undefined) return undefined;
  const asked = one * BigInt(need.pods);
  const hard = parseQuantity(quota.spec?.hard?.[resource] ?? '') ?? 0n;
  const used = parseQuantity(quota.status?.used?.[resource] ?? '0') ?? 0n;
  const says = `${resource}: ${shown(asked, resource)} asked for, ${shown(used, resource)} of ${shown(hard, resource)} used`;
  if (asked > hard)
    return fail(name, says, 'the quota never has room for the pod', 'ask for less, or have the quota raised');
  return used + asked <= hard
    ? undefined
    : fail(name, says, 'the quota is used up now', 'wait, remove what is not needed, or have it raised');
};

const ofQuota = (quota: Quota, need: Need): Finding[] => {
  if (!applies(quota, need)) return [];
  const found = Object.keys(quota.spec?.hard ?? {}).flatMap((name) => ofResource(quota, name, need) ?? []);
  return found.length > 0 ? found : [ok(`quota '${quota.metadata.name}'`, 'has room', 'the pod is taken')];
};

export const quotaFindings = (answer: Answer<readonly Quota[]>, need: Need): Finding[] => {
  if (!isKnown(answer))
    return [
      warn(
        'quota',
        'not known: the account may not list resourcequotas',
        'a quota without room refuses the pod once its Job is there',
        "ask for 'list resourcequotas' in the namespace",
      ),
    ];
  const found = answer.value.flatMap((one) => ofQuota(one, need));
  return found.length > 0 ? found : [ok('quota', 'none that counts a session', 'nothing limits it')];
};
