/**
 * What keeps others from changing or moving a session's pod: autoscalers that would evict it, injectors that would add
 * containers to it or instrument what runs in it. Values may override each. One row per program; those that only act on
 * pods which ask for them need no row.
 */

/** Autoscalers, and what moves pods between nodes. */
const STAYS: Readonly<Record<string, string>> = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
  // Karpenter before v1beta1.
  'karpenter.sh/do-not-evict': 'true',
  'descheduler.alpha.kubernetes.io/prefer-no-eviction': 'true',
};

/** Sidecars and instrumentation, by annotation. */
const ALONE: Readonly<Record<string, string>> = {
  'sidecar.istio.io/inject': 'false',
  'linkerd.io/inject': 'disabled',
  'kuma.io/sidecar-injection': 'disabled',
  'consul.hashicorp.com/connect-inject': 'false',
  'appmesh.k8s.aws/sidecarInjectorWebhook': 'disabled',
  'injector.nsm.nginx.com/auto-inject': 'false',
  'sidecar.opentelemetry.io/inject': 'false',
  'instrumentation.opentelemetry.io/inject-nodejs': 'false',
  'instrumentation.opentelemetry.io/inject-go': 'false',
  'instrumentation.opentelemetry.io/inject-python': 'false',
  'sidecar.jaegertracing.io/inject': 'false',
  'dynatrace.com/inject': 'false',
};

export const POD_ANNOTATIONS: Readonly<Record<string, string>> = { ...STAYS, ...ALONE };

/** The same for those that go by labels. */
export const POD_LABELS: Readonly<Record<string, string>> = {
  'sidecar.istio.io/inject': 'false',
  'istio.io/dataplane-mode': 'none',
  'kuma.io/sidecar-injection': 'disabled',
  'admission.datadoghq.com/enabled': 'false',
  'instana-autotrace': 'false',
};
