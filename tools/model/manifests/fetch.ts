/** The Job that fetches a model's files onto the models' claim: the only pod with network of its own. Pure. */
import {
  HOPELESS_EXIT,
  labelsOf,
  MODEL_CLAIM,
  PROGRAM,
  stagedPath,
  TRIAL_CLAIM,
} from '../../../shared/task-run/names.ts';
import {
  jobOf,
  ONE_POD,
  podBasics,
  readClaim,
  resources,
  RESTRICTED,
  restrictedPod,
  specVariable,
} from '../../../shared/job/pod-parts.ts';
import type { ModelFacts } from '../facts.ts';

const DEADLINE = 24 * 3600;

const container = ({ model, staged, values, hub }: ModelFacts): object => {
  const { repository, revision, files } = model.model;
  return {
    name: 'fetch',
    image: values.baseImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', `${TRIAL_CLAIM}/${stagedPath(staged)}/${PROGRAM}`, 'fetch'],
    env: [specVariable({ id: model.id, hub, repository, revision, pin: model.pin, files })],
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: resources({ cpu: '1', memory: '1Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'claim', mountPath: TRIAL_CLAIM, readOnly: true },
      { name: 'models', mountPath: MODEL_CLAIM },
    ],
  };
};

export const fetchJob = (facts: ModelFacts): object => {
  const { model, values } = facts;
  const name = `k8sbench-fetch-${model.id.slice(0, 36)}-${model.pin.slice(0, 8)}`.replace(/-+/g, '-');
  return jobOf(
    values,
    { name, labels: labelsOf('fetch', name) },
    {
      ...ONE_POD,
      // One at a time; what it has fetched stays, and the next pod goes on.
      backoffLimit: 3,
      podFailurePolicy: {
        rules: [
          {
            action: 'FailJob',
            onExitCodes: { containerName: 'fetch', operator: 'In', values: [HOPELESS_EXIT] },
          },
        ],
      },
      activeDeadlineSeconds: DEADLINE,
      ttlSecondsAfterFinished: values.ttlSecondsAfterFinished,
    },
    {
      restartPolicy: 'Never',
      ...podBasics(values, values),
      securityContext: restrictedPod(),
      containers: [container(facts)],
      volumes: [
        readClaim('claim', values.gpu.trialPVC!),
        { name: 'models', persistentVolumeClaim: { claimName: values.gpu.modelPVC } },
      ],
    },
  );
};
