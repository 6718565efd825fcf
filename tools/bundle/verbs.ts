/** The words after `bundle`, one module each. A new one is a module and a row. */
import { usage } from '../../shared/failure.ts';
import { surplusFlags } from '../../shared/verbs.ts';
import { build } from './build.ts';
import { check } from './check.ts';
import { diff } from './diff.ts';
import type { BundleCall, BundleVerb } from './flags.ts';
import { image } from './image.ts';
import { lock } from './lock.ts';
import { pack } from './pack.ts';
import { showCache } from './show-cache.ts';

export const VERBS: Readonly<Record<string, BundleVerb>> = {
  build,
  check,
  pack,
  diff,
  lock,
  image,
  cache: showCache,
};

/** The verb that a command line names (one of them, the command line sees to it); flags and words that it does not take are refused. */
export const verbOf = ({ words, given }: BundleCall): BundleVerb => {
  const name = words[0]!;
  const verb = VERBS[name]!;
  const problems = surplusFlags('bundle', name, verb, given);
  const surplus = words.slice(1 + verb.words);
  problems.push(...surplus.map((one) => `unexpected argument '${one}'`));
  if (words.length < 1 + verb.words)
    problems.push(
      `'bundle ${name}' needs ${name === 'lock' ? 'a file' : verb.words === 1 ? 'a directory' : 'two directories'}`,
    );
  if (problems.length > 0) throw usage([...problems, "'k8sbench bundle --help' shows what it takes"]);
  return verb;
};
