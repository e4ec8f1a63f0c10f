import type { Mutant } from './mutant.ts';

const stdio = ['mcp/stdio.test.ts'];
const toolbox = ['tools/toolbox.test.ts'];

/** What agents get over MCP. */
export const mcpMutants: readonly Mutant[] = [
  {
    name: 'resources-page',
    file: 'mcp/resources.ts',
    find: '.filter(({ uri }) => uri > after);',
    replace: '.filter(({ uri }) => uri >= after);',
    why: 'A dataset stands on two pages of the list.',
    tests: stdio,
  },
  {
    name: 'text-twice',
    file: 'tools/toolbox.ts',
    find: "...(itemsName === 'text' ? {} : { structured }),",
    replace: 'structured,',
    why: 'A client that shows both gives the model every text twice.',
    tests: stdio,
  },
  {
    name: 'part-of-dataset',
    file: 'tools/context/dataset-part.ts',
    find: 'kept.has(nameOfPart(entry))',
    replace: 'names.has(nameOfPart(entry))',
    why: 'Who asks for a metric gets the whole dataset.',
    tests: toolbox,
  },
  {
    name: 'prompt-argument',
    file: 'mcp/prompts.ts',
    find: "value === '' && isOptional !== true",
    replace: "value === '' && isOptional === true",
    why: 'A prompt without its subject asks the model about nothing.',
    tests: stdio,
  },
  {
    name: 'client-untried',
    file: 'cli/clients/install.ts',
    find: 'const trial = await target.tryAs(client).catch(',
    replace: 'await change.apply();\n  const trial = await target.tryAs(client).catch(',
    why: 'A server that does not answer stands in the settings of a client.',
    tests: ['cli/mcp-clients.test.ts'],
  },
  {
    name: 'client-comma',
    file: 'cli/clients/edit-json.ts',
    find: 'commaAfter(text, end) ??',
    replace: '',
    why: 'A file with comments loses a member of another server.',
    tests: ['cli/client-entries.test.ts'],
  },
];
