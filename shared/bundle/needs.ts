/** What a profile says its artifacts must hold (spec §2, `needs`), looked for in a bundle. */
import type { Contents } from './contents.ts';

/** The interpreter of kind `python`. */
const PYTHON = /^python\/bin\/python3(\.\d+)?$/;

const has = ({ files, links }: Contents, fits: (path: string) => boolean): boolean =>
  files.some(({ path }) => fits(path)) || links.some(({ path }) => fits(path));

/** Agents in a bundle, with their versions. */
const armsOf = ({ versions }: Contents): string[] =>
  Object.keys(versions).flatMap((key) => /^arm-(.+)$/.exec(key)?.[1] ?? []);

/** Why an agent isn't whole; undefined when it is. */
const armProblem = (contents: Contents, id: string): string | undefined => {
  if (contents.versions[`arm-${id}`] === undefined)
    return `the agent '${id}', and VERSIONS has no 'arm-${id}='; 'bundle build --agents --arms ${id}' adds it`;
  return has(contents, (path) => path.startsWith(`arms/${id}/`))
    ? undefined
    : `the agent '${id}', and it holds no file below arms/${id}`;
};

/** What a word of `needs` stands for, and why the bundle doesn't have it. */
const needProblem = (contents: Contents, need: string): string | undefined => {
  const { versions } = contents;
  if (need === 'agents')
    return armsOf(contents).length === 0
      ? "agents, and it holds none; 'bundle build --agents' adds them"
      : has(contents, (path) => PYTHON.test(path))
        ? undefined
        : "agents, and it holds no Python to drive them (python/bin/python3); 'bundle build --agents' adds it";
  if (need === 'python')
    return versions['python'] !== undefined && has(contents, (path) => PYTHON.test(path))
      ? undefined
      : "python, and it holds none (python/bin/python3, VERSIONS 'python=')";
  if (need === 'node')
    return has(contents, (path) => path === 'bin/node') ? undefined : 'node, and it holds no bin/node';
  const arm = /^arm[:-](.+)$/.exec(need)?.[1];
  if (arm !== undefined) return armProblem(contents, arm);
  if (need.includes('/'))
    return has(contents, (path) => path === need || path.startsWith(`${need.replace(/\/$/, '')}/`))
      ? undefined
      : `'${need}', which it does not list`;
  const [name, version] = need.split('=');
  if (versions[name!] === undefined) return `'${name}', and VERSIONS has no '${name}='`;
  return version === undefined || versions[name!] === version
    ? undefined
    : `'${need}', and VERSIONS says '${name}=${versions[name!]}'`;
};

/**
 * Which of a profile's needs a bundle doesn't hold, one sentence each. A need is `agents` (any, with the Python that drives
 * them), `python`, `node`, `arm-<id>`, a path of the bundle, or a key of VERSIONS, also as `key=value`.
 */
export const missingNeeds = (contents: Contents, needs: readonly string[]): string[] =>
  needs.flatMap((need) => {
    const problem = needProblem(contents, need);
    return problem === undefined ? [] : [`the profile needs ${problem}`];
  });
