/**
 * values.yaml: where and with how much a session runs. Spec §1. People write it, so unknown keys are refused.
 * `values.json` in a run directory is the same object after defaults, file, environment and flags.
 */
import * as v from 'valibot';
import { dnsLabel, positive, text } from './primitives.ts';

/** A name as most Kubernetes objects have one (RFC 1123 subdomain). */
export const dnsSubdomain = v.pipe(
  v.string('expected a name'),
  v.maxLength(253, 'expected at most 253 characters'),
  v.regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'expected a DNS subdomain: a-z, 0-9, - and .',
  ),
);

/** A Kubernetes quantity in every form the API accepts (apimachinery resource/quantity.go). */
export const quantity = v.pipe(
  v.union([v.string(), v.number()], 'expected a quantity such as 8Gi'),
  // The API takes a number for the text that it is.
  v.transform(String),
  v.regex(
    /^[+]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+|Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)?$/,
    'expected a quantity such as 8Gi, 500M or 1e9',
  ),
);

const NOTHING = /^\+?(?=\.?0)[0.]+(?:[eE][-+]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$/;

/** An amount of something a pod needs: a quantity above nothing. */
const someQuantity = v.pipe(
  quantity,
  v.check((written) => !NOTHING.test(written), 'expected a quantity above 0'),
);

/** Label and annotation keys: an optional DNS prefix and a name. */
const labelKey = v.pipe(
  v.string('expected a label key'),
  v.check((key) => key.indexOf('/') <= 253, 'expected a prefix of at most 253 characters before "/"'),
  v.regex(
    /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
    'expected a label key such as example.com/name',
  ),
);
const labelValue = v.pipe(
  v.string('expected a text; quote it when it looks like a number or a boolean'),
  v.regex(
    /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/,
    'expected a label value: at most 63 of A-Z, a-z, 0-9, -, _ and .',
  ),
);
const labels = v.record(labelKey, labelValue, 'expected a map of labels');

/** As the API server checks one (kubernetes pkg/apis/core/validation, ValidateTolerations). */
export const toleration = v.pipe(
  v.strictObject({
    key: v.optional(v.union([v.literal(''), labelKey], 'expected a label key')),
    operator: v.optional(v.picklist(['Exists', 'Equal'], 'expected Exists or Equal')),
    value: v.optional(labelValue),
    effect: v.optional(
      v.picklist(
        ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'],
        'expected NoSchedule, PreferNoSchedule or NoExecute',
      ),
    ),
    tolerationSeconds: v.optional(
      v.pipe(v.number('expected a whole number'), v.safeInteger('expected a whole number')),
    ),
  }),
  v.check(
    (one) => Boolean(one.key) || one.operator === 'Exists',
    'expected operator Exists, which a toleration without key needs',
  ),
  v.check(
    (one) => one.operator !== 'Exists' || !one.value,
    'expected no value, which operator Exists never compares',
  ),
  v.check(
    (one) => one.tolerationSeconds === undefined || one.effect === 'NoExecute',
    'expected effect NoExecute, which tolerationSeconds needs',
  ),
);

/** Task-completion runs (spec §9). */
export const gpu = v.strictObject({
  resource: v.optional(labelKey, 'nvidia.com/gpu'),
  count: v.optional(positive, 1),
  nodeSelector: v.optional(labels),
  tolerations: v.optional(v.array(toleration)),
  serverCpus: v.optional(positive),
  serverMemory: v.optional(someQuantity),
  modelPVC: v.optional(dnsSubdomain),
  trialPVC: v.optional(dnsSubdomain),
});

export const values = v.strictObject({
  kubeconfig: v.optional(text),
  kubeContext: v.optional(text),
  namespace: v.optional(dnsLabel),
  image: v.optional(text),
  bundle: v.optional(text),
  baseImage: v.optional(text),
  /** Whole CPUs of the pod; requests = limits. */
  cpus: v.optional(positive, 2),
  memory: v.optional(someQuantity, '8Gi'),
  node: v.optional(dnsSubdomain),
  nodeSelector: v.optional(labels),
  pvc: v.optional(dnsSubdomain),
  /** activeDeadlineSeconds of the Job. */
  deadlineSeconds: v.optional(v.pipe(positive, v.minValue(60, 'expected at least 60 s')), 21600),
  allowUnpinnedImage: v.optional(v.boolean('expected true or false'), false),
  tolerations: v.optional(v.array(toleration, 'expected a list of tolerations')),
  imagePullSecrets: v.optional(
    v.array(
      v.union(
        [dnsSubdomain, v.strictObject({ name: dnsSubdomain })],
        'expected the name of a secret, or a map with its name',
      ),
      'expected a list of secrets',
    ),
  ),
  serviceAccountName: v.optional(dnsSubdomain),
  labels: v.optional(labels),
  annotations: v.optional(v.record(labelKey, v.string('expected a text'))),
  priorityClassName: v.optional(dnsSubdomain),
  runtimeClassName: v.optional(dnsSubdomain),
  scratchSize: v.optional(someQuantity, '8Gi'),
  scratchMedium: v.optional(v.picklist(['', 'Memory'], 'expected Memory or nothing')),
  scratchStorageClass: v.optional(dnsSubdomain),
  ttlSecondsAfterFinished: v.optional(
    v.pipe(positive, v.minValue(3600, 'expected at least 3600 s: it is a leak guard')),
    604800,
  ),
  gpu: v.optional(gpu),
});
export type Values = v.InferOutput<typeof values>;
