/** Words of a command line, from the name a program was called by. Pure. */
import { basename } from 'node:path';

/**
 * `k8sbench-plan …` is `k8sbench plan …`: a link to the compiled binary is the tool that its name ends with. Other names
 * (`k8sbench-linux-x64`) say nothing.
 */
export const wordsCalled = (
  name: string,
  args: readonly string[],
  tools: readonly string[],
): readonly string[] => {
  const tool = /^k8sbench-(.+)$/.exec(basename(name))?.[1];
  return tool !== undefined && tools.includes(tool) ? [tool, ...args] : args;
};
