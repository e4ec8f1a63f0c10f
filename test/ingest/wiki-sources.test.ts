import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ktx } from '../cli/run-cli.ts';
import {
  confluenceEmail,
  confluenceToken,
  startConfluence,
} from '../recorded/confluence/server.ts';
import { pageId, text } from '../recorded/notion/fernholm.ts';
import { notionToken, startNotion } from '../recorded/notion/server.ts';
import { read, write } from '../store/git-project.ts';
import { reading } from '../support/reading-model.ts';
import {
  backendsOfRun,
  documentedShop,
  ingestCommand,
  type ModelMachine,
  openMachine,
} from './llm-project.ts';

let machine: ModelMachine;
let notion: Awaited<ReturnType<typeof startNotion>>;
let confluence: Awaited<ReturnType<typeof startConfluence>>;
const env = { NOTION_TOKEN: notionToken, CONFLUENCE_TOKEN: confluenceToken };

beforeAll(async () => {
  Object.assign(process.env, env);
  machine = await openMachine();
  notion = await startNotion();
  confluence = await startConfluence();
  const [, regions] = notion.world.pages.values();
  const said = 'A loyal customer means one with three orders in a year.';
  const paragraph = { type: 'paragraph', content: { rich_text: [text(said)] } };
  if (regions) notion.world.pages.set(regions.id, { ...regions, blocks: [paragraph] });
  const shipping = confluence.world.pages.get('15');
  const storage = '<p>A late order means one that ships after two days.</p>';
  if (shipping) confluence.world.pages.set('15', { ...shipping, storage });
});
afterAll(async () => {
  await machine.close();
  await notion.close();
  await confluence.close();
});

const orders = {
  notion: () => [
    'add',
    'handbook',
    '--driver',
    'notion',
    '--token',
    'env:NOTION_TOKEN',
    '--base-url',
    notion.url,
  ],
  confluence: () =>
    `add pages --driver confluence --base-url ${confluence.cloud} --email ${confluenceEmail} --token env:CONFLUENCE_TOKEN`.split(
      ' ',
    ),
};

describe('Notion and Confluence in a project', () => {
  test('are added by a command, say what they see, and lead from a term to its page without a model', async () => {
    const dir = documentedShop(machine, 'none', { 'a.md': '# Nothing\n' });
    write(dir, 'ktx.yaml', 'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n');
    const command = (...argv: readonly string[]) => ktx(argv, { cwd: dir, env });
    const added = await command('connection', ...orders.notion());
    expect(added.stdout).toContain('handbook: logged in as the integration ktx of Fernholm');
    expect(added.stdout).toContain('5 pages and 1 database');
    const other = await command('connection', ...orders.confluence());
    expect(other.stdout).toContain('2 spaces: FIN Finance, OPS Operations');
    expect(other.stdout).toContain('pages that only some people may see are not read');
    const yaml = read(dir, 'ktx.yaml');
    for (const secret of Object.values(env)) expect(yaml).not.toContain(secret);
    expect(yaml).toContain('env:NOTION_TOKEN');

    const ingested = await command('ingest', '--json');
    expect(ingested.code, ingested.stdout).toBe(0);
    const explained = await command('explain', 'term:average_order_value');
    expect(explained.stdout).toContain(
      `sources/handbook/databases/${pageId(101)}.md is https://app.notion.com/p/${pageId(101)}`,
    );
    expect(explained.stdout).toContain(
      `sources/pages/pages/11.md is ${confluence.cloud}/pages/viewpage.action?pageId=11`,
    );
    const status = await command('status');
    expect(status.stdout).toMatch(/handbook \(notion\).* reachable: \d+ items/);
    notion.world.token = 'another';
    const refused = await command('connection', 'test', 'handbook');
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('ktx connection test handbook');
    const doctor = await command('doctor');
    expect(doctor.stdout).toMatch(/broken +source handbook: .*refused the login/);
    expect(doctor.stdout).toContain('source pages: logged in as ktx');
    notion.world.token = notionToken;
    const literal = await command(
      'connection',
      'add',
      'x',
      '--driver',
      'notion',
      '--token',
      'ntn_1',
    );
    expect(literal.code).toBe(2);
  });

  test.each(backendsOfRun)(
    'are read by a model behind %s, and a sentence leads to its page',
    async (backend) => {
      const dir = documentedShop(machine, backend, { 'a.md': '# Nothing\n' });
      const yaml = read(dir, 'ktx.yaml').replace(
        '  handbook: {driver: docs, path: docs}\n',
        `  handbook: {driver: notion, token: env:NOTION_TOKEN, base_url: ${notion.url}}\n` +
          `  pages: {driver: confluence, email: ${confluenceEmail}, token: env:CONFLUENCE_TOKEN, base_url: ${confluence.cloud}}\n`,
      );
      write(dir, 'ktx.yaml', yaml);
      machine.endpoint.fallback = reading;
      const { code, data } = await ingestCommand(machine, dir);
      expect(code, JSON.stringify(data)).toBe(0);
      const glossary = read(dir, 'wiki/glossary.md');
      expect(glossary).toContain('three orders in a year');
      const explain = (sentence: string) => ktx(['explain', sentence], { cwd: dir, env });
      const loyal = await explain('one with three orders in a year');
      expect(loyal.stdout).toContain(`https://app.notion.com/p/${pageId(2)}`);
      const late = await explain('one that ships after two days');
      expect(late.stdout).toContain('pages/viewpage.action?pageId=15');
    },
  );
});
