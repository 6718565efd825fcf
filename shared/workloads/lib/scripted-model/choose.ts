import type { Question } from './question.ts';
import type { Call, Reply, Scene, Script, Usage, When } from './script.ts';

/** What is said and done in reply, with nothing left open. */
export interface Answer {
  scene: string;
  /** Index of the reply within its scene. */
  at: number;
  reply: Reply;
  text: string;
  calls: { tool: string; arguments: string }[];
  usage: Usage;
}

const fits = (when: When | undefined, question: Question): boolean =>
  when === undefined ||
  ((when.system === undefined || question.system.includes(when.system)) &&
    (when.user === undefined || question.users.some((one) => one.includes(when.user!))) &&
    (when.last === undefined || (question.users.at(-1) ?? '').includes(when.last)) &&
    (when.model === undefined || question.model.includes(when.model)) &&
    (when.tools === undefined || question.tools.length > 0 === when.tools));

/** The call itself; of several, the first whose tool is offered. */
const settled = (call: Call, tools: readonly string[]): { tool: string; arguments: string } | undefined => {
  if (!('any' in call))
    return tools.includes(call.tool)
      ? { tool: call.tool, arguments: JSON.stringify(call.arguments) }
      : undefined;
  for (const one of call.any) {
    const found = settled(one, tools);
    if (found) return found;
  }
  return undefined;
};

const wanted = (call: Call): string[] => ('any' in call ? call.any.flatMap(wanted) : [call.tool]);

const tokens = (characters: number): number => Math.ceil(characters / 4);

const replyOf = (scene: Scene, question: Question): Reply | undefined =>
  scene.replies[question.rounds] ?? (scene.after === 'repeat' ? scene.replies.at(-1) : undefined);

/** The script's answer to a question, or why it has none. */
export const choose = (script: Script, question: Question): Answer | string => {
  const scene = script.scenes.find((one) => fits(one.when, question));
  if (!scene)
    return `no scene fits: the user's last message is '${(question.users.at(-1) ?? '').slice(0, 80)}'`;
  const reply = replyOf(scene, question);
  if (!reply)
    return `scene '${scene.name}' has ${scene.replies.length} replies, and round ${question.rounds + 1} is asked for`;
  const calls: Answer['calls'] = [];
  for (const call of reply.calls ?? []) {
    const found = settled(call, question.tools);
    if (!found)
      return `scene '${scene.name}' calls ${wanted(call)
        .map((one) => `'${one}'`)
        .join(' or ')}, and the request offers ${question.tools.join(', ') || 'no tools'}`;
    calls.push(found);
  }
  const text = reply.text ?? '';
  const said = text.length + calls.reduce((sum, one) => sum + one.arguments.length, 0);
  return {
    scene: scene.name,
    at: Math.min(question.rounds, scene.replies.length - 1),
    reply,
    text,
    calls,
    usage: {
      input: reply.usage?.input ?? tokens(question.characters),
      output: reply.usage?.output ?? tokens(said),
      cached: reply.usage?.cached ?? 0,
    },
  };
};

/** A text in so many pieces of about the same length, none of which cuts a character in two; fewer when it is short. */
export const pieces = (text: string, count: number): string[] => {
  const characters = [...text];
  const many = Math.min(count, characters.length);
  const from = (at: number): number => Math.floor((at * characters.length) / many);
  return Array.from({ length: many }, (_, at) => characters.slice(from(at), from(at + 1)).join(''));
};
