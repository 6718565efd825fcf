import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { takeMembers, takeTree } from './members.ts';

let base: string;
beforeAll(() => void (base = mkdtempSync(join(tmpdir(), 'k8sbench-members-'))));
afterAll(() => rmSync(base, { recursive: true }));

interface Member {
  name: string;
  content?: string | Buffer;
  type?: string;
  link?: string;
  /** Octal text of the time, when it is not 0. */
  time?: string;
}

/** One member as it stands in an archive (POSIX ustar), with nothing put right. */
const member = ({ name, content = '', type = '0', link = '', time }: Member): Buffer => {
  const body = Buffer.from(content);
  const head = Buffer.alloc(512);
  head.write(name, 0, 100, 'latin1');
  head.write('0000644\0', 100);
  head.write('0000000\0', 108);
  head.write('0000000\0', 116);
  head.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
  head.write(time ?? '00000000000\0', 136, 12, 'latin1');
  head.write('        ', 148);
  head.write(type, 156);
  head.write(link, 157, 100, 'latin1');
  head.write('ustar\x0000', 257);
  const sum = head.reduce((all, byte) => all + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([head, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
};
const END = Buffer.alloc(1024);
const tar = (...members: Member[]): Buffer => Buffer.concat([...members.map(member), END]);
const pax = (key: string, value: string): Member => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const length = [2, 3].map((digits) => rest + digits).find((all) => String(all).length === all - rest)!;
  return { name: 'PaxHeader', type: 'x', content: `${length} ${key}=${value}\n` };
};

let made = 0;
const take = async (bytes: Buffer, wanted: Record<string, string> = { good: 'out' }, name = 'a.tar') => {
  const directory = mkdtempSync(join(base, `${++made}-`));
  const path = join(directory, 'archive');
  writeFileSync(path, bytes);
  const out = new Map(Object.entries(wanted).map(([from, to]) => [from, join(directory, to)]));
  await takeMembers(path, name, bytes.length, out);
  return Object.fromEntries(
    readdirSync(directory)
      .filter((one) => one !== 'archive')
      .map((one) => [one, readFileSync(join(directory, one), 'utf8')]),
  );
};
const good: Member = { name: 'good', content: 'yes' };
/** -1 s in GNU's base-256, all of it ones. */
const NEGATIVE = '\xff'.repeat(12);

describe('wanted members come out', () => {
  test.each<[string, Buffer, string]>([
    ['of a plain archive', tar(good, { name: 'other', content: 'no' }), 'a.tar'],
    ['of a compressed one', gzipSync(tar({ name: 'dir/', type: '5' }, good)), 'a.tar.gz'],
    ['named with ./', tar({ name: './', type: '5' }, { ...good, name: './good' }), 'a.tar'],
    ['beside links that stay inside', tar({ name: 'd/l', type: '2', link: '../good' }, good), 'a.tar'],
    ['whose time is before 1970', tar({ ...good, time: NEGATIVE }), 'a.tar'],
    ['whose time no calendar has', tar(pax('mtime', '-99999999999999.5'), good), 'a.tar'],
    ['with a long name of pax', tar(pax('path', 'good'), { name: 'short', content: 'yes' }), 'a.tar'],
  ])('%s', async (_, bytes, name) => expect(await take(bytes, undefined, name)).toEqual({ out: 'yes' }));

  test('a name of more than 100 bytes and beyond ASCII', async () => {
    const long = `${'ü'.repeat(90)}/good`;
    expect(await take(tar(pax('path', long), good), { [long]: 'out' })).toEqual({ out: 'yes' });
  });
});

describe('a whole tree comes out', () => {
  const tree = async (...members: Member[]) => {
    const directory = mkdtempSync(join(base, `${++made}-`));
    const [path, out] = [join(directory, 'archive'), join(directory, 'out')];
    const bytes = tar(...members);
    writeFileSync(path, bytes);
    await takeTree(path, 'a.tar', bytes.length, 'top', out);
    return out;
  };

  test('files, directories, links; modes; what stands elsewhere stays behind', async () => {
    const out = await tree(
      { name: 'top/', type: '5' },
      { name: 'top/a', content: 'A' },
      { name: 'top/l', type: '2', link: 'a' },
      { name: 'top/h', type: '1', link: 'top/a' },
      { name: 'top/empty/', type: '5' },
      { name: 'topper', content: 'x' },
    );
    expect(readdirSync(out)).toEqual(['top']);
    expect(readdirSync(join(out, 'top')).toSorted()).toEqual(['a', 'empty', 'h', 'l']);
    expect(readFileSync(join(out, 'top/l'), 'utf8') + readFileSync(join(out, 'top/h'), 'utf8')).toBe('AA');
  });

  test.each<[string, Member[], string]>([
    [
      'a link, then a path through it',
      [
        { name: 'top/d', type: '2', link: '../x' },
        { name: 'top/d/evil', content: 'x' },
      ],
      "goes through the link 'top/d'",
    ],
    [
      'a link, then a file in its place',
      [
        { name: 'top/d', type: '2', link: 'x' },
        { name: 'top/d', content: 'x' },
      ],
      'is there twice',
    ],
    [
      'a link, then a directory in its place',
      [
        { name: 'top/d', type: '2', link: 'x' },
        { name: 'top/d/', type: '5' },
        { name: 'top/d/f', content: 'x' },
      ],
      'is there twice',
    ],
    [
      'a file, then a path through it',
      [
        { name: 'top/f', content: 'x' },
        { name: 'top/f/g', content: 'x' },
      ],
      "archive 'a.tar'",
    ],
    [
      'a hard link through a link',
      [{ name: 'top/d', type: '2', link: '/etc' }],
      'is a link out of the archive',
    ],
    [
      'links that lead out one through the other, whichever comes first',
      [
        { name: 'top/a/b/c/t', type: '2', link: 's/../../../x' },
        { name: 'top/a/b/c/s', type: '2', link: '../../../../top' },
      ],
      "member 'top/a/b/c/t' is a link that leads out of the archive through others, to 's/../../../x'",
    ],
    [
      'a hard link to what a link leads to',
      [
        { name: 'top/f', content: 'x' },
        { name: 'top/l', type: '2', link: 'f' },
        { name: 'top/h', type: '1', link: 'top/l' },
      ],
      "member 'top/h' is a hard link through the link 'top/l'",
    ],
    [
      'a hard link through a link to a directory',
      [
        { name: 'top/d/f', content: 'x' },
        { name: 'top/l', type: '2', link: 'd' },
        { name: 'top/h', type: '1', link: 'top/l/f' },
      ],
      "is a hard link through the link 'top/l'",
    ],
    ['a hard link to what is not there', [{ name: 'top/h', type: '1', link: 'top/gone' }], "archive 'a.tar'"],
    ['nothing', [{ name: 'other', content: 'x' }], "has nothing below 'top/'"],
  ])('refused: %s', async (_, members, says) => expect(tree(...members)).rejects.toThrow(says));
});

describe('an archive is refused whole', () => {
  test.each<[string, Buffer, string]>([
    ['a path upwards', tar(good, { name: '../evil' }), "member '../evil' leaves the place"],
    ['a path upwards inside', tar(good, { name: 'a/../../evil' }), 'leaves the place'],
    ['an absolute path', tar(good, { name: '/etc/passwd' }), "member '/etc/passwd' leaves the place"],
    ['an absolute path of pax', tar(pax('path', '/etc/x'), good), "member '/etc/x' leaves the place"],
    ['a backslash', tar(good, { name: '..\\evil' }), 'leaves the place'],
    [
      'a link outside',
      tar(good, { name: 'l', type: '2', link: '../../etc' }),
      "member 'l' is a link out of the archive",
    ],
    ['an absolute link', tar(good, { name: 'l', type: '2', link: '/etc' }), "to '/etc'"],
    [
      'a hard link outside',
      tar(good, { name: 'l', type: '1', link: '../x' }),
      'is a link out of the archive',
    ],
    [
      'a path through a link',
      tar({ name: 'd', type: '2', link: 'e' }, { name: 'd/good', content: 'x' }, good),
      "member 'd/good' goes through the link 'd'",
    ],
    ['a member twice', tar(good, good), "member 'good' is there twice"],
    ['a member twice, spelled otherwise', tar(good, { ...good, name: './good' }), 'is there twice'],
    ['a device', tar(good, { name: 'sda', type: '4' }), 'is a block-device'],
    ['a character device', tar(good, { name: 'null', type: '3' }), 'is a character-device'],
    ['a pipe', tar(good, { name: 'p', type: '6' }), 'is a fifo'],
    [
      'a path through a link, named with ./',
      tar({ name: './d', type: '2', link: '.' }, { name: './d/good', content: 'x' }),
      "goes through the link 'd'",
    ],
    [
      'a hard link to what is not there yet',
      tar({ name: 'good', type: '1', link: 'later' }),
      'is wanted and is no file',
    ],
    ['a name with a NUL of pax', tar(pax('path', 'a\0b'), good), 'leaves the place'],
    ['a size that no archive has', tar(pax('size', '99999999999999'), good), "archive 'a.tar'"],
    [
      'a header without end',
      tar({ name: 'PaxHeader', type: 'x', content: Buffer.alloc(12 << 20) }, good),
      'a header of it is longer than 4194304 bytes',
    ],
    ['a negative size', tar(pax('size', '-1'), good), "archive 'a.tar'"],
    ['an old sparse member', tar(good, { name: 's', type: 'S' }), "member 's' is a"],
    ['a sparse member', tar(pax('GNU.sparse.major', '1'), good), 'is sparse'],
    ['a wanted link', tar({ name: 'good', type: '2', link: 'x' }), "member 'good' is wanted and is no file"],
    ['no such member', tar({ name: 'other' }), "archive 'a.tar' has no member 'good'"],
    ['a cut between members', member(good), 'the two empty blocks at its end are missing'],
    ['a cut within a member', tar(good).subarray(0, 700), "archive 'a.tar'"],
    ['a broken head', Buffer.concat([Buffer.alloc(512, 1), END]), "archive 'a.tar'"],
    ['no archive', Buffer.from('hello'), "archive 'a.tar'"],
    ['nothing', Buffer.alloc(0), "archive 'a.tar'"],
  ])('%s', async (_, bytes, says) => expect(take(bytes)).rejects.toThrow(says));

  test('what becomes a thousand times its size', async () => {
    const bomb = gzipSync(tar({ name: 'good', content: Buffer.alloc(64 << 20) }), { level: 9 });
    await expect(take(bomb, undefined, 'a.tgz')).rejects.toThrow('becomes more than 200 times its size');
  });

  test('compressed bytes that are none', async () =>
    expect(take(Buffer.from('hello'), undefined, 'a.tar.gz')).rejects.toThrow("archive 'a.tar.gz'"));

  test('a kind of archive that is not read', async () =>
    expect(take(tar(good), undefined, 'a.zip')).rejects.toThrow('expected a .tar.gz, .tgz or .tar'));
});

test('an archive that is refused is closed', async () => {
  const directory = mkdtempSync(join(base, 'closed-'));
  const path = join(directory, 'archive');
  // Longer than what is read ahead, and refused at its first member.
  writeFileSync(
    path,
    gzipSync(Buffer.concat([member({ name: '../x' }), randomBytes(8 << 20)]), { level: 0 }),
  );
  await expect(takeMembers(path, 'a.tar.gz', 8 << 20, new Map())).rejects.toThrow('leaves the place');
  await Bun.sleep(50);
  const open = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
  expect(open).toEqual([]);
});
