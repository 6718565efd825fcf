/** The Job that fetches a model's files onto the models' claim: the only pod with network of its own. Pure. */
import { labelsOf, MODEL_CLAIM, PROGRAM, stagedPath, TRIAL_CLAIM } from '../../../shared/task-run/names.ts';
import {
  metadata,
  podBasics,
  podMetadata,
  readClaim,
  resources,
  RESTRICTED,
  restrictedPod,
  specVariable,
} from '../../../shared/job/pod-parts.ts';
import type { ModelFacts } from '../facts.ts';

const DEADLINE = 24 * 3600;

export const fetchJob = ({ model, staged, values, hub }: ModelFacts): object => {
  const name = `k8sbench-fetch-${model.id.slice(0, 36)}-${model.pin.slice(0, 8)}`.replace(/-+/g, '-');
  const labels = labelsOf('fetch', name);
  const { repository, revision, files } = model.model;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadata(values, name, labels),
    spec: {
      // What it has fetched stays: the next pod goes on.
      backoffLimit: 3,
      activeDeadlineSeconds: DEADLINE,
      ttlSecondsAfterFinished: values.ttlSecondsAfterFinished,
      template: {
        metadata: podMetadata(values, labels),
        spec: {
          restartPolicy: 'Never',
          ...podBasics(values, values),
          securityContext: restrictedPod(),
          containers: [
            {
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
            },
          ],
          volumes: [
            readClaim('claim', values.gpu.trialPVC!),
            { name: 'models', persistentVolumeClaim: { claimName: values.gpu.modelPVC } },
          ],
        },
      },
    },
  };
};
