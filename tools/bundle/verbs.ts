/** The words after `bundle`, one module each. A new one is a module and a row. */
import type { Call } from '../../shared/command-line.ts';
import type { Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { choice, list, many, readText, text, yes } from '../../shared/flags.ts';
import { build } from './build.ts';
import { check } from './check.ts';
import { diff } from './diff.ts';
import { image } from './image.ts';
import { lock } from './lock.ts';
import { pack } from './pack.ts';
import { taskFlags } from './tasks.ts';

export const flags = {
  recipe: text('build: what the bundle holds, a YAML file in a git repository', 'FILE'),
  out: text(
    "build: directory that gets the bundle; pack: archive (default: DIR.tar.gz); image: the image's archive",
    'PATH',
  ),
  arch: choice("build: the nodes' architecture (default: this machine's)", ['amd64', 'arm64']),
  agents: yes('build: also the agents of the recipe, and the Python that drives them'),
  arms: list("build, with --agents: further agents of the recipe's arms.lock", 'ID,…', readText),
  'python-archive': text("build, with --agents: a copy of Python's archive, instead of a download", 'FILE'),
  tinygo: text("build: TinyGo's program (default: $TINYGO, else the PATH's)", 'PATH'),
  archives: text('build, lock: directory with copies of archives, instead of downloads', 'DIR'),
  ...taskFlags,
  'allow-dirty': yes("build: also from uncommitted files; the bundle's commit then ends with -dirty"),
  force: yes('build: put the bundle together again'),
  profile: text('check, image: built-in name or JSON file; its targets must find their programs', 'PROFILE'),
  arm: many(
    text(
      'lock: an npm package, or VERSION@https://….tar.gz, as an agent, and the path of its executable in it',
      'ID=PACKAGE@VERSION:PATH',
    ),
  ),
  base: text(
    'image: what the bundle is laid upon: an image of a registry by digest, an OCI layout, or an archive of one',
    'IMAGE',
  ),
  name: text('image: what the image is called (default: localhost/k8sbench)', 'NAME'),
  push: text('image: also push it there, with skopeo', 'NAME'),
  json: yes('check, diff: print JSON'),
};

export type BundleCall = Call<typeof flags>;

export interface Verb {
  about: string;
  /** How many words it takes after its own. */
  words: number;
  /** The flags that it takes. */
  flags: readonly (keyof typeof flags)[];
  run(call: BundleCall): Promise<Exit>;
}

export const VERBS: Readonly<Record<string, Verb>> = {
  build,
  check,
  pack,
  diff,
  lock,
  image,
};

/** The verb that a command line names (one of them, the command line sees to it); what another verb takes is refused. */
export const verbOf = ({ words, given }: BundleCall): Verb => {
  const name = words[0]!;
  const verb = VERBS[name]!;
  const problems = [...given.keys()]
    .filter((flag) => !verb.flags.includes(flag as keyof typeof flags))
    .map((flag) => `'bundle ${name}' takes no flag '--${flag}'`);
  const surplus = words.slice(1 + verb.words);
  problems.push(...surplus.map((one) => `unexpected argument '${one}'`));
  if (words.length < 1 + verb.words)
    problems.push(
      `'bundle ${name}' needs ${name === 'lock' ? 'a file' : verb.words === 1 ? 'a directory' : 'two directories'}`,
    );
  if (problems.length > 0) throw usage([...problems, "'k8sbench bundle --help' shows what it takes"]);
  return verb;
};
