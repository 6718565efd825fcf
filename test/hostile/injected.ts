/** Kills at a chosen step instead of a random moment: at the first rename, the second, … of a command, by strace. */
import { contentOf, putBack } from './bed.ts';
import { CASES, type Undisturbed, wholeFiles } from './crashes.ts';
import { makeScene } from './scene.ts';

/** What changes files, directories, locks and processes. */
const CALLS = ['rename', 'mkdir', 'fsync', 'unlink', 'rmdir', 'ftruncate', 'flock', 'vfork', 'execve'];
/** More of one call than any command makes. */
const MOST = 80;

/** Kills one case's command at each of its calls, one at a time; what was wrong, one sentence each. */
export const injectedProblems = async (name: string): Promise<{ kills: number; problems: string[] }> => {
  if (!Bun.which('strace'))
    return { kills: 0, problems: ['strace is not installed; it makes kills at chosen steps'] };
  const { prepare, command, always, leaves, finally: last } = CASES[name]!;
  const scene = makeScene(`injected-${name.replaceAll(' ', '-')}`, 'cmp-crash');
  const problems: string[] = [];
  let kills = 0;
  try {
    await prepare(scene);
    const begin = contentOf(scene.file('work'));
    const ended = await scene.run(command);
    const before: Undisturbed = { ended, files: contentOf(scene.file('work')), ms: 0 };
    for (const call of CALLS)
      for (let at = 1; at <= MOST; at++) {
        putBack(scene.file('work'), begin);
        for (const place of ['cache', 'tmp']) putBack(scene.file(place), new Map());
        const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`];
        const killed = await scene.run(command, {
          through: [...strace, '-e', `inject=${call}:signal=SIGKILL:when=${at}`],
        });
        if (killed.exit === 0) break;
        kills++;
        const check = (found: readonly string[]): void =>
          void problems.push(...found.map((one) => `${call} number ${at}: ${one}`));
        check([...wholeFiles(scene), ...(always?.(scene) ?? [])]);
        const again = await scene.run(command);
        if (again.exit !== 0)
          check([`the same command ends with ${again.exit}: ${again.stderr.slice(-500)}`]);
        else
          check([
            ...wholeFiles(scene),
            ...(always?.(scene) ?? []),
            // A pod that was killed is a session that failed; its log stays.
            ...(last?.(scene, again, before) ?? []).filter((one) => !/pod\.log\.failed-/.test(one)),
            ...scene.leftovers().filter((one) => !leaves?.test(one)),
          ]);
      }
    return { kills, problems };
  } finally {
    scene.remove();
  }
};
