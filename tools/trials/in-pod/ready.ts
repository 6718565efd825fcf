/**
 * Beside an engine: answers the kubelet's question whether the pod is ready. An engine is ready after one real completion, and
 * again after it was away; between them its health is enough, so that nothing is added to what it measures.
 */
import { createServer } from 'node:http';
import { sleep } from './exchange.ts';

export interface ReadySpec {
  /** The engine, without /v1. */
  url: string;
  name: string;
  health: string;
  port: number;
}

const LOOK_MS = 2000;
const HEALTH_MS = 10_000;
/** For one token of a large model on a cold engine, ms. */
const COMPLETION_MS = 600_000;
/** A busy engine may miss one or two. */
const MISSES = 3;

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** `gone`: nobody listens, so it ended; `silent`: it may only be busy. */
type Health = 'well' | 'silent' | 'gone';

const healthOf = async ({ url, health }: ReadySpec): Promise<Health> => {
  try {
    const response = await fetch(`${url}${health}`, { signal: AbortSignal.timeout(HEALTH_MS) });
    await response.body?.cancel();
    return response.ok ? 'well' : 'silent';
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    return code === 'ECONNREFUSED' ? 'gone' : 'silent';
  }
};

/** What is wrong with a completion; undefined: it is one. */
const completionProblem = async ({ url, name }: ReadySpec): Promise<string | undefined> => {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'Say yes.' }], max_tokens: 1 }),
      signal: AbortSignal.timeout(COMPLETION_MS),
    });
    const text = await response.text();
    if (!response.ok) return `it answered ${response.status}: ${text.slice(0, 200)}`;
    const { choices } = JSON.parse(text) as { choices?: unknown };
    return Array.isArray(choices) && choices.length > 0 ? undefined : `no choices in ${text.slice(0, 200)}`;
  } catch (error) {
    return (error as Error).message;
  }
};

export const serveReadiness = async (spec: ReadySpec): Promise<void> => {
  let ready = false;
  const stopped = new AbortController();
  const server = createServer((_, response) => response.writeHead(ready ? 200 : 503).end());
  server.listen(spec.port);
  process.on('SIGTERM', () => {
    stopped.abort();
    server.close();
  });
  for (let misses = 0, problem = ''; !stopped.signal.aborted; await sleep(LOOK_MS)) {
    const health = await healthOf(spec);
    if (health !== 'well') {
      // One that restarts is back before it was missed often.
      if ((++misses >= MISSES || health === 'gone') && ready) {
        ready = false;
        say({ t: 'ready', ready, message: 'the engine is away' });
      }
      continue;
    }
    misses = 0;
    if (ready) continue;
    const since = performance.now();
    const found = await completionProblem(spec);
    ready = found === undefined;
    if (ready) say({ t: 'ready', ready, completion_s: Math.round(performance.now() - since) / 1000 });
    else if (found !== problem) say({ t: 'ready', ready, message: (problem = found!) });
  }
};
