/** What the manifests of one model are made from. */
import type { PinnedModel } from '../../shared/task-run/models.ts';
import type { TaskValues } from '../../shared/task-run/settings.ts';

export interface ModelFacts {
  model: PinnedModel;
  staged: string;
  values: TaskValues;
  /** Where files are fetched from. */
  hub: string;
  /** Go on when the cluster enforces no network policy. */
  allowOpenNetwork: boolean;
}
