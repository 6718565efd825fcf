/** Labels by which clouds and autoscalers mark nodes that may be taken away. Each row: label, the values that mean it, the word for it. */
const MARKS: readonly (readonly [label: string, value: RegExp, word: string])[] = [
  ['eks.amazonaws.com/capacityType', /^SPOT$/i, 'spot'],
  ['karpenter.sh/capacity-type', /^spot$/i, 'spot'],
  ['cloud.google.com/gke-spot', /^true$/i, 'spot'],
  ['cloud.google.com/gke-preemptible', /^true$/i, 'preemptible'],
  ['cloud.google.com/gke-provisioning', /^(spot|preemptible)$/i, 'spot'],
  ['kubernetes.azure.com/scalesetpriority', /^spot$/i, 'spot'],
  ['oci.oraclecloud.com/oke-is-preemptible', /^true$/i, 'preemptible'],
  ['machine.openshift.io/interruptible-instance', /^/, 'interruptible'],
  ['cluster.x-k8s.io/interruptible', /^(?!false$)/i, 'interruptible'],
  ['scheduling.cast.ai/spot', /^true$/i, 'spot'],
  ['spotinst.io/node-lifecycle', /^spot$/i, 'spot'],
  ['node.kubernetes.io/lifecycle', /^(ec2)?spot$/i, 'spot'],
  ['node-lifecycle', /^(ec2)?spot$/i, 'spot'],
  ['lifecycle', /^(ec2)?spot$/i, 'spot'],
];

/** The word for a node that may be taken away, or undefined. */
export const takenAway = (labels: Readonly<Record<string, string>> | undefined): string | undefined =>
  MARKS.find(([label, value]) => {
    const found = labels?.[label];
    return found !== undefined && value.test(found);
  })?.[2];
