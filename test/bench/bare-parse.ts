/** The peer of `analyze`: reads a file in large blocks and parses each line, nothing else. */
import { openSync, readSync } from 'node:fs';

const fd = openSync(process.argv[2]!, 'r');
const bytes = Buffer.allocUnsafe(32 << 20);
let held = 0;
let lines = 0;
for (;;) {
  const got = readSync(fd, bytes, held, 1 << 20, null);
  if (got === 0) break;
  const end = held + got;
  const last = bytes.lastIndexOf(10, end - 1) + 1;
  const text = bytes.toString('latin1', 0, last);
  for (let from = 0; from < last;) {
    const to = text.indexOf('\n', from);
    if (JSON.parse(text.slice(from, to)).seq >= 0) lines++;
    from = to + 1;
  }
  bytes.copyWithin(0, last, end);
  held = end - last;
}
console.log(lines);
