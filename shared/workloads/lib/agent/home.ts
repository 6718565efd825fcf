/** Where an agent lives during one sample: a home of its own with its settings, and a project with one file. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILE_NAME, FILE_TEXT, MODEL } from './definition.ts';
import { MARKER } from './tree.ts';
import { fillAll, type Values } from './placeholders.ts';
import type { Settings } from './settings.ts';

export interface Home {
  /** Holds everything; removed at the end. */
  base: string;
  home: string;
  project: string;
  file: string;
  /** Of this sample alone, in the environment of all that the agent starts. */
  marker: string;
}

/** Makes an empty home and the project. */
export const makeHome = (dir: string): Home => {
  mkdirSync(dir, { recursive: true });
  const base = realpathSync(mkdtempSync(join(dir, 'sample-')));
  const home = join(base, 'home');
  const project = join(home, 'project');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  mkdirSync(project);
  const file = join(project, FILE_NAME);
  writeFileSync(file, FILE_TEXT);
  return { base, home, project, file, marker: base.slice(base.lastIndexOf('-') + 1) + process.pid };
};

export const removeHome = ({ base }: Home): void => rmSync(base, { recursive: true, force: true });

/** What placeholders stand for. */
export const valuesFor = ({ home, project, file }: Home, arm: string, url: string): Values => ({
  node: process.versions['bun'] ? 'node' : process.execPath,
  // The words of packages and of toolchains for this kind of machine.
  arch: process.arch,
  cpu: process.arch === 'arm64' ? 'aarch64' : 'x86_64',
  arm,
  home,
  project,
  file,
  url,
  model: MODEL,
  // A path as a file's name, as agents write it.
  dashes: project.slice(1).replaceAll('/', '-'),
});

/** Writes the agent's files into its home. */
export const writeFiles = (settings: Settings, home: string, values: Values): void => {
  for (const [path, content] of Object.entries(settings.files ?? {})) {
    const to = join(home, path);
    mkdirSync(dirname(to), { recursive: true });
    const filled = fillAll(content, values);
    writeFileSync(to, typeof filled === 'string' ? filled : `${JSON.stringify(filled, undefined, 2)}\n`);
  }
};

/**
 * The agent's environment: nothing of the user's but the PATH. Whoever asks for another host goes through a proxy, which is
 * the scripted model: it refuses, and remembers the host.
 */
export const environmentFor = (
  settings: Settings,
  { home, marker }: Home,
  values: Values,
  port: number,
): Record<string, string> => {
  const proxy = `http://127.0.0.1:${port}`;
  const kept = Object.fromEntries(
    ['PATH', 'GOMAXPROCS', 'K8SBENCH_STEP'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    ...kept,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    SHELL: '/bin/sh',
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: '127.0.0.1,localhost,::1',
    no_proxy: '127.0.0.1,localhost,::1',
    [MARKER]: marker,
    ...(fillAll(settings.env ?? {}, values) as Record<string, string>),
  };
};
