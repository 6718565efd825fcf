/** What `bundle` takes. */
import type { Call } from '../../shared/command-line.ts';
import { choice, fileName, list, many, readText, text, yes } from '../../shared/flags.ts';
import type { Verb } from '../../shared/verbs.ts';

export const flags = {
  recipe: text('build: what the bundle holds, a YAML file in a git repository', 'FILE'),
  out: text(
    "build: directory that gets the bundle; pack: archive (default: DIR.tar.gz), or - for stdout; image: the image's archive",
    'PATH',
  ),
  arch: choice("build: the nodes' architecture (default: this machine's)", ['amd64', 'arm64']),
  agents: yes('build: also the agents of the recipe, and the Python that drives them'),
  arms: list("build, with --agents: further agents of the recipe's arms.lock", 'ID,…', readText),
  'python-archive': text("build, with --agents: a copy of Python's archive, instead of a download", 'FILE'),
  tinygo: text("build: TinyGo's program (default: $TINYGO, else the PATH's)", 'PATH'),
  archives: text('build, lock: directory with copies of archives, instead of downloads', 'DIR'),
  tasks: fileName("build: a dataset's directory of tasks: makes a trial bundle"),
  'tasks-lock': text('build, with --tasks: the locked tasks', 'FILE', { default: 'tasks.lock' }),
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
  max: text('cache: remove what was used longest ago, until this is left at most, such as 2Gi or 0', 'SIZE'),
  json: yes('check, diff, cache: print JSON'),
};

export type BundleCall = Call<typeof flags>;

export interface BundleVerb extends Verb<typeof flags> {
  /** How many words it takes after its own. */
  words: number;
}
