import { Argument } from '@commander-js/extra-typings';
import { defineCommand } from '../../command.ts';

const names = ['ktx', 'dataset', 'query', 'agent', 'eval'] as const;

export const schema = defineCommand({
  description:
    'Prints the JSON Schema of ktx.yaml, of a dataset file, of a query, of an agent file, or of a question set: for editors and programs.',
  examples: [
    ['ktx schema', 'all of them, by name'],
    ['ktx schema dataset > dataset.schema.json', 'what a file in semantic-layer/ may contain'],
  ],
  define: (command) => command.addArgument(new Argument('[name]', 'which one').choices(names)),
  async run({ args: [name] }) {
    const { jsonSchema } = await import('../../../project/open/schemas.ts');
    const { fileSchemas } = await import('../../flags/file-schemas.ts');
    const all = names.map((each) => [each, jsonSchema(fileSchemas[each])]);
    const data = name === undefined ? Object.fromEntries(all) : jsonSchema(fileSchemas[name]);
    return { data, verbatim: true, text: JSON.stringify(data, null, 2) };
  },
});
