/**
 * Kubernetes lists as JSON text, read item by item: `kubectl get … -o json` of a large cluster is hundreds of MB, of which
 * only one object needs to be in memory at a time. Where each object of `items` begins and ends is found by brackets and
 * quotes alone; reading it is left to `JSON.parse`, which is also what refuses everything that is no JSON.
 */
import { type Failure, failed } from '../../shared/failure.ts';

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA, BLANK] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x20,
];

/** Bytes around the items (kind, metadata; a single object when there is no list), and of one item. etcd takes no object above 1.5 MiB. */
const LARGEST = 64 << 20;

export type Item = Record<string, unknown>;
/** Gets each object; `kind` is its own, or what its list says. */
export type Take = (item: Item, kind: string) => void;

export interface ListScanner {
  /** The next bytes, at any boundaries. */
  push(bytes: Uint8Array): void;
  /** No more will come: refuses a text that breaks off. */
  end(): void;
}

/** Reads lists (`items`), plain arrays and single objects, one after another. `name` is the text's, for messages. */
export const listScanner = (name: string, take: Take): ListScanner => {
  const decoder = new TextDecoder();
  let [offset, depth, items] = [0, 0, 0];
  let [inString, escaped] = [false, false];
  /** Depth of the objects of the list that is being read; −1: not in one. */
  let itemsDepth = -1;
  let sawItems = false;
  let inItem = false;
  let listKind = '';
  /** The present item, or what stands around the items, as far as earlier bytes held it. */
  let pieces: Uint8Array[] = [];
  let around = '';

  const broken = (at: number, what: string): Failure =>
    failed(
      `${name}: ${what} at byte ${offset + at}; expected what 'kubectl get nodes,pods -A -o json' prints`,
    );

  const textUpTo = (bytes: Uint8Array, from: number, to: number): string => {
    const last = bytes.subarray(from, to);
    const whole = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    pieces = [];
    return decoder.decode(whole);
  };

  const parsed = (text: string, at: number, what: string): Item => {
    try {
      return JSON.parse(text) as Item;
    } catch {
      throw broken(at, `${what} is no JSON`);
    }
  };

  const tell = (item: Item, at: number): void => {
    const { kind } = item;
    const known = typeof kind === 'string' ? kind : listKind;
    if (known === '') throw broken(at, `item ${items} has no kind, and neither has its list,`);
    take(item, known);
  };

  /** Ends a document: its text without the items is JSON of its own. */
  const endDocument = (at: number): void => {
    const document = parsed(around, at, 'the list');
    if (!sawItems) {
      if (document['kind'] === 'Status')
        throw failed(`${name}: the API server's answer is '${String(document['message'])}'`);
      if (typeof document['kind'] !== 'string' || ('items' in document && document['items'] !== null))
        throw broken(at, 'no list');
      if (!('items' in document)) tell(document, at);
    }
    around = '';
    listKind = '';
    sawItems = false;
  };

  const push = (bytes: Uint8Array): void => {
    const { length } = bytes;
    /** Where the text that is being kept begins in these bytes. */
    let from = 0;
    let at = 0;
    if (escaped && length > 0) {
      escaped = false;
      at = 1;
    }
    for (; at < length; at++) {
      let byte = bytes[at]!;
      if (inString) {
        while (byte !== QUOTE && at < length) {
          if (byte === BACKSLASH) at++;
          byte = bytes[++at]!;
        }
        if (at < length) inString = false;
        // A backslash was the last byte: what it escapes comes next.
        else escaped = at > length;
        continue;
      }
      if (byte === BLANK) continue;
      if (
        depth === itemsDepth &&
        !inItem &&
        byte !== OPEN &&
        byte !== CLOSE_LIST &&
        byte !== COMMA &&
        byte > BLANK
      )
        throw broken(at, 'something that is no object');
      if (byte === QUOTE) {
        if (depth === 0) throw broken(at, 'no list');
        inString = true;
      } else if (byte === OPEN) {
        if (depth === itemsDepth && !inItem) {
          inItem = true;
          from = at;
        } else if (depth === 0) from = at;
        depth++;
      } else if (byte === CLOSE) {
        depth--;
        if (inItem && depth === itemsDepth) {
          tell(parsed(textUpTo(bytes, from, at + 1), at, `item ${items}`), at);
          items++;
          inItem = false;
        } else if (depth === 0 && itemsDepth === -1) {
          around += textUpTo(bytes, from, at + 1);
          endDocument(at);
        }
        if (depth < 0) throw broken(at, "an unexpected '}'");
      } else if (byte === OPEN_LIST) {
        depth++;
        if (depth === 1) itemsDepth = 1;
        else if (depth === 2 && itemsDepth === -1) {
          around += textUpTo(bytes, from, at + 1);
          from = at + 1;
          if (/"items"\s*:\s*\[$/.test(around)) {
            itemsDepth = 2;
            sawItems = true;
            listKind = /"kind"\s*:\s*"(\w+)List"/.exec(around)?.[1] ?? '';
          }
        }
      } else if (byte === CLOSE_LIST) {
        if (depth === itemsDepth && !inItem) {
          itemsDepth = -1;
          from = at;
        }
        depth--;
        if (depth < 0) throw broken(at, "an unexpected ']'");
      } else if (depth === 0 && byte > BLANK && !(offset + at < 3 && byte >= 0xbb))
        throw broken(at, 'no list');
    }
    const keeps = inItem || (depth > 0 && itemsDepth === -1);
    // A copy: the bytes are the caller's, who may fill them again (and Buffer's slice would be none).
    if (keeps) pieces.push(new Uint8Array(bytes.subarray(from)));
    if (pieces.reduce((sum, one) => sum + one.length, around.length) > LARGEST)
      throw broken(
        length,
        inItem ? `item ${items} is longer than ${LARGEST} bytes` : 'a text that is no list',
      );
    offset += length;
  };

  return {
    push,
    end() {
      if (depth > 0 || inString)
        throw failed(
          `${name}: it breaks off after ${offset} bytes, ${inItem ? `inside item ${items}` : 'inside the list'}; was the program that wrote it stopped?`,
        );
    },
  };
};
