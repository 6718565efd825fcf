/** The address of a model in the cluster. Pure. */
import { labelsOf, MODEL_PORT, modelName } from '../../../shared/task-run/names.ts';
import { metadata } from '../../../shared/job/pod-parts.ts';
import type { ModelFacts } from '../facts.ts';

export const service = ({ model, values }: ModelFacts): object => {
  const name = modelName(model.id);
  const labels = labelsOf('model', name);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(values, name, labels),
    spec: {
      selector: labels,
      ports: [{ name: 'api', port: MODEL_PORT, targetPort: MODEL_PORT }],
    },
  };
};
