import { Argument } from '@commander-js/extra-typings';
import { defineCommand } from './command.ts';

export const schema = defineCommand({
  description: 'Prints the JSON Schema of ktx.yaml, of a dataset file, or of a query: for editors and programs.',
  examples: [
    ['ktx schema', 'all three, by name'],
    ['ktx schema dataset > dataset.schema.json', 'what a file in semantic-layer/ may contain'],
  ],
  define: (command) => command.addArgument(new Argument('[name]', 'which one').choices(['ktx', 'dataset', 'query'])),
  async run({ args: [name] }) {
    const { jsonSchema, schemaNames } = await import('../project/schemas.ts');
    const data = name === undefined ? Object.fromEntries(schemaNames.map((each) => [each, jsonSchema(each)])) : jsonSchema(name);
    return { data, verbatim: true, text: JSON.stringify(data, null, 2) };
  },
});
