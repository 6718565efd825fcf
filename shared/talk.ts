import { createConsola, LogLevels } from 'consola';
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

/** consola's own reporters write info to stdout, so this one writes `tool: message` lines to the world's stderr. */
export const talkOn = (world: World, tool: string): Talk => {
  let last: Promise<void> = Promise.resolve();
  const put = (text: string): void => {
    last = last.then(() => world.stderr.write(text));
  };
  const logger = createConsola({
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
  return {
    info: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
    error: (message) => logger.error(message),
    print: put,
    flushed: () => last,
  };
};
