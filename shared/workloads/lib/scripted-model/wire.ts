/** What goes out: one JSON body, or the events of a stream, each with its empty line. */
export type Wire = { whole: unknown } | { events: string[] };
