/**
 * The log's lines against their schema. Nearly all lines of a log are cpu and sample lines; valibot takes tens of times
 * longer for a sample of many turns than reading it does, so these are checked by hand here. The test proves by mutation
 * that the two agree on every line; the schema alone speaks: a line refused here is explained by it.
 */
import { type Cpu, LARGEST, logLine, type Sample } from '../../schemas/log.ts';
import { problemsOf } from '../../shared/read.ts';
import { withPlainLists } from './long-line.ts';

type Unchecked = Readonly<Record<string, unknown>>;

const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= LARGEST;
const isSigned = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) <= LARGEST;
const isReading = (value: unknown): boolean => value === undefined || value === null || isAmount(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTally = (value: unknown): boolean => value === undefined || value === null || isCount(value);
const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;
const areAmounts = (values: unknown): boolean => {
  // Read as plain decimals: no sign, and at most 15 digits.
  if (values instanceof Float64Array) return true;
  if (!Array.isArray(values)) return false;
  for (let at = 0; at < values.length; at++) if (!isAmount(values[at])) return false;
  return true;
};

const isCpu = (line: Unchecked): boolean =>
  isCount(line['seq']) &&
  (line['step'] === 'sample' || line['step'] === 'seed' || line['step'] === 'warmup') &&
  isText(line['target']) &&
  isPositive(line['turns']) &&
  (line['sample'] === undefined || isCount(line['sample'])) &&
  isAmount(line['wallMs']) &&
  isReading(line['usageUsec']) &&
  isTally(line['nrPeriods']) &&
  isTally(line['nrThrottled']) &&
  isReading(line['throttledUsec']) &&
  isReading(line['mhz']) &&
  isReading(line['mhzMin']) &&
  isReading(line['mhzMax']);

const isMeasured = (line: Unchecked): boolean => {
  const { turn, turnCpu, growthPerTurn, fingerprint } = line as Partial<Sample>;
  return (
    isCount(line['seq']) &&
    isText(line['target']) &&
    isPositive(line['turns']) &&
    isCount(line['sample']) &&
    isAmount(line['open']) &&
    areAmounts(turn) &&
    turn!.length > 0 &&
    isReading(line['openCpu']) &&
    (turnCpu === undefined || turnCpu === null || areAmounts(turnCpu)) &&
    isReading(line['bytes']) &&
    isReading(line['peakRss']) &&
    isReading(line['retained']) &&
    (growthPerTurn === undefined || growthPerTurn === null || isSigned(growthPerTurn)) &&
    isReading(line['cpuSeconds']) &&
    isReading(line['rss']) &&
    (fingerprint === undefined || fingerprint === null || isText(fingerprint)) &&
    isPositive(line['gomaxprocs']) &&
    typeof line['cpuModel'] === 'string' &&
    typeof line['cpuFeatures'] === 'string'
  );
};

/** A cpu, sample or warmup line that fits its schema. Says nothing of other kinds. */
export const fitsQuickly = (line: Unchecked): line is Cpu | Sample => {
  if (line['t'] === 'cpu') return isCpu(line);
  return (line['t'] === 'sample' || line['t'] === 'warmup') && isMeasured(line);
};

const NONE: readonly string[] = [];

/** What is wrong with a line: file, line, path, what was wanted and what was found; empty when it is one of the log's. */
export const lineProblems = (line: Unchecked, place: () => string): readonly string[] =>
  fitsQuickly(line) ? NONE : problemsOf(logLine, { value: withPlainLists(line) }, place());
