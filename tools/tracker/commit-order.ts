/** The order of a repository's commits, for histories that are read in it. */
import { Failure } from '../../shared/failure.ts';
import { type Git, gitIn } from '../../shared/git.ts';
import type { World } from '../../shared/world.ts';
import type { Point, Series } from './series.ts';

/** Digits that tracker lines keep of a commit. */
const CORE = 10;

/** Every commit's place, parents before children; as it is written in full, and by its first digits. */
export interface Commits {
  git: Git;
  place: ReadonlyMap<string, number>;
  /** First digits → the whole commit. */
  whole: ReadonlyMap<string, string>;
}

/** The repository around the current directory; undefined where there is none, or no git. */
export const commitsHere = (world: World): Commits | undefined => {
  let git: Git;
  let listed: string | undefined;
  try {
    git = gitIn(world.cwd, world.env);
    listed =
      git.try('rev-list', '--topo-order', '--reverse', '--all', 'HEAD') ??
      git.try('rev-list', '--topo-order', '--reverse', '--all');
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
  if (!listed) return undefined;
  const all = listed.split('\n');
  return {
    git,
    place: new Map(all.map((one, at) => [one, at])),
    whole: new Map(all.map((one) => [one.slice(0, CORE), one])),
  };
};

/** The commit in full without `-dirty`; undefined when the repository doesn't know it. */
export const wholeCommit = ({ place, whole }: Commits, commit: string): string | undefined => {
  const digits = commit.replace(/-dirty$/, '');
  if (place.has(digits)) return digits;
  const found = whole.get(digits.slice(0, CORE));
  return found?.startsWith(digits) ? found : undefined;
};

export type Ordered = Series & { order: 'commit' | 'time' };

const byTime = (a: Point, b: Point): number => a.at - b.at;

/** Points in commit order, runs of one commit by time; when a commit is unknown here, all of that series by time. */
export const inOrder = (series: Series, commits: Commits | undefined): Ordered => {
  const placed = series.points.map((point) => {
    const commit = commits && wholeCommit(commits, point.commit);
    return { point, place: commit === undefined ? undefined : commits!.place.get(commit) };
  });
  if (placed.some((one) => one.place === undefined))
    return { ...series, order: 'time', points: series.points.toSorted(byTime) };
  return {
    ...series,
    order: 'commit',
    points: placed
      .toSorted((a, b) => a.place! - b.place! || byTime(a.point, b.point))
      .map((one) => one.point),
  };
};
