const words = (line: string): string[] => line.split(' ');

const GROUPS: Readonly<Record<string, string[]>> = {
  'booleans and nulls of YAML 1.1': words(
    'y Y yes Yes YES n N no No NO on On ON off Off OFF true True TRUE false False FALSE null Null NULL ~ nil',
  ),
  'numbers of some YAML version, and nearly numbers': words(
    '0 -0 1 +1 -1 007 0777 0o17 0x1F 0b101 1_000 1e3 1E3 1e .5 5. 1.0 .inf -.inf +.INF .nan .NaN Infinity NaN 1:30 190:20:30 12:30:45.5 1,000 4294967296',
  ),
  dates: ['2026-01-02', '2026-01-02T03:04:05Z', '2026-1-2 3:4:5'],
  indicators: [
    ...words(
      "- ? a: # &a *a !a | > %a @a `a = << { } [ ] , {} [] \" ' \"a\" 'a' it's \\ \\n \\u0041 --- ...",
    ),
    ...['- a', ': a', 'a: b', 'a #b', '!!int 1', '--- a'].toSorted(),
  ],
  blanks: ['', ' ', '  a', 'a  ', '\t', 'a\tb'],
  lines: [
    ...Array.from('\n\r'),
    ...'a\n|\na|a\nb|a\nb\nc|a\nb\nc\n|a\n\n\n| a\nb\nc|a\n b\n\tc|a\r\nb'.split('|'),
  ],
  characters: Array.from('ü😀\u0001\u007f\u0085\u00a0\u2028\u2029\ufeff\ufffe\uffff\u{10ffff}').concat(
    '日本語',
    '\u001b[31m',
  ),
  'what the kubelet and shells expand': words(
    '$(POD_NAME) $$(POD_NAME) $( $ $$ $HOME ${HOME} `id` $(id) %s {{.x}} {turns}',
  ),
};

/** Texts that YAML readers, shells, JSON and Kubernetes take for something else than the text they are. */
export const AWKWARD: readonly string[] = Object.values(GROUPS).flat();
