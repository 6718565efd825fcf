/** The truth report for people. */
import type { TruthRecord } from './record.ts';
export const reportOf = (records: readonly TruthRecord[]): string => records.map((one) => JSON.stringify(one)).join('\n');
