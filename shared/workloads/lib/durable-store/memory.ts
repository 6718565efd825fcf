/** The floor: keeps nothing. What a turn costs here, it costs everywhere; the analysis subtracts it. */
import type { Message } from './conversation.ts';
import type { OpenStore } from './store.ts';

export const openMemory: OpenStore = () => {
  const kept: Message[] = [];
  return {
    append: (messages) => void kept.push(...messages),
    messages: () => kept,
    close: () => undefined,
  };
};
