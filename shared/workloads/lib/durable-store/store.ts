/** What the program measures: a place that keeps a conversation. To compare a store of your own, write a module like `journal.ts`. */
import type { Message } from './conversation.ts';

export interface Store {
  /** Adds messages. When it returns, they survive a crash of the machine (the floor alone keeps nothing). */
  append(messages: readonly Message[]): void;
  /** Every message, oldest first, read from where the store keeps them. */
  messages(): Iterable<Message>;
  close(): void;
}

/** Opens the store kept in a directory; an empty directory is an empty store. */
export type OpenStore = (directory: string) => Store;
