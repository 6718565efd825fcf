/** The kubeconfig as a run keeps it: whoever takes the run up may stand in another directory. */
import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { Values } from '../../schemas/values.ts';

/** Values whose kubeconfig, one file or several as KUBECONFIG holds them, is named by absolute paths. */
export const withKeptKubeconfig = (values: Values, cwd: string): Values => {
  const { kubeconfig: given } = values;
  if (given === undefined) return values;
  // A leading ~/ is read as the home of whoever takes it up.
  const at = (path: string): string => (path.startsWith('~/') ? path : resolve(cwd, path));
  const listed = existsSync(at(given)) ? [given] : given.split(delimiter).filter((path) => path !== '');
  return { ...values, kubeconfig: listed.map(at).join(delimiter) };
};
