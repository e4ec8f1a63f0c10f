import { Argument } from '@commander-js/extra-typings';
import { defineCommand } from '../../command.ts';

const schemaNames = ['ktx', 'dataset', 'query', 'saved-query', 'agent', 'eval'] as const;

export const schemaCommand = defineCommand({
  description:
    'Prints the JSON Schema of ktx.yaml, a dataset file, a query, a saved query, an agent ' +
    'file or a question set, for editors and other programs.',
  examples: [
    ['ktx schema', 'all schemas, by name'],
    ['ktx schema dataset > dataset.schema.json', 'the schema of files in semantic-layer/'],
  ],
  define: (command) =>
    command.addArgument(new Argument('[name]', 'which schema (default: all)').choices(schemaNames)),
  async run({ args: [name] }) {
    const { jsonSchema } = await import('../../../project/open/schemas.ts');
    const { fileSchemas } = await import('../../flags/file-schemas.ts');
    const data =
      name === undefined
        ? Object.fromEntries(schemaNames.map((each) => [each, jsonSchema(fileSchemas[each])]))
        : jsonSchema(fileSchemas[name]);
    return { data, verbatim: true, text: JSON.stringify(data, null, 2) };
  },
});
