/**
 * A llama model of random weights as a GGUF file (version 3): real enough for llama.cpp to load and to complete with, small enough
 * to be made anew for each test. Its words are bytes.
 */
const MAGIC = 0x46554747;
const TYPE = { u32: 4, f32: 6, bool: 7, string: 8, array: 9, i32: 5 } as const;
const F32 = 0;
const ALIGN = 32;

const [EMBED, HEADS, FORWARD, LAYERS, CONTEXT] = [64, 4, 128, 2, 512];

class Writer {
  readonly parts: Buffer[] = [];
  u32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.parts.push(bytes);
    return this;
  }
  i32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    this.parts.push(bytes);
    return this;
  }
  u64(value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    this.parts.push(bytes);
    return this;
  }
  f32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.parts.push(bytes);
    return this;
  }
  string(value: string): this {
    const bytes = Buffer.from(value);
    this.u64(bytes.length);
    this.parts.push(bytes);
    return this;
  }
}

type Value =
  | { is: 'u32'; value: number }
  | { is: 'f32'; value: number }
  | { is: 'bool'; value: number }
  | { is: 'string'; value: string }
  | { is: 'strings'; value: string[] }
  | { is: 'floats' | 'ints'; values: number[] };

const write = (to: Writer, one: Value): void => {
  if (one.is === 'u32') to.u32(TYPE.u32).u32(one.value);
  else if (one.is === 'f32') to.u32(TYPE.f32).f32(one.value);
  else if (one.is === 'bool') {
    to.u32(TYPE.bool);
    to.parts.push(Buffer.from([one.value]));
  } else if (one.is === 'string') to.u32(TYPE.string).string(one.value);
  else if (one.is === 'strings') {
    to.u32(TYPE.array).u32(TYPE.string).u64(one.value.length);
    for (const text of one.value) to.string(text);
  } else {
    const floats = one.is === 'floats';
    to.u32(TYPE.array)
      .u32(floats ? TYPE.f32 : TYPE.i32)
      .u64(one.values.length);
    for (const number of one.values)
      if (floats) to.f32(number);
      else to.i32(number);
  }
};

/** Every byte is a word; three more begin and end texts, or are unknown. */
const TOKENS = [
  '<unk>',
  '<s>',
  '</s>',
  ...Array.from({ length: 256 }, (_, at) => `<0x${at.toString(16).toUpperCase().padStart(2, '0')}>`),
];
const KINDS = [2, 3, 3, ...Array.from({ length: 256 }, () => 6)];

const METADATA: Readonly<Record<string, Value>> = {
  'general.architecture': { is: 'string', value: 'llama' },
  'general.name': { is: 'string', value: 'random' },
  'llama.context_length': { is: 'u32', value: CONTEXT },
  'llama.embedding_length': { is: 'u32', value: EMBED },
  'llama.block_count': { is: 'u32', value: LAYERS },
  'llama.feed_forward_length': { is: 'u32', value: FORWARD },
  'llama.attention.head_count': { is: 'u32', value: HEADS },
  'llama.attention.head_count_kv': { is: 'u32', value: HEADS },
  'llama.attention.layer_norm_rms_epsilon': { is: 'f32', value: 1e-5 },
  'llama.rope.dimension_count': { is: 'u32', value: EMBED / HEADS },
  'llama.vocab_size': { is: 'u32', value: TOKENS.length },
  'general.file_type': { is: 'u32', value: F32 },
  'tokenizer.ggml.model': { is: 'string', value: 'llama' },
  'tokenizer.ggml.tokens': { is: 'strings', value: TOKENS },
  'tokenizer.ggml.scores': { is: 'floats', values: TOKENS.map(() => 0) },
  'tokenizer.ggml.token_type': { is: 'ints', values: KINDS },
  'tokenizer.ggml.unknown_token_id': { is: 'u32', value: 0 },
  'tokenizer.ggml.bos_token_id': { is: 'u32', value: 1 },
  'tokenizer.ggml.eos_token_id': { is: 'u32', value: 2 },
  'tokenizer.ggml.add_bos_token': { is: 'bool', value: 1 },
};

const TENSORS: [name: string, ...shape: number[]][] = [
  ['token_embd.weight', EMBED, TOKENS.length],
  ['output_norm.weight', EMBED],
  ['output.weight', EMBED, TOKENS.length],
  ...Array.from({ length: LAYERS }, (_, at): [string, ...number[]][] => [
    [`blk.${at}.attn_norm.weight`, EMBED],
    [`blk.${at}.attn_q.weight`, EMBED, EMBED],
    [`blk.${at}.attn_k.weight`, EMBED, EMBED],
    [`blk.${at}.attn_v.weight`, EMBED, EMBED],
    [`blk.${at}.attn_output.weight`, EMBED, EMBED],
    [`blk.${at}.ffn_norm.weight`, EMBED],
    [`blk.${at}.ffn_gate.weight`, EMBED, FORWARD],
    [`blk.${at}.ffn_up.weight`, EMBED, FORWARD],
    [`blk.${at}.ffn_down.weight`, FORWARD, EMBED],
  ]).flat(),
];

const aligned = (size: number): number => Math.ceil(size / ALIGN) * ALIGN;

/** The file's bytes; the same seed gives the same. */
export const randomModel = (seed = 1): Buffer => {
  let state = seed;
  const random = (): number => ((state = (state * 48271) % 2147483647) / 2147483647 - 0.5) / 4;
  const head = new Writer().u32(MAGIC).u32(3).u64(TENSORS.length).u64(Object.keys(METADATA).length);
  for (const [key, value] of Object.entries(METADATA)) write(head.string(key), value);
  const bodies: Buffer[] = [];
  let offset = 0;
  for (const [name, ...shape] of TENSORS) {
    head.string(name).u32(shape.length);
    for (const one of shape) head.u64(one);
    head.u32(F32).u64(offset);
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
      name.includes('norm') ? 1 : random(),
    );
    const body = Buffer.alloc(aligned(values.byteLength));
    Buffer.from(values.buffer).copy(body);
    bodies.push(body);
    offset += body.length;
  }
  const start = Buffer.concat(head.parts);
  return Buffer.concat([start, Buffer.alloc(aligned(start.length) - start.length), ...bodies]);
};
