/** Whether the namespace takes the Job and its pod: dry runs where the account may create them, else what is told of the namespace. Pure. */
import { differences } from '../../shared/admitted-pod.ts';
import { firstFew } from '../../shared/first-few.ts';
import { lacksRight } from '../../shared/kubernetes.ts';
import { isKnown, type Refused } from './answer.ts';
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';
import type { NamespaceObject, Seen } from './seen.ts';

const [inNamespace, ofPod] = [area('namespace'), area('pod')];

const LEVEL = 'pod-security.kubernetes.io/enforce';
const POD_SECURITY = /violates PodSecurity/;

/** What a refusal is about, and what to do. */
const REFUSALS: readonly { said: RegExp; means: string; remedy: string }[] = [
  {
    said: POD_SECURITY,
    means: "the namespace's Pod Security level refuses the pod",
    remedy: "render the manifest again: what 'render' writes passes 'restricted'; or use another namespace",
  },
  {
    said: /(exceeded|failed) quota/,
    means: "the namespace's quota refuses the pod",
    remedy: 'ask for less, or have the quota raised',
  },
  {
    said: /(maximum|minimum) .* usage per|limit to request ratio|must be specified/,
    means: "the namespace's limits refuse the pod",
    remedy: 'ask for what they allow',
  },
  {
    said: /no PriorityClass|RuntimeClass|serviceaccount/i,
    means: 'the pod names something that the cluster does not have',
    remedy: 'correct it in the values file',
  },
  {
    said: /namespaces? .*not found/i,
    means: 'the namespace does not exist',
    remedy: 'correct it, or have it made',
  },
  {
    said: /being terminated/,
    means: 'the namespace is being deleted',
    remedy: 'use another one',
  },
];

const refusal = (name: string, { detail }: Refused): Finding => {
  const known = REFUSALS.find(({ said }) => said.test(detail));
  return ofPod.fail(
    name,
    `refused: ${detail}`,
    known?.means ?? 'the cluster refuses it: a policy or a webhook',
    known?.remedy ?? 'do what the message says, or ask who keeps the policy',
  );
};

const ALREADY = 409;

const jobFinding = ({ job }: Seen): Finding => {
  const name = 'job';
  if (job === undefined)
    return ofPod.warn(
      name,
      'not tried: the account may not create Jobs',
      'see permissions',
      'ask for it first',
    );
  if (isKnown(job)) return ofPod.ok(name, 'taken in a dry run', 'the API server takes the manifest');
  return job.refused.code === ALREADY
    ? ofPod.warn(
        name,
        'a Job of this name is there already',
        "'run-session' attaches to its own and refuses another's",
        'plan a new run, unless this one was started',
      )
    : refusal(name, job.refused);
};

const podFinding = ({ manifest }: Asked, { pod }: Seen): Finding => {
  const name = 'pod';
  if (pod === undefined || (!isKnown(pod) && lacksRight(pod.refused)))
    return ofPod.ok(
      name,
      'not tried: the account may not create pods',
      "a run needs no such right: the Job's controller makes the pod",
    );
  if (!isKnown(pod)) return refusal(name, pod.refused);
  const changed = differences(manifest, pod.value);
  return changed.length === 0
    ? ofPod.ok(name, 'admitted unchanged in a dry run', 'neither policies nor webhooks are in the way')
    : ofPod.fail(
        name,
        `the cluster changes it: ${changed.join('; ')}`,
        'the admitted pod is another one, which voids the run',
        'keep webhooks and limits away from it, or put what they set into the values file',
      );
};

const levelOf = ({ metadata }: NamespaceObject): string => {
  const level = metadata.labels?.[LEVEL];
  return level === undefined ? "no level of its own: the cluster's default" : `'${level}' is enforced`;
};

/** Pods of `render` pass the strictest level, so a level is no obstacle; that a changed manifest does not, the pod's dry run tells. */
const podSecurity = ({ namespace, pod }: Seen): Finding => {
  const name = 'pod security';
  if (pod !== undefined && !isKnown(pod) && POD_SECURITY.test(pod.refused.detail))
    return inNamespace.fail(
      name,
      isKnown(namespace) ? levelOf(namespace.value) : 'a level is enforced',
      'it refuses the pod',
      "render the manifest again: what 'render' writes passes 'restricted'",
    );
  const level = isKnown(namespace)
    ? levelOf(namespace.value)
    : 'the level is not known: the account may not read the namespace';
  return inNamespace.ok(name, level, "what 'render' makes passes 'restricted', the strictest");
};

const existence = ({ namespace: asked }: Asked, { namespace }: Seen): Finding[] => {
  const name = 'namespace';
  if (isKnown(namespace))
    return namespace.value.metadata.deletionTimestamp === undefined
      ? [inNamespace.ok(name, `'${asked}' is there`, 'runs can be made in it')]
      : [
          inNamespace.fail(
            name,
            `'${asked}' is being deleted`,
            'nothing can be made in it',
            'use another one',
          ),
        ];
  return namespace.refused.code === 404
    ? [
        inNamespace.fail(
          name,
          `'${asked}' does not exist`,
          'no run without it',
          'correct it, or have it made',
        ),
      ]
    : [];
};

export const namespaceFindings = (asked: Asked, seen: Seen): Finding[] => [
  ...existence(asked, seen),
  podSecurity(seen),
];

/** A manifest that was changed by hand, or rendered before the run was planned again. */
const editedFinding = ({ edited }: Asked): Finding[] =>
  edited.length === 0
    ? []
    : [
        ofPod.warn(
          'manifest',
          `is not what 'render' writes: ${firstFew(edited).join('; ')}`,
          "'run-session' refuses it unless it is told that it was edited",
          "write it again with 'k8sbench render', or submit it as it is with --edited-manifest",
        ),
      ];

export const podFindings = (asked: Asked, seen: Seen): Finding[] => [
  ...editedFinding(asked),
  jobFinding(seen),
  podFinding(asked, seen),
];
