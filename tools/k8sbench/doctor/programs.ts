/** Programs that a session calls, and what the built-in workloads run on. Pure. */
import { NODE_MAJOR } from '../../../shared/profiles/built-in.ts';
import { area, type Check, type Finding, type Trials } from './finding.ts';

const { ok, warn, fail } = area('programs');

const helpers = ({ programs }: Trials): Finding => {
  const missing = ['mkfifo', 'cat', 'sync'].filter((name) => programs[name] === undefined);
  if (missing.length === 0)
    return ok(
      'coreutils',
      'mkfifo, cat, sync',
      'a session passes output, checks its pin and settles disks with them',
    );
  const found = `${missing.map((name) => `'${name}'`).join(', ')} not on the PATH`;
  const remedy = 'install coreutils';
  return missing.includes('mkfifo')
    ? fail('coreutils', found, "a session can't take the output of what it measures", remedy)
    : warn(
        'coreutils',
        found,
        "a session can't check its pin, or lets writes of one sample reach the next",
        remedy,
      );
};

const git = ({ programs }: Trials): Finding =>
  programs['git'] === undefined
    ? warn(
        'git',
        "'git' is not on the PATH",
        "no comparison of two commits ('--old', '--new')",
        'install git',
      )
    : ok('git', programs['git'], "two commits can be compared ('--old', '--new')");

/** Which runtime `plan` chooses for durable-store. */
const runtime = ({ node, bun, ownRuntime }: Trials): Finding => {
  const fits = node !== undefined && Number(node.split('.')[0]) >= NODE_MAJOR;
  const older = node === undefined ? '' : `; node ${node} is older than ${NODE_MAJOR}`;
  const means = 'durable-store, the default profile, runs on it';
  if (fits) return ok('runtime', `node ${node}`, means);
  return bun === undefined
    ? ok('runtime', `this program itself, as '${ownRuntime}'${older}`, means)
    : ok('runtime', `bun ${bun}${older}`, means);
};

const both = ({ node, bun }: Trials): Finding => {
  const missing = [node === undefined ? 'node' : '', bun === undefined ? 'bun' : ''].filter(Boolean);
  return missing.length === 0
    ? ok('two-runtimes', `node ${node}, bun ${bun}`, 'the profile runtimes compares them')
    : warn(
        'two-runtimes',
        `no ${missing.join(' and no ')} on the PATH`,
        'the profile runtimes, which compares both, is refused',
        `install ${missing.join(' and ')} to use it`,
      );
};

const workloads = ({ workloads: place }: Trials): Finding =>
  typeof place === 'string'
    ? fail(
        'workloads',
        place,
        'every local session names their directory',
        'set XDG_CACHE_HOME to a directory that you can write',
      )
    : ok('workloads', `'${place.root}'`, 'the built-in workloads lie there');

export const programs: Check = ({ trials }) => [
  helpers(trials),
  runtime(trials),
  both(trials),
  workloads(trials),
  git(trials),
];
