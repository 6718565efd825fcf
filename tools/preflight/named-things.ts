/** What the pod names beside its image: secrets, a claim, a service account. Pure. */
import { type Answer, isKnown } from './answer.ts';
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';
import type { Seen } from './seen.ts';

const [ofImage, ofPod] = [area('image'), area('pod')];

/** A named thing: there, missing, or not to be known. */
const named = (
  { warn, fail, ok }: typeof ofImage,
  what: string,
  resource: string,
  answer: Answer<unknown>,
  means: string,
): Finding => {
  if (isKnown(answer)) return ok(what, 'is there', means);
  return answer.refused.code === 404
    ? fail(what, 'does not exist', `the pod can't start: ${means}`, 'correct its name, or have it made')
    : warn(
        what,
        `not known: the account may not get ${resource}`,
        means,
        `ask for 'get ${resource}' with resourceNames, or for a look by who may`,
      );
};

const PULLS = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'];

const secretFinding = (name: string, answer: Answer<{ type?: string }>): Finding => {
  const what = `secret '${name}'`;
  if (isKnown(answer) && !PULLS.includes(answer.value.type ?? ''))
    return ofImage.fail(
      what,
      `is of type '${answer.value.type}'`,
      'no node pulls with it',
      `make one of type ${PULLS[0]}: kubectl create secret docker-registry`,
    );
  return named(ofImage, what, 'secrets', answer, 'nodes pull the image with it');
};

const claimFinding = (name: string, answer: NonNullable<Seen['claim']>): Finding => {
  const what = `claim '${name}'`;
  const phase = isKnown(answer) ? answer.value.status?.phase : undefined;
  if (phase === 'Lost')
    return ofPod.fail(what, 'has lost its volume', "the pod can't start", 'make a new claim');
  if (phase === 'Pending')
    return ofPod.warn(
      what,
      'has no volume yet',
      'the pod waits for it, unless its class binds when the first pod comes',
      'look at it: kubectl describe pvc',
    );
  return named(ofPod, what, 'persistentvolumeclaims', answer, 'the log is kept on it');
};

/** Secrets that nodes pull the image with. */
export const secretFindings = ({ secrets }: Seen): Finding[] =>
  [...secrets].map(([name, answer]) => secretFinding(name, answer));

/** What else the pod names. */
export const thingFindings = ({ values }: Asked, { claim, serviceAccount }: Seen): Finding[] => [
  ...(claim && values.pvc !== undefined ? [claimFinding(values.pvc, claim)] : []),
  ...(serviceAccount
    ? [
        named(
          ofPod,
          `account '${values.serviceAccountName}'`,
          'serviceaccounts',
          serviceAccount,
          'the pod runs as it',
        ),
      ]
    : []),
];
