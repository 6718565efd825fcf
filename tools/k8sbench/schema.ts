import { toJsonSchema } from '@valibot/to-json-schema';
import { type Format, FORMATS } from '../../schemas/formats.ts';
import { defineTool } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { jsonText } from '../../shared/read.ts';
import { table } from '../../shared/terminal.ts';

/** How the records of a format are written down. */
const SHAPES: Readonly<Record<Format['shape'], string>> = {
  json: 'one JSON value',
  jsonl: 'JSON, one object per line',
  yaml: 'YAML',
  sha256sum: "sha256sum's lines, here as a list of digest and path",
};

/** The JSON Schema of what a file holds as it is written; rules beyond its reach are named in `$comment`. */
const jsonSchemaOf = (name: string, { schema, shape, file, about }: Format): object => ({
  title: `${name} (${file})`,
  description: `${about}; ${SHAPES[shape]}`,
  ...toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], {
    target: 'draft-2020-12',
    // What a reader accepts: older words that are read and never written belong to it.
    typeMode: 'input',
    errorMode: 'ignore',
    overrideAction: ({ valibotAction, jsonSchema }) => {
      if (valibotAction.type === 'raw_check')
        return { ...jsonSchema, $comment: 'rules that span fields are checked when it is read' };
      if (valibotAction.type === 'check')
        return { ...jsonSchema, $comment: String((valibotAction as { message?: unknown }).message) };
      return undefined;
    },
  }),
});

export const tool = defineTool({
  name: 'schema',
  about: 'prints the JSON Schema of a file format, or the list of formats',
  words: [{ name: 'FORMAT', about: 'without it, the formats are listed', options: Object.keys(FORMATS) }],
  flags: {},
  exits: [EXIT.done, EXIT.usage],
  async run({ words: [name], world }) {
    if (name === undefined) {
      const rows = Object.entries(FORMATS).map(([format, { file, about }]) => [format, file, about]);
      await world.stdout.write(table(rows));
      return EXIT.done;
    }
    await world.stdout.write(jsonText(jsonSchemaOf(name, FORMATS[name]!)));
    return EXIT.done;
  },
});
