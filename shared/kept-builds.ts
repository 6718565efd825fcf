/**
 * Builds of commits that `profile` keeps, `<cache>/k8sbench/builds/<repository>/<commit>-<build>`: how sessions find those that
 * their programs come from, and keep them from being removed meanwhile.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isStill, shareFile } from './locks.ts';

/** Written last into a build's directory: without it the build is not whole. */
export const BUILT = 'built.json';
/** In a build's directory: shared by the sessions that measure from it, had alone by whoever removes it. */
export const MEASURED = 'measured.lock';

const ENTRY = /\/k8sbench\/builds\/[^/]+\/[0-9a-f]{12}-[0-9a-f]{8}(?=\/|$)/g;

/** Where a path that ends at `end` may begin in a word: `--file=/a/b` and `cd '/a/b'` have one inside. */
const endingAt = (word: string, end: number): string[] =>
  [...word.matchAll(/\//g)].filter(({ index }) => index < end).map(({ index }) => word.slice(index, end));

/** Directories of kept builds that words of commands name, each once. */
export const buildsIn = (words: readonly string[]): string[] => {
  const found = words.flatMap((word) =>
    [...word.matchAll(ENTRY)].flatMap(({ index, 0: text }) => {
      const entry = endingAt(word, index + text.length).find((path) => existsSync(join(path, BUILT)));
      return entry === undefined ? [] : [entry];
    }),
  );
  return [...new Set(found)];
};

/**
 * Keeps a build from being removed until the function that it gives is called, or this process ends. One that is gone by then
 * is held by nobody: whoever starts its programs finds that out.
 */
export const holdBuild = (entry: string): (() => void) => {
  for (;;) {
    let fd: number;
    try {
      fd = openSync(join(entry, MEASURED), 'a', 0o666);
    } catch {
      return () => undefined;
    }
    if (!shareFile(fd) || isStill(join(entry, MEASURED), fd)) return () => closeSync(fd);
    closeSync(fd);
  }
};
