/** The page's script as one text, made while this module is loaded: a Bun macro, so a compiled binary holds it ready. */
import { fileURLToPath } from 'node:url';

export const clientScript = (): string => {
  // A macro runs inside the bundler, which can't bundle meanwhile: a process of its own can.
  const built = Bun.spawnSync([
    process.execPath,
    'build',
    fileURLToPath(new URL('client/main.ts', import.meta.url)),
    '--target=browser',
    '--format=iife',
    '--minify',
  ]);
  const script = built.stdout.toString();
  if (built.exitCode !== 0 || script === '')
    throw new Error(`the page's script was not built: ${built.stderr.toString()}`);
  return script;
};
