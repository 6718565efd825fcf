#!/usr/bin/env node
/**
 * scripted-model: a model server that says what a script tells it to. OpenAI chat completions and responses APIs.
 *
 *   main.ts --script FILE [--host HOST] [--port PORT] [--exchanges FILE]
 *
 * Prints one JSON line once it listens, and one when it was ended by SIGTERM or SIGINT. `node:` modules alone.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readScript, type Script } from './script.ts';
import { serve } from './serve.ts';

const USAGE = 'usage: main.ts --script FILE [--host HOST] [--port PORT] [--exchanges FILE]';

const refuse = (problems: readonly string[]): never => {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(2);
};

const options = () => {
  try {
    return parseArgs({
      options: {
        script: { type: 'string' },
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string', default: '0' },
        exchanges: { type: 'string' },
      },
    }).values;
  } catch (error) {
    return refuse([(error as Error).message, USAGE]);
  }
};

const scriptIn = (file: string): Script => {
  try {
    const read = readScript(JSON.parse(readFileSync(file, 'utf8')));
    return 'script' in read ? read.script : refuse(read.problems.map((one) => `${file}: ${one}`));
  } catch (error) {
    return refuse([`can't read the script '${file}': ${(error as Error).message}`]);
  }
};

const line = (fields: object): void => void process.stdout.write(`${JSON.stringify(fields)}\n`);

const { script: file, host, port, exchanges } = options();
if (file === undefined || !/^\d{1,5}$/.test(port) || Number(port) > 65_535) refuse([USAGE]);
const server = await serve(
  scriptIn(file!),
  { host, port: Number(port) },
  {
    ...(exchanges === undefined
      ? {}
      : { ended: (one) => appendFileSync(exchanges, `${JSON.stringify(one)}\n`) }),
  },
).catch((error: unknown) => refuse([`can't listen on '${host}:${port}': ${(error as Error).message}`]));
const cpuBefore = process.cpuUsage();
line({ t: 'ready', url: server.url, port: server.port });

const stop = async (): Promise<void> => {
  const { user, system } = process.cpuUsage(cpuBefore);
  await server.close();
  line({ t: 'report', ...server.report(), cpu_s: (user + system) / 1e6 });
  process.exitCode = 0;
};
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
