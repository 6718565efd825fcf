/** What a hub says of a revision's files: large ones with their SHA-256, small ones without; those are looked at. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import type { Model } from '../../../schemas/models-lock.ts';
import { EXIT } from '../../../shared/exit.ts';
import { cause, failed, Failure, usage } from '../../../shared/failure.ts';
import { sha256, sha256File } from '../../../shared/files.ts';
import { check, parseJson, readText } from '../../../shared/read.ts';
import { Silence } from '../../../shared/silence.ts';
import type { Talk } from '../../../shared/talk.ts';
import type { World } from '../../../shared/world.ts';

const listing = v.looseObject({
  sha: v.optional(v.string()),
  lastModified: v.optional(v.string()),
  siblings: v.array(
    v.looseObject({
      rfilename: v.string(),
      size: v.optional(v.pipe(v.number(), v.safeInteger())),
      lfs: v.optional(
        v.nullable(
          v.looseObject({
            sha256: v.optional(v.string()),
            oid: v.optional(v.string()),
            size: v.optional(v.number()),
          }),
        ),
      ),
    }),
  ),
});

export interface ListedFile {
  path: string;
  size: number;
  /** Absent: the hub keeps it as text and says no SHA-256. */
  sha256?: string;
}

export interface Listing {
  files: ListedFile[];
  published?: string;
}

interface At {
  hub: string;
  repository: string;
  revision: string;
}

/** A hub's file that is no part of the model. */
const NOTES = /^\.git(attributes|ignore)?$/;

/** Small files are fetched whole, bytes. */
const LARGEST = 64 << 20;

/** What an address answers, whole. */
const get = async (url: string, { interrupted }: World): Promise<Buffer> => {
  const silence = new Silence(interrupted);
  try {
    const response = await fetch(url, { signal: silence.signal });
    if (!response.ok) throw failed(`'${url}' answered ${response.status}`);
    if (url.startsWith('https:') && !response.url.startsWith('https:'))
      throw failed(`'${url}' leads to '${response.url}', which is not https`);
    const parts: Uint8Array[] = [];
    let got = 0;
    for await (const part of silence.parts(response)) {
      got += part.length;
      if (got > LARGEST)
        throw failed(`'${url}' is longer than ${LARGEST} bytes, the most that is taken of it`);
      parts.push(part.slice());
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (interrupted.aborted)
      throw new Failure(
        EXIT.interrupted,
        `interrupted by ${String(interrupted.reason)} while asking '${url}'`,
      );
    if (error instanceof Failure) throw error;
    throw failed(`can't get '${url}': ${cause(error)}`);
  } finally {
    silence.end();
  }
};

/** From a copy, else from the hub. */
export const listingOf = async (
  { hub, repository, revision, listing: copy }: At & { listing?: string | undefined },
  world: World,
  talk: Talk,
): Promise<Listing> => {
  const url = `${hub}/api/models/${repository}/revision/${revision}?blobs=true`;
  const shown = copy ?? url;
  if (copy === undefined) talk.info(`asking ${url}`);
  const written =
    copy === undefined ? (await get(url, world)).toString('utf8') : readText(resolve(world.cwd, copy), copy);
  const found = check(listing, { value: parseJson(written, shown) }, shown);
  if (found.sha !== undefined && found.sha !== revision)
    throw usage(`'${shown}' lists revision ${found.sha}, '--revision' says ${revision}`);
  const files = found.siblings
    .filter((one) => !NOTES.test(one.rfilename))
    .map(({ rfilename, size, lfs }): ListedFile => {
      const digest = lfs?.sha256 ?? lfs?.oid;
      const bytes = lfs?.size ?? size;
      if (bytes === undefined)
        throw failed(`${shown}: '${rfilename}' has no size; list it with '?blobs=true'`);
      return { path: rfilename, size: bytes, ...(digest === undefined ? {} : { sha256: digest }) };
    });
  return { files, ...(found.lastModified === undefined ? {} : { published: found.lastModified }) };
};

/** The SHA-256 of a file that the listing has none of: from the directory, else from the hub. */
const digestOf = async (
  { path, size }: ListedFile,
  { hub, repository, revision, dir }: At & { dir?: string | undefined },
  world: World,
): Promise<string> => {
  if (dir !== undefined) {
    const full = join(resolve(world.cwd, dir), path);
    if (!existsSync(full))
      throw failed(`'${dir}' has no '${path}', and the listing does not say its SHA-256`);
    if (statSync(full).size !== size)
      throw failed(`'${join(dir, path)}' has ${statSync(full).size} bytes, the listing says ${size}`);
    return sha256File(full);
  }
  if (size > LARGEST)
    throw failed(`'${path}' has ${size} bytes and no SHA-256 in the listing; '--dir' takes a copy`);
  const url = `${hub}/${repository}/resolve/${revision}/${path.split('/').map(encodeURIComponent).join('/')}`;
  const bytes = await get(url, world);
  if (bytes.length !== size) throw failed(`'${url}' has ${bytes.length} bytes, the listing says ${size}`);
  return sha256(bytes);
};

/** Files as models.lock has them, in bytewise order. */
export const withDigests = async (
  files: readonly ListedFile[],
  at: At & { dir?: string | undefined },
  world: World,
): Promise<Model['files']> => {
  const sorted = files.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const all: Model['files'] = {};
  for (const one of sorted)
    all[one.path] = { size: one.size, sha256: one.sha256 ?? (await digestOf(one, at, world)) };
  return all;
};
