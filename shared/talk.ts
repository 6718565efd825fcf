import type { ConsolaInstance } from 'consola';
import { plainText } from './terminal.ts';
import type { World } from './world.ts';

/** Words for people, all on stderr. */
export interface Talk {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** Text as it is: tables. */
  print(text: string): void;
  /** Everything said so far has been handed on. */
  flushed(): Promise<void>;
}

/**
 * consola's own reporters write info to stdout, so this one gives `tool: message` lines to `put`. It is loaded with the
 * first word: a tool that has nothing to say starts without it.
 */
const loggerOn = async (tool: string, put: (line: string) => void): Promise<ConsolaInstance> => {
  const { createConsola, LogLevels } = await import('consola');
  return createConsola({
    level: LogLevels.info,
    // consola holds back repetitions for a second; every problem is said, also the same one about a sixth thing.
    throttle: 0,
    reporters: [
      {
        log: ({ type, args }) => {
          const label = type === 'info' ? '' : `${type}: `;
          for (const line of args.map(String).join(' ').split('\n'))
            put(`${tool}: ${label}${plainText(line)}\n`);
        },
      },
    ],
  });
};

/** A tool's voice on stderr, in the order in which things are said; the logger is loaded with the first word. */
export const talkOn = (world: World, tool: string): Talk => {
  let last: Promise<void> = Promise.resolve();
  let logger: Promise<ConsolaInstance> | undefined;
  let said = '';
  const say = (how: 'info' | 'warn' | 'error', message: string): void => {
    last = last.then(async () => {
      logger ??= loggerOn(tool, (line) => void (said += line));
      (await logger)[how](message);
      const lines = said;
      said = '';
      await world.stderr.write(lines);
    });
  };
  return {
    info: (message) => say('info', message),
    warn: (message) => say('warn', message),
    error: (message) => say('error', message),
    print: (text) => void (last = last.then(() => world.stderr.write(text))),
    flushed: () => last,
  };
};
