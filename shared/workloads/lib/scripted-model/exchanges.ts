/** What was asked and answered, and what time of it is the server's own. */
import type { Api } from './question.ts';

/** One request and its answer. Times are ms on the process's monotonic clock. */
export interface Exchange {
  /** Counted from 0 in the order of arrival. */
  n: number;
  api: Api;
  /** Scene that answered, and index of its reply; absent when none did. */
  scene?: string;
  at?: number;
  fault?: string;
  /** Why there was no answer. */
  refused?: string;
  requestBytes: number;
  messages: number;
  tools: number;
  /** When the last byte of the request was there. */
  arrived: number;
  /** When the last byte of the answer was handed to the system; absent while that lasts. */
  ended?: number;
  /** Waiting that the script asks for. */
  scripted: number;
  input: number;
  output: number;
}

export interface Report {
  format: 'model-report/1';
  requests: number;
  answered: number;
  faults: number;
  /** Sentences, the first ten. */
  refused: string[];
  /** Hosts that somebody tried to reach through this server as a proxy, once each. */
  foreign: string[];
  /** Time from a whole request to a whole answer that the script did not ask for, s. Null before the first answer. */
  own_s: { total: number; median: number; max: number } | null;
  tokens: { input: number; output: number };
}

const seconds = (ms: number): number => Math.round(ms * 1e3) / 1e6;

/** The server's own time for one exchange, ms; undefined while it lasts, and of stalled ones, whose end is the client's. */
export const ownTime = (one: Exchange): number | undefined =>
  one.ended === undefined || one.fault === 'stall'
    ? undefined
    : Math.max(0, one.ended - one.arrived - one.scripted);

/** A summary of all exchanges so far. */
export const reportOf = (exchanges: readonly Exchange[], foreign: Iterable<string>): Report => {
  const own = exchanges
    .map(ownTime)
    .filter((one) => one !== undefined)
    .toSorted((a, b) => a - b);
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
  const middle = own.length / 2;
  return {
    format: 'model-report/1',
    requests: exchanges.length,
    answered: exchanges.filter((one) => one.ended !== undefined && !one.refused && !one.fault).length,
    faults: exchanges.filter((one) => one.fault !== undefined).length,
    refused: exchanges.flatMap((one) => one.refused ?? []).slice(0, 10),
    foreign: [...foreign],
    own_s:
      own.length === 0
        ? null
        : {
            total: seconds(sum(own)),
            median: seconds((own[Math.ceil(middle) - 1]! + own[Math.floor(middle)]!) / 2 || own[0]!),
            max: seconds(own.at(-1)!),
          },
    tokens: {
      input: sum(exchanges.map((one) => one.input)),
      output: sum(exchanges.map((one) => one.output)),
    },
  };
};
