/** Before an engine: waits until its model was fetched and checked, and proves that the pod's network is closed by now. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { sleep } from './exchange.ts';
import { markedPin } from './fetch.ts';

export interface AwaitSpec {
  id: string;
  pin: string;
  /** Go on with an open network, and say so. */
  allowOpenNetwork?: boolean;
}

const LOOK_MS = 2000;
const SAY_MS = 60_000;
const CONNECT_MS = 3000;
/** For a network policy to hold, s. */
const POLICY_S = 120;

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** The cluster's name server: every pod can reach it, unless a policy says otherwise. */
const nameServer = (): string | undefined =>
  /^nameserver\s+(\S+)/m.exec(readFileSync('/etc/resolv.conf', 'latin1'))?.[1];

const reaches = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port: 53, timeout: CONNECT_MS });
    const end = (reached: boolean): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });

const proveClosed = async (allowOpen: boolean): Promise<void> => {
  const host = nameServer();
  if (host === undefined)
    return say({ t: 'network', closed: null, message: 'the pod has no name server to try' });
  const end = performance.now() + POLICY_S * 1000;
  for (;;) {
    const reached = await reaches(host);
    if (!reached) return say({ t: 'network', closed: true, tried: `${host}:53` });
    if (allowOpen) return say({ t: 'network', closed: false, tried: `${host}:53` });
    if (performance.now() > end)
      throw new Error(
        `the engine's network is open: '${host}:53' answers; does the cluster enforce network policies? 'model --allow-open-network' goes on all the same`,
      );
    await sleep(LOOK_MS);
  }
};

export const awaitModel = async (
  { pin, allowOpenNetwork = false }: AwaitSpec,
  place: string,
): Promise<void> => {
  await proveClosed(allowOpenNetwork);
  let said = Number.NEGATIVE_INFINITY;
  for (let found = markedPin(place); found !== pin; found = markedPin(place)) {
    if (performance.now() - said > SAY_MS) {
      said = performance.now();
      say({ t: 'waiting', for: pin, found: found ?? null });
    }
    await sleep(LOOK_MS);
  }
  say({ t: 'model', pin });
};
