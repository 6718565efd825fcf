import type { TrialsScore } from '../../schemas/trials-score.ts';
import type { Material } from './material.ts';

/** One format of another program. */
export interface Format {
  about: string;
  /** What it is about: the samples of any run, the comparisons of a judged one, or whatever came of the run. */
  holds: 'samples' | 'comparisons' | 'outcome';
  text(material: Material): string;
  /** The same of a run of trials; absent: it has no place for them. */
  trials?(score: TrialsScore): string;
  /** What it has no place for, a sentence each. */
  leftOut?(material: Material): string[];
}
