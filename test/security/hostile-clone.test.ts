import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { registry } from '../../src/cli/registry.ts';
import {
  filesWithSecret,
  makeClone,
  type Outcome,
  plantTogether,
  runIn,
  secretMark,
} from './hostile-clone.ts';
import { tricks } from './hostile-tricks.ts';
import { type ForeignHost, openForeignHost } from './foreign-host.ts';

let host: ForeignHost;

beforeAll(async () => {
  host = await openForeignHost();
});
beforeEach(() => host.clear());
afterAll(() => host.close());

/** The beginnings of escape codes. */
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const terminalControl = /[\u001B\u009B]/;

function expectNothingHappened({ stdout, stderr }: Outcome): void {
  expect(host.received).toEqual([]);
  expect(`${stdout}${stderr}`).not.toContain(secretMark);
  expect(`${stdout}${stderr}`).not.toMatch(terminalControl);
  expect(stderr).not.toMatch(/defect in ktx|\n {4}at /);
}

describe('a clone of a stranger', () => {
  test('has at least thirty tricks', () => {
    expect(tricks.length).toBeGreaterThanOrEqual(30);
  });

  for (const { name, plant, run, env, ends, says } of tricks) {
    test(name, async () => {
      using clone = makeClone({ port: host.port });
      plant(clone);
      const outcome = await runIn(clone, run, env);
      expectNothingHappened(outcome);
      expect(clone.traces()).toEqual([]);
      expect(filesWithSecret(clone)).toEqual([]);
      const output = `${outcome.stdout}${outcome.stderr}`;
      // An ingest goes on with what needs no approval, and ends as partial.
      if (ends === 'approval') expect([3, 4], output).toContain(outcome.code);
      if (ends === 'approval') expect(output).toMatch(/ trust --project-dir | state set-aside /);
      if (ends === 'refused') expect([1, 2, 3], output).toContain(outcome.code);
      if (ends === 'ignored') expect([0, 1, 3], output).toContain(outcome.code);
      if (says !== undefined) expect(output).toMatch(says);
    });
  }
});

describe('the same trick, once a person has approved it', () => {
  for (const { name, plant, run, env, onceApproved } of tricks) {
    if (onceApproved === undefined) continue;
    test(`${name}: ${onceApproved}`, async () => {
      using clone = makeClone({ port: host.port });
      plant(clone);
      expect(await runIn(clone, ['trust', '--yes'], env)).toMatchObject({ code: 0 });
      const { stdout } = await runIn(clone, run, env);
      if (onceApproved === 'connects') expect(host.received).not.toEqual([]);
      if (onceApproved === 'runs') expect(clone.traces()).not.toEqual([]);
      if (onceApproved === 'reads')
        expect([stdout, ...filesWithSecret(clone)].join(' ')).toMatch(/SECRET|\.md|history/);
    });
  }
});

/** Arguments with which each command of the registry does its work. */
const commandLines: Readonly<Record<string, readonly string[]>> = {
  demo: ['demo', '--dir', 'demo'],
  setup: ['setup', '--no-input'],
  'connection add': ['connection', 'add', 'crm', '--driver', 'sqlite', '--path', 'shop.db'],
  'connection test': ['connection', 'test', 'w'],
  'connection remove': ['connection', 'remove', 'none'],
  scan: ['scan', 'shop'],
  'sl read': ['sl', 'read', 'orders', '--connection', 'shop'],
  'sl query': ['sl', 'query', '--metric', 'orders.total', '--connection', 'shop'],
  'sl export': ['sl', 'export', '--format', 'ossie', '--connection', 'shop'],
  'sl import': ['sl', 'import', 'shop.db'],
  'wiki read': ['wiki', 'read', 'glossary'],
  search: ['search', 'orders'],
  values: ['values', 'paid'],
  sql: ['sql', '--connection', 'w', 'SELECT 1'],
  remember: ['remember', 'An order is paid or open.'],
  'review choose': ['review', 'choose', 'none', '1'],
  explain: ['explain', 'orders'],
  ask: ['ask', '--agent', 'helper', 'hello'],
  chat: ['chat', '--agent', 'helper'],
  'eval run': ['eval', 'run', 'basic'],
  'eval check': ['eval', 'check', 'basic'],
  'eval compare': ['eval', 'compare', 'a', 'b'],
  'eval report': ['eval', 'report'],
  'eval generate': ['eval', 'generate', 'basic', '--connection', 'shop'],
  bench: ['bench', 'basic'],
  'mcp install': ['mcp', 'install', 'cursor'],
  'mcp uninstall': ['mcp', 'uninstall', 'cursor'],
  'mcp token create': ['mcp', 'token', 'create', 'ann'],
  'review undo': ['review', 'undo', 'none'],
  web: ['web', '--export', 'page'],
  completion: ['completion', 'bash'],
  schema: ['schema', 'ktx'],
};

/** They can stand in one clone, and leave its `ktx.yaml` valid. */
const together = tricks.filter(
  ({ name }) =>
    !/ktx\.yaml is a link|\.ktx|is a program|a model of its own|pays for the stranger|as the key of a model|\.env approves|FIFO|address of a warehouse|folder that ktx writes|instructions of an agent|YAML with a tag|(?:agent file|dataset file|page of the wiki) that is a link/.test(
      name,
    ),
);

test('the clone with many tricks at once has a valid ktx.yaml, and each would do something', async () => {
  using clone = makeClone({ port: host.port });
  plantTogether(clone, together);
  const { code, stdout } = await runIn(clone, ['trust', '--show']);
  expect(code).toBe(0);
  for (const what of ['connects to', 'runs', 'reads', 'asks', 'telemetry', 'MCP server'])
    expect(stdout).toContain(what);
});

describe('every command in a clone with many tricks at once', () => {
  for (const { path } of registry) {
    test(`ktx ${path}`, async () => {
      using clone = makeClone({ port: host.port });
      plantTogether(clone, together);
      const outcome = await runIn(clone, commandLines[path] ?? path.split(' '));
      expectNothingHappened(outcome);
      expect(clone.traces()).toEqual([]);
      expect(filesWithSecret(clone)).toEqual([]);
      expect(outcome.code).not.toBeNull();
      expect(outcome.stderr).not.toContain('config_invalid');
    });
  }
});
