/** Sizes as a page names them. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import * as sizes from '../../shared/sizes.ts';

/** ` at 50 turns`; nothing in an imported run, whose only size nobody named. */
export const atSize = (analysis: Analysis, turns: number): string => sizes.atItsSize(turns, analysis);

/** `50 turns`, as a heading. */
export const sizeName = (analysis: Analysis, turns: number): string =>
  analysis.origin === 'imported' ? 'Measurements' : sizes.sizeText(turns, analysis);

/** `50, 500 turns`. */
export const sizeList = ({ turns, counted }: Analysis): string =>
  [...turns.slice(0, -1), sizes.sizeText(turns.at(-1)!, { counted })].join(', ');
