/** What a tool is made of, and what it is called with. */
import type { Exit } from './exit.ts';
import type { Flags, Values } from './flags.ts';
import type { Talk } from './talk.ts';
import type { World } from './world.ts';

/** A positional word. */
export interface Word {
  /** As the help shows it; a trailing `…` on the last one takes any number. */
  name: string;
  about: string;
  required?: boolean;
  /** The only words that fit. */
  options?: readonly string[];
}

/** What `run` gets: checked flags, positional words, the world and a voice on stderr. */
export interface Call<F extends Flags> {
  flags: Values<F>;
  /** The flags that were given, by name, with their values as written: what a pipeline hands on. */
  given: ReadonlyMap<string, readonly string[]>;
  words: string[];
  world: World;
  talk: Talk;
}

/** What a tool is made of; `defineTool` makes one of it. */
export interface ToolDefinition<F extends Flags> {
  /** The folder's name, and the word after `k8sbench`. */
  name: string;
  /** One line. */
  about: string;
  flags: F;
  words?: readonly Word[];
  /** Blocks after the options: what is read and written, examples. */
  more?: string;
  /** Exit statuses that this tool can end with, for the help. */
  exits: readonly Exit[];
  run(call: Call<F>): Promise<Exit>;
}

/** A tool as pipelines, completion and tests see it. */
export interface Tool {
  readonly name: string;
  readonly about: string;
  readonly flags: Flags;
  readonly words: readonly Word[];
  /** The help text without colours: what the README opens with. */
  help(): Promise<string>;
  main(args: readonly string[], world: World): Promise<Exit>;
}
