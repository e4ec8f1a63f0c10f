import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeNote } from '../../src/sources/notes/inbox.ts';
import {
  artifactsOf,
  documentedShop,
  ingestCommand,
  openMachine,
  twoBackends,
  type ModelMachine,
} from '../ingest/llm-project.ts';
import { read, run, write } from '../store/git-project.ts';
import { describing } from '../support/describing-model.ts';
import {
  defaultUsage,
  fail,
  give,
  type ModelCall,
  say,
  type Script,
} from '../support/model-script.ts';
import { reading, readingAsked } from '../support/reading-model.ts';
import { isCurating, isReconciling, statementToMend } from '../support/ruling-model.ts';
import { approve } from '../support/approve.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
let machine: ModelMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

/** One model a role, so that the endpoint can tell them apart. */
const models = {
  triage: 'claude-haiku-4-5',
  candidateExtraction: 'claude-sonnet-4-6',
  curator: 'claude-sonnet-4-5',
  reconcile: 'claude-opus-4-7',
  repair: 'claude-haiku-4-5-20251001',
} as const;
const table = (formula: string) =>
  `| Metric | Definition | Formula |\n|---|---|---|\n| Revenue | In words. | \`${formula}\` |\n`;
const documents = {
  'a.md': table("sum(orders.amount) where status = 'paid'"),
  'b.md': `${table('sum(orders.amount)')}| Paid | What is paid. | \`sum(orders.amuont) where status = 'paid'\` |\n`,
  'terms.md': '# Words\n\nAn active customer means one with an order in the last ninety days.\n',
  'numbers.md':
    '# Numbers\n\nThe turnover is the sum of amount in orders. Always leave out the orders of employees of the shop.\n',
};
const note = 'A lost customer means one without any order in the last two years.';

/** A warehouse, a dbt project, documents, and each role bound to a model of its own. */
function wholeProject(backend: string): string {
  const dir = documentedShop(machine, backend, documents);
  write(
    dir,
    'dbt/dbt_project.yml',
    "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n",
  );
  write(dir, 'dbt/models/orders.sql', "select * from raw_orders where status <> 'test'\n");
  write(
    dir,
    'dbt/models/schema.yml',
    'models:\n  - name: orders\n    description: One row an order.\n    columns:\n      - {name: id, tests: [unique, not_null]}\n',
  );
  const bound = Object.entries(models)
    .map(([role, model]) => `    ${role}: ${model}\n`)
    .join('');
  const config = read(dir, 'ktx.yaml').replace(
    / {2}models: \{default: (.*)\}\n/,
    `  models:\n    default: $1\n${bound}`,
  );
  write(
    dir,
    'ktx.yaml',
    config.replace('  handbook:', '  models: {driver: dbt, path: dbt}\n  handbook:'),
  );
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'a dbt project');
  return dir;
}

const answering: Script = (call) => {
  const statement = call.objectTaken ? undefined : statementToMend(call);
  if (statement !== undefined)
    return give({ body: JSON.stringify(statement.body).replace('amuont', 'amount') });
  return isCurating(call) || isReconciling(call) || readingAsked(call) !== undefined
    ? reading(call)
    : describing(call);
};

/** What the endpoint was asked: requests by role, where they are not those of probes. */
let asked: ModelCall[] = [];
function listen(script: Script = answering): void {
  asked = [];
  machine.endpoint.fallback = (call) => {
    const isProbe = call.messages.some(({ text }) => /\bword:? ready/.test(text));
    if (isProbe) return say('ready');
    asked.push(call);
    return script(call);
  };
}
const roles = () =>
  Object.entries(models).flatMap(([role, model]) =>
    asked.some((call) => call.model === model) ? [role] : [],
  );

const linesOf = (files: Record<string, string>) =>
  Object.entries(files).map(([path, text]) => [path, text.split('\n').sort()]);

describe('a whole ingest', () => {
  let expected: Record<string, string>;

  test('runs every stage and every role, the same on two backends; steps and usage are those of the endpoint [M5 M6 Q2 Q5 G5 G6]', async () => {
    const ends: unknown[] = [];
    for (const backend of twoBackends) {
      const dir = wholeProject(backend);
      await storeNote(dir, note);
      listen();
      const { code, events, data } = await ingestCommand(machine, dir);
      expect(code, JSON.stringify(data)).toBe(0);
      const stages = data['stages'] as readonly {
        stage: string;
        pending: number;
        failures: unknown[];
      }[];
      expect(stages.map(({ stage }) => stage)).toEqual([
        'triage',
        'light',
        'extract',
        'curate',
        'reconcile',
        'repair',
      ]);
      expect(
        stages
          .flatMap(({ pending, failures }) => [pending, ...failures])
          .every((each) => each === 0),
      ).toBe(true);
      expect(roles()).toEqual(Object.keys(models));
      const steps = (type: string) => events.filter((event) => event.type === type).length;
      expect(steps('curate_step')).toBe(asked.filter(isCurating).length);
      expect(steps('reconcile_step')).toBe(asked.filter(isReconciling).length);
      expect(steps('work_unit_step')).toBe(
        asked.filter((call) => readingAsked(call)?.stage === 'extract').length,
      );
      const usage = events.findLast((event) => event.type === 'llm_usage');
      // Claude Code ends an object after its first request; what a request used is known there only
      // as far as it came.
      if (backend === 'anthropic')
        expect(usage).toMatchObject({
          input: asked.length * defaultUsage.input,
          output: asked.length * defaultUsage.output,
        });
      ends.push(
        stages.map(({ stage, ...each }) => [stage, each]),
        artifactsOf(dir),
      );
      listen(() => fail('bad-request'));
      expect(await ingestCommand(machine, dir)).toMatchObject({
        code: 0,
        data: { stages: [], commit: { none: 'unchanged' } },
      });
    }
    const [stages, artifacts, ...others] = ends;
    expected = artifacts as typeof expected;
    if (others.length > 0) expect(others).toEqual([stages, artifacts]);
    expect(expected['semantic-layer/shop/orders.yaml']).toContain(
      'name: paid, agg: sum, of: amount',
    );
    expect(expected['wiki/glossary.md']).toContain('## lost customer');
    expect(expected['conflicts.yaml']).toContain('metric:shop.orders.revenue');
  });

  test('ends in the same files when an agent starts it, and when it goes on from a note [M6 Q2]', async () => {
    const overMcp = wholeProject('anthropic');
    listen();
    await storeNote(overMcp, note);
    const client = new Client({ name: 'test', version: '1' });
    const env = { ...machine.claude.env, TEST_KEY: 'sk-made-up' } as Record<string, string>;
    await approve(overMcp, env);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [main, 'mcp', 'serve', '--project-dir', overMcp],
        env,
      }),
    );
    const { content } = await client.callTool({ name: 'ingest', arguments: { wait: 50 } });
    await client.close();
    expect(JSON.stringify(content)).toContain('complete');
    expect(artifactsOf(overMcp)).toEqual(expected);

    const byNote = wholeProject('anthropic');
    await ingestCommand(machine, byNote, { args: ['ingest', '--no-llm'] });
    listen();
    expect((await ingestCommand(machine, byNote, { args: ['remember', note] })).code).toBe(0);
    // A note is read in full, whatever is in it.
    expect(roles()).toEqual(['candidateExtraction', 'curator', 'reconcile', 'repair']);
    expect((await ingestCommand(machine, byNote)).code).toBe(0);
    // What was there first stays first.
    expect(linesOf(artifactsOf(byNote))).toEqual(linesOf(expected));
  });
});
