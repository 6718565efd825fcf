/** Where symbolic links of a tree lead, as the kernel follows them: a link may go through others. Pure. */

/** Links that one path may go through, as in the kernel. */
const MOST = 40;

/**
 * Whether a link leads out of its tree: through `..`, an absolute target, or links of the tree that together do. `links` are all
 * of the tree, path → target. A link in a circle leads nowhere.
 */
export const leadsOut = (path: string, links: ReadonlyMap<string, string>): boolean => {
  const at = path.split('/').slice(0, -1);
  const ahead = (links.get(path) ?? '').split('/');
  if (links.get(path)?.startsWith('/')) return true;
  for (let followed = 0; ahead.length > 0;) {
    const part = ahead.shift()!;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return true;
      continue;
    }
    at.push(part);
    const next = links.get(at.join('/'));
    if (next === undefined) continue;
    if (next.startsWith('/')) return true;
    if (++followed > MOST) return false;
    at.pop();
    ahead.unshift(...next.split('/'));
  }
  return false;
};
