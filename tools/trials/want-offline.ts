/** Tasks whose author wants them without a network, in words. */
const NAMED = 5;

export const wantOfflineText = (tasks: readonly string[]): string => {
  const named = tasks.slice(0, NAMED).map((one) => `'${one}'`);
  const more = tasks.length > NAMED ? ` and ${tasks.length - NAMED} more` : '';
  return `${tasks.length} ${tasks.length === 1 ? 'task wants' : 'tasks want'} no network, and trial pods have the cluster's: ${named.join(', ')}${more}; a network policy of the namespace can close it, but for the model`;
};
