/** The Job that receives a bundle, checks it and unpacks it onto the trials' claim. Pure. */
import { labelsOf, TRIAL_CLAIM } from '../../shared/task-run/names.ts';
import {
  jobOf,
  literal,
  ONE_POD,
  podBasics,
  resources,
  RESTRICTED,
  restrictedPod,
} from '../../shared/job/pod-parts.ts';
import type { TaskValues } from '../../shared/task-run/settings.ts';
import { asWord } from '../../shared/shell-words.ts';
import script from './stage.txt';

/** For the archive to arrive, s. */
const PATIENCE = 1800;
const DEADLINE = 2 * 3600;

export interface Archive {
  /** Before compression: the bundle's identity. */
  sha256: string;
  /** The compressed file. */
  path: string;
  size_bytes: number;
  /** Before compression. */
  unpacked_bytes: number;
}

const stageName = (sha256: string): string => `k8sbench-stage-${sha256.slice(0, 12)}`;

/** Room for the archive in both forms, in whole GiB. */
const room = ({ size_bytes, unpacked_bytes }: Archive): string =>
  `${Math.ceil((size_bytes + unpacked_bytes) / 2 ** 30) + 1}Gi`;

/** The shell script in an official Node image that receives it. */
const receiver = ({ sha256 }: Archive, image: string): object => ({
  name: 'stage',
  image,
  imagePullPolicy: 'IfNotPresent',
  command: [
    'sh',
    '-c',
    literal(`claim=${TRIAL_CLAIM} bundle=${sha256} patience=${PATIENCE} deadline=${DEADLINE}\n${script}`),
  ],
  resources: resources({ cpu: '1', memory: '512Mi' }),
  securityContext: RESTRICTED,
  volumeMounts: [
    { name: 'claim', mountPath: TRIAL_CLAIM },
    { name: 'stage', mountPath: '/stage' },
  ],
});

export const stageJob = (archive: Archive, values: TaskValues): object => {
  const name = stageName(archive.sha256);
  return jobOf(
    values,
    { name, labels: labelsOf('stage', name) },
    { ...ONE_POD, activeDeadlineSeconds: DEADLINE, ttlSecondsAfterFinished: 86400 },
    {
      restartPolicy: 'Never',
      ...podBasics(values, values),
      securityContext: restrictedPod(),
      containers: [receiver(archive, values.baseImage)],
      volumes: [
        { name: 'claim', persistentVolumeClaim: { claimName: values.gpu.trialPVC } },
        { name: 'stage', emptyDir: { sizeLimit: room(archive) } },
      ],
    },
  );
};

/** The commands that bring it there, after the Job was applied. */
export const copyCommands = (archive: Archive, { namespace }: TaskValues): string[] => {
  const job = stageName(archive.sha256);
  const receive = `cat > /stage/bundle.tar.gz && test "$(wc -c < /stage/bundle.tar.gz)" -eq ${archive.size_bytes} && : > /stage/READY`;
  return [
    // Of the Job, which is there already: its pod may not be yet, and nothing is waited for that isn't there.
    `kubectl -n ${namespace} wait job/${job} --for=jsonpath='{.status.ready}'=1 --timeout=15m`,
    `kubectl -n ${namespace} exec -i job/${job} -- sh -c '${receive}' < ${asWord(archive.path)}`,
    `kubectl -n ${namespace} wait job/${job} --for=condition=Complete --timeout=30m`,
  ];
};
