/** Who may speak to a model, and to whom its engine may: trial pods of that model, and nobody. Pure. */
import { COMPONENT, labelsOf, MODEL, MODEL_PORT, modelName, OURS } from '../../../shared/task-run/names.ts';
import { metadata } from '../../../shared/job/pod-parts.ts';
import type { ModelFacts } from '../facts.ts';

export const networkPolicy = ({ model, values }: ModelFacts): object => {
  const name = modelName(model.id);
  const labels = labelsOf('model', name);
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata(values, name, labels),
    spec: {
      podSelector: { matchLabels: labels },
      // Egress without a rule: nothing goes out.
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: { ...OURS, [COMPONENT]: 'trial', [MODEL]: model.id } } }],
          ports: [{ port: MODEL_PORT }],
        },
      ],
    },
  };
};
