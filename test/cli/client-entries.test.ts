import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseToml } from '@decimalturn/toml-patch';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { mcpClients, type McpClient } from '../../src/cli/clients/client-list.ts';
import { editEntry, readEntry } from '../../src/cli/clients/edit-entry.ts';

const server = {
  command: '/opt/node 24/bin/node',
  args: ['/opt/ktx/"quoted" é.js', 'mcp', 'serve', '--project-dir', '/home/ann/shop 🛒'],
  variables: ['WAREHOUSE_URL'],
};

const parsers: Record<McpClient['format'], (text: string) => unknown> = {
  json: (text) => parseJsonc(text, [], { allowTrailingComma: true }),
  toml: (text) => parseToml(text),
  yaml: (text) => parseYaml(text),
};

/** Files as people have them; `servers` is the key of the client. */
const files: Record<McpClient['format'], (servers: string) => Readonly<Record<string, string>>> = {
  json: (servers) => ({
    empty: '',
    'an empty object': '{}',
    'other settings': '{\n  "theme": "dark"\n}\n',
    'no servers yet': `{\n  "${servers}": {}\n}\n`,
    'comments and a trailing comma': `// head\n{\n  "theme": "dark", // why\n  "${servers}": { // mine\n    // about a\n    "a": {"command": "x"}, // keep\n  },\n}\n`,
    'a comment before the comma': `{\n  "${servers}": {\n    "a": {"command": "x"} /* odd */,\n    "b": {"command": "y"}\n  }\n}\n`,
    'tabs and CRLF': `{\r\n\t"${servers}": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t},\r\n\t"z": 1\r\n}\r\n`,
    'one line': `{"${servers}": {"a": {"command": "x"}}, "z": [1,  2]}`,
    'four spaces': `{\n    "${servers}": {\n        "a": {"command": "x"}\n    }\n}`,
  }),
  toml: (servers) => ({
    empty: '',
    'comments and CRLF': `# head\r\nmodel = "x" # why\r\n\r\n[${servers}.docs] # mine\r\ncommand = "npx"\r\nargs = ["-y",  "x"] # keep\r\n[tui]\r\ntheme = "dark"\r\n`,
    'no line end': `model = "x"\n[${servers}.docs]\ncommand = "npx"`,
    'no servers yet': '# only this\nmodel = "x"\n',
  }),
  yaml: (servers) => ({
    empty: '',
    comments: `# head\n${servers}:\n  developer: # keep\n    enabled: true\n    type: builtin\nGOOSE_MODEL: x # why\n`,
    'no servers yet': 'GOOSE_MODEL: x\n',
  }),
};

const cases = mcpClients.flatMap((client) =>
  Object.entries(files[client.format](client.keys[0] ?? '')).map(
    ([file, text]) => [client.name, file, text] as const,
  ),
);
const clientOf = (name: string) => {
  const client = mcpClients.find((entry) => entry.name === name);
  if (client === undefined) throw new Error(name);
  return client;
};

describe.each(cases)('%s, %s', (name, file, text) => {
  const client = clientOf(name);
  const entry = client.stdioEntry(server, 'ktx');
  const parse = parsers[client.format];

  test('an entry is added, and all that was there stays', async () => {
    const added = await editEntry(text, client, { name: 'ktx', entry });
    expect(await readEntry(added, client, 'ktx')).toEqual(entry);
    const { [client.keys[0] ?? '']: servers, ...rest } = (parse(added) ?? {}) as Record<
      string,
      object
    >;
    const { [client.keys[0] ?? '']: before, ...others } = (parse(text) ?? {}) as Record<
      string,
      object
    >;
    expect(rest).toEqual(others);
    expect(servers).toEqual({ ...before, ktx: entry });
    for (const line of text.split(/\r?\n/).filter((words) => /#|\/\//.test(words)))
      expect(added).toContain(line);
    expect(added.includes('\r\n')).toBe(text.includes('\r\n'));
    expect(added.replaceAll('\r\n', '')).not.toMatch(text.includes('\r\n') ? /\n/ : /\r/);
  });

  test('adding it twice changes nothing, and removing it gives back every byte', async () => {
    const added = await editEntry(text, client, { name: 'ktx', entry });
    expect(await editEntry(added, client, { name: 'ktx', entry })).toBe(added);
    const removed = await editEntry(added, client, { name: 'ktx', entry: undefined });
    expect(await readEntry(removed, client, 'ktx')).toBeUndefined();
    // What made room for the first server stays.
    if (/"a":|docs\]|developer:/.test(text) && file !== 'no line end') expect(removed).toBe(text);
  });

  test('another entry under the name takes its place', async () => {
    const added = await editEntry(text, client, { name: 'ktx', entry });
    const other = client.stdioEntry({ ...server, args: ['other'], variables: [] }, 'ktx');
    const replaced = await editEntry(added, client, { name: 'ktx', entry: other });
    expect(await readEntry(replaced, client, 'ktx')).toEqual(other);
    const back = await editEntry(replaced, client, { name: 'ktx', entry });
    expect(parse(back)).toEqual(parse(added));
  });
});

test.each([
  ['{"mcpServers": ', /line 1/],
  ['[]', /no JSON object/],
  ['{\n"mcpServers": [1]}', /list or text/],
  ['{"mcpServers": null}', /has no place/],
])('a file that nobody could edit safely is refused: %s', async (text, reason) => {
  const change = { name: 'ktx', entry: clientOf('cursor').stdioEntry(server, 'ktx') };
  await expect(editEntry(text, clientOf('cursor'), change)).rejects.toThrow(reason);
});

test.each([
  ['a = [', 'codex'],
  ['mcp_servers = 3', 'codex'],
  ['extensions: [1]', 'goose'],
  ['a: [', 'goose'],
])('so is one in another format: %s', async (text, name) => {
  const change = { name: 'ktx', entry: clientOf(name).stdioEntry(server, 'ktx') };
  await expect(editEntry(text, clientOf(name), change)).rejects.toThrow();
});
