import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestEvent } from '../../src/ingest/event.ts';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { loadReviewQueue } from '../../src/project/review/review-queue.ts';
import { openProject } from '../../src/project/open/open.ts';
import { loopTools } from '../../src/tools/loop-tools.ts';
import { read, run, write } from '../store/git-project.ts';
import {
  fail,
  give,
  type ModelCall,
  reply,
  say,
  type Script,
  use,
} from '../support/model-script.ts';
import { reading, readingAsked, type ReadingAsked } from '../support/reading-model.ts';
import { sql } from './ingest-project.ts';
import {
  artifactsOf,
  documentedShop,
  ingestCommand,
  keptIn,
  type ModelMachine,
  openMachine,
  backendsOfRun,
} from './llm-project.ts';
import { approve } from '../support/approve.ts';

let machine: ModelMachine;
let asked: ReadingAsked[] = [];

beforeAll(async () => {
  process.env['TEST_KEY'] = 'sk-made-up';
  machine = await openMachine();
});
afterAll(() => machine.close());

/** Answers with `script`, and notes what was asked to be read. */
function answering(script: Script = reading): void {
  asked = [];
  machine.endpoint.fallback = (call: ModelCall) => {
    const found = call.objectTaken ? undefined : readingAsked(call);
    if (found !== undefined) asked.push(found);
    return script(call);
  };
}

const files = {
  'terms.md': '# Words\n\nAn active customer means one with an order in the last ninety days.\n',
  'numbers.md':
    '# Numbers\n\nThe turnover is the sum of amount in orders. Always leave out the orders of employees of the shop.\n',
  'picnic.md': '# Picnic\n\nThere is nothing to prepare, just bring a friend or two along.\n',
};
const count = (stage: ReadingAsked['stage']) =>
  asked.filter((one) => one.stage === stage && one.turn === 1).length;
const nothing: Script = () => fail('bad-request');

type Asked = Parameters<typeof ingestProject>[1];

/** In this process, behind the Anthropic API; `further` is YAML after `ktx.yaml`. */
async function ingestHere(dir: string, options: Partial<Asked> = {}) {
  await approve(dir);
  const project = await openProject(dir);
  const events: IngestEvent[] = [];
  try {
    const onEvent = (event: IngestEvent) => void events.push(event);
    const signal = AbortSignal.timeout(60_000);
    return {
      report: await ingestProject(project, {
        connections: [],
        signal,
        onEvent,
        tools: loopTools(project),
        ...options,
      }),
      events,
    };
  } finally {
    await project.close();
  }
}

/** The files of whoever read `files` first. */
let whatAnyoneReads: Readonly<Record<string, string>> | undefined;

describe.each(backendsOfRun)('prose read by a model behind %s', (backend) => {
  test('is sorted, read in one call or in a loop, once, and ends in the same files; one changed page costs its own work [M2 M5 Q2 Q5 G5]', async () => {
    const dir = documentedShop(machine, backend, files);
    answering();
    const first = await ingestCommand(machine, dir);
    expect(first, JSON.stringify(first.data)).toMatchObject({
      code: 0,
      data: {
        stages: [
          { stage: 'triage', done: 3, pending: 0, calls: 3, failures: [] },
          { stage: 'light', done: 1, pending: 0, calls: 1, failures: [] },
          { stage: 'extract', done: 1, pending: 0, calls: 2, failures: [] },
          { stage: 'curate', done: 2, pending: 0 },
        ],
        sources: [{ connection: 'handbook', pending: [] }],
      },
    });
    expect([count('triage'), count('light'), count('extract')]).toEqual([3, 1, 1]);
    const steps = first.events.filter(({ type }) => type === 'work_unit_step');
    expect(
      steps.map(({ unit, step_index: index, step_budget: budget }) => [unit, index, budget]),
    ).toEqual([
      ['sources/handbook/numbers.md', 1, 24],
      ['sources/handbook/numbers.md', 2, 24],
    ]);
    const found = artifactsOf(dir);
    expect(found['semantic-layer/shop/orders.yaml']).toContain(
      '{name: turnover, agg: sum, of: amount, unreviewed: true}',
    );
    expect(found['wiki/glossary.md']).toContain('## active customer');
    expect(found['wiki/rules.md']).toContain(
      'Always leave out the orders of employees of the shop.',
    );
    expect(found['claims/wiki.jsonl']).toContain(
      '"item":"sources/handbook/terms.md","location":"line 3","origin":"model","quote":"An active customer means one with',
    );
    expect(found['sources/handbook/index.jsonl']?.match(/docs@1\+reading@1/g)).toHaveLength(3);
    expect(found).toEqual((whatAnyoneReads ??= found));

    answering(nothing);
    expect(await ingestCommand(machine, dir)).toMatchObject({
      code: 0,
      data: { stages: [], commit: { none: 'unchanged' } },
    });
    expect(asked).toEqual([]);

    answering();
    write(
      dir,
      'docs/terms.md',
      '# Words\n\nAn active customer means one with an order in the last sixty days.\n',
    );
    expect((await ingestCommand(machine, dir)).code).toBe(0);
    expect(asked.map(({ stage, items }) => [stage, items.map(({ item }) => item)])).toEqual([
      ['triage', ['sources/handbook/terms.md']],
      ['light', ['sources/handbook/terms.md']],
    ]);
    const after = artifactsOf(dir);
    expect(after['wiki/glossary.md']).toContain('sixty');
    expect(after['claims/wiki.jsonl']).not.toContain('ninety');
    expect(after['semantic-layer/shop/orders.yaml']).toBe(found['semantic-layer/shop/orders.yaml']);
  });
});

describe('prose', () => {
  test('ends in the same files after a kill, without paying twice', async () => {
    const dir = documentedShop(machine, 'anthropic', files);
    const { promise: started, resolve: onStart } =
      Promise.withResolvers<(signal: 'SIGKILL') => void>();
    answering(async (call) => {
      if (readingAsked(call)?.stage !== 'extract') return reading(call);
      // Three descriptions, three verdicts, the pages that are skipped or read in one call.
      while (keptIn(dir) < 8) await sleep(20);
      (await started)('SIGKILL');
      return fail('server-error');
    });
    expect(await ingestCommand(machine, dir, { onStart })).toMatchObject({ code: null });
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(asked.map(({ stage, turn }) => [stage, turn])).toEqual([
      ['extract', 1],
      ['extract', 2],
    ]);
    const found = artifactsOf(dir);
    expect(Object.keys(found)).toContain('wiki/rules.md');
    expect(found).toEqual((whatAnyoneReads ??= found));
  });

  test('asks nothing in a clone: git knows who has read it', async () => {
    const dir = documentedShop(machine, 'anthropic', files);
    answering();
    await ingestHere(dir);
    const clone = `${dir}-clone`;
    run(dir, 'clone', '-q', dir, clone);
    cpSync(join(dir, 'shop.sqlite'), join(clone, 'shop.sqlite'));
    answering(nothing);
    expect((await ingestHere(clone)).report).toMatchObject({
      exitCode: 0,
      stages: [],
      commit: { none: 'unchanged' },
    });
    expect(read(clone, 'claims/wiki.jsonl')).toContain('reading@1');
    rmSync(clone, { recursive: true });
  });
});

/** What was asked to be read, each page with the stage, without further turns. */
const pages = () =>
  asked
    .filter(({ turn }) => turn === 1)
    .flatMap(({ stage, items }) => items.map(({ item }) => `${stage} ${item.split('/').at(-1)}`));

describe('a reading', () => {
  test('of more pages gives the same files, however many are read at once and in whatever order the answers come', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => {
        const term = `A word${index} means the thing with the number ${index % 4} of the shop.`;
        const metric = index % 3 === 0 ? ` The sum${index} is the sum of amount in orders.` : '';
        return [`page${index}.md`, `# Page ${index}\n\n${term}${metric}\n`];
      }),
    );
    let slow = 0;
    answering(async (call) => {
      await sleep((slow = (slow * 7 + 5) % 40));
      return reading(call);
    });
    const found = [];
    for (const concurrency of [1, 2, 8]) {
      const dir = documentedShop(machine, 'anthropic', {
        ...many,
        settings: `  concurrency: ${concurrency}\n`,
      });
      expect(await ingestCommand(machine, dir)).toMatchObject({
        code: 0,
        data: { sources: [{ pending: [] }] },
      });
      found.push(artifactsOf(dir));
    }
    expect(found[0]?.['wiki/glossary.md']?.match(/^## word/gm)).toHaveLength(9);
    expect(found[0]?.['semantic-layer/shop/orders.yaml']?.match(/name: sum\d/g)).toHaveLength(3);
    for (const other of found.slice(1)) expect(other).toEqual(found[0]);
  });

  test('that has spent its money stops, keeps what is done, and the next run goes on from there', async () => {
    // A dollar a call; the tables share one.
    const settings = '  concurrency: 1\n  prices: {claude-sonnet-4-6: {input: 10000, output: 0}}\n';
    const dir = documentedShop(machine, 'anthropic', { ...files, settings });
    answering();
    const { code, data } = await ingestCommand(machine, dir, {
      args: ['ingest', '--budget', '2.50'],
    });
    expect(code).toBe(3);
    expect(data).toMatchObject({
      stages: [
        {
          stage: 'triage',
          done: 2,
          pending: 1,
          failures: [{ code: 'llm_budget_spent', message: expect.stringContaining('--budget') }],
        },
        { stage: 'extract', done: 0, pending: 1, calls: 0 },
      ],
      sources: [{ pending: ['numbers.md', 'terms.md'] }],
    });
    expect(read(dir, 'sources/handbook/index.jsonl').match(/\+pending/g)).toHaveLength(2);
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(pages()).toEqual(['triage terms.md', 'light terms.md', 'extract numbers.md']);
  });

  test('whose account is refused half-way ends with exit code 4, and the next run goes on from there', async () => {
    const dir = documentedShop(machine, 'anthropic', files);
    answering((call) => (readingAsked(call)?.stage === 'extract' ? fail('auth') : reading(call)));
    const { report, events } = await ingestHere(dir);
    expect(report.exitCode).toBe(4);
    // Each unit that starts ends once, also the one whose call failed.
    const units = (type: string) => events.filter((event) => event.type === type);
    const ended = units('work_unit_finished');
    expect(ended).toHaveLength(units('work_unit_started').length);
    expect(ended.at(-1)).toMatchObject({ stage: 'extract', outcome: 'error', claims: 0 });
    expect(report.stages).toMatchObject([
      { stage: 'triage', done: 3 },
      { stage: 'light', done: 1 },
      { stage: 'extract', done: 0, pending: 1, failures: [{ code: 'llm_auth' }] },
      { stage: 'curate', done: 0, pending: 1, calls: 0 },
    ]);
    expect(read(dir, 'wiki/glossary.md')).toContain('active customer');
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(pages()).toEqual(['extract numbers.md']);
  });

  test('that a model will not do for one item names it, and the others of its unit are read', async () => {
    const odd = '# Odd\n\nThe oddity is the sum of amount in orders.\n';
    const dir = documentedShop(machine, 'anthropic', {
      'numbers.md': files['numbers.md'],
      'odd.md': odd,
    });
    answering((call) =>
      readingAsked(call)?.stage === 'extract' && call.messages[0]?.text.includes('oddity')
        ? say('No.', { stop: 'refusal' })
        : reading(call),
    );
    const { report } = await ingestHere(dir);
    expect(report).toMatchObject({
      exitCode: 3,
      quarantined: [
        {
          subject: 'sources/handbook/odd.md',
          kind: 'reading',
          reason: expect.stringContaining('refused'),
        },
      ],
      sources: [{ pending: ['odd.md'] }],
    });
    expect(pages().slice(2)).toEqual([
      'extract numbers.md',
      'extract odd.md',
      'extract numbers.md',
      'extract odd.md',
    ]);
    expect(read(dir, 'semantic-layer/shop/orders.yaml')).toContain('name: turnover');
    answering();
    expect((await ingestHere(dir)).report).toMatchObject({ exitCode: 0, quarantined: [] });
    expect(pages()).toEqual(['extract odd.md']);
  });

  test('pauses at a limit, says until when, and completes', async () => {
    const dir = documentedShop(machine, 'anthropic', files);
    let limited = 0;
    answering((call) => {
      if (readingAsked(call)?.stage !== 'extract' || (limited += 1) > 1) return reading(call);
      return fail('rate-limit', { 'retry-after': '2' });
    });
    const { report, events } = await ingestHere(dir);
    expect(report.exitCode).toBe(0);
    const paused = events.filter((event) => event.type === 'rate_limited');
    expect(paused).toHaveLength(1);
    expect(Date.parse(paused[0]?.resetsAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  test('that is interrupted keeps what is finished', async () => {
    const dir = documentedShop(machine, 'anthropic', files);
    const { promise: started, resolve: onStart } =
      Promise.withResolvers<(signal: 'SIGINT') => void>();
    answering(async (call) => {
      if (readingAsked(call)?.stage !== 'extract') return reading(call);
      while (keptIn(dir) < 8) await sleep(20);
      (await started)('SIGINT');
      return { ...say('Too late.'), hang: 'at-start' };
    });
    expect((await ingestCommand(machine, dir, { onStart })).code).toBe(130);
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(pages()).toEqual(['extract numbers.md']);
  });

  test('whose steps are spent leaves pending what it did not come to [R11]', async () => {
    const other =
      '# More\n\nThe fees are the sum of percent in coupons, as computed by the shop itself.\n';
    const dir = documentedShop(machine, 'anthropic', {
      'more.md': other,
      'numbers.md': files['numbers.md'],
      settings: 'ingest: {steps_per_unit: 2}\n',
    });
    answering((call) => {
      const unit = readingAsked(call);
      if (unit?.stage !== 'extract' || unit.items.length === 1) return reading(call);
      const [item, quote] = [
        'sources/handbook/numbers.md',
        'The turnover is the sum of amount in orders.',
      ];
      if (unit.turn > 1) return use('list_unit', {});
      return use('propose_metric', {
        item,
        quote,
        dataset: 'orders',
        name: 'turnover',
        agg: 'sum',
        of: 'amount',
      });
    });
    const { report, events } = await ingestHere(dir);
    expect(report).toMatchObject({ exitCode: 3, sources: [{ pending: ['more.md'] }] });
    expect(report.stages[1]).toMatchObject({ stage: 'extract', done: 1, pending: 1, failures: [] });
    expect(
      events.find((event) => event.type === 'work_unit_finished' && event.stage === 'extract'),
    ).toMatchObject({ outcome: 'budget', claims: 1 });
    expect(read(dir, 'semantic-layer/shop/orders.yaml')).toContain('turnover');
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(pages()).toEqual(['extract more.md']);
  });

  test('of what cannot be sorted is a full one; where sorting fails the page stays pending', async () => {
    const dir = documentedShop(machine, 'anthropic', { 'terms.md': files['terms.md'] });
    answering((call) =>
      readingAsked(call)?.stage === 'triage' ? say('Hard to say, really!') : reading(call),
    );
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(pages()).toEqual(['triage terms.md', 'extract terms.md']);
    const failing = documentedShop(machine, 'anthropic', { 'terms.md': files['terms.md'] });
    answering((call) =>
      readingAsked(call)?.stage === 'triage' ? fail('too-long') : reading(call),
    );
    const { report, events } = await ingestHere(failing);
    expect(report).toMatchObject({
      exitCode: 3,
      stages: [{ stage: 'triage', done: 0, pending: 1 }],
    });
    expect(events.filter(({ type }) => type === 'work_unit_finished')).toMatchObject([
      { stage: 'triage', outcome: 'error' },
    ]);
  });

  test('in one call that does not hold is done again in a loop, where refusals say what would do', async () => {
    const dir = documentedShop(machine, 'anthropic', { 'terms.md': files['terms.md'] });
    const told: string[] = [];
    const item = 'sources/handbook/terms.md';
    const term = { title: 'active customer', definition: 'One that ordered.' };
    answering((call) => {
      const unit = readingAsked(call);
      if (unit?.stage === 'light' && !call.objectTaken)
        return give({ terms: [{ ...term, quote: 'It is made up.' }], rules: [] });
      if (unit?.stage !== 'extract') return reading(call);
      told.push(...call.results.map(({ text }) => text));
      if (unit.turn === 1)
        return reply([
          { tool: 'propose_term', input: { item, ...term, quote: 'made up', refs: ['order'] } },
        ]);
      const quote = 'an active  customer means one with an ORDER';
      return unit.turn === 2
        ? use('propose_term', { item, ...term, quote, refs: ['orders'] })
        : say('Done.');
    });
    expect((await ingestHere(dir)).report).toMatchObject({ exitCode: 0 });
    expect(pages()).toEqual(['triage terms.md', 'light terms.md', 'extract terms.md']);
    expect(told.join('\n')).toContain('Did you mean orders?');
    expect(read(dir, 'claims/wiki.jsonl')).toContain(
      '"quote":"An active customer means one with an order"',
    );
  });

  test('none of whose proposals ever held is not done', async () => {
    const dir = documentedShop(machine, 'anthropic', { 'numbers.md': files['numbers.md'] });
    const item = 'sources/handbook/numbers.md';
    answering((call) => {
      const unit = readingAsked(call);
      if (unit?.stage !== 'extract') return reading(call);
      return unit.turn === 1
        ? use('propose_term', {
            item,
            quote: 'Nobody said so.',
            title: 'Margin',
            definition: 'It.',
          })
        : say('Done.');
    });
    expect((await ingestHere(dir)).report).toMatchObject({
      exitCode: 3,
      stages: [
        { stage: 'triage' },
        { stage: 'extract', done: 0, pending: 1, failures: [{ code: 'llm_invalid_output' }] },
      ],
    });
    expect(read(dir, 'sources/handbook/index.jsonl')).toContain('docs@1+pending');
  });
});

describe('what a model has read', () => {
  test('stays while nobody reads the page anew, and the index tells of which state it is', async () => {
    const dir = documentedShop(machine, 'anthropic', { 'terms.md': files['terms.md'] });
    answering();
    await ingestHere(dir);
    const [, hash = ''] = /"hash":"(\w+)"/.exec(read(dir, 'sources/handbook/index.jsonl')) ?? [];
    write(dir, 'docs/terms.md', files['terms.md'].replace('ninety', 'sixty'));
    answering(nothing);
    expect((await ingestHere(dir, { llm: false })).report).toMatchObject({
      exitCode: 0,
      sources: [{ pending: ['terms.md'] }],
    });
    expect(read(dir, 'wiki/glossary.md')).toContain('ninety');
    const line = JSON.parse(read(dir, 'sources/handbook/index.jsonl')) as object;
    expect(line).toMatchObject({ extractor: 'docs@1+pending', read: { hash } });
    expect(line).not.toMatchObject({ hash });
    // As it was: it is read already, and nobody has to be asked.
    write(dir, 'docs/terms.md', files['terms.md']);
    expect((await ingestHere(dir, { llm: false })).report).toMatchObject({
      exitCode: 0,
      sources: [{ pending: [] }],
    });
    expect(read(dir, 'sources/handbook/index.jsonl')).toContain('docs@1+reading@1');
    rmSync(join(dir, 'docs/terms.md'));
    await ingestHere(dir, { llm: false, allowEmpty: true });
    expect(artifactsOf(dir)['wiki/glossary.md'] ?? '').not.toContain('active customer');
  });

  test('is read again where a table that it is about changes, and with --re-extract', async () => {
    const dir = documentedShop(machine, 'anthropic', {
      'numbers.md': files['numbers.md'],
      'terms.md': files['terms.md'],
    });
    answering();
    await ingestHere(dir);
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(pages()).toEqual(['triage numbers.md', 'extract numbers.md']);
    const before = artifactsOf(dir);
    answering();
    expect((await ingestHere(dir, { reExtract: true })).report).toMatchObject({
      exitCode: 0,
      commit: { none: 'unchanged' },
    });
    expect(pages().toSorted()).toEqual([
      'extract numbers.md',
      'light terms.md',
      'triage numbers.md',
      'triage terms.md',
    ]);
    expect(artifactsOf(dir)).toEqual(before);
  });

  test('of a note is there as soon as it is handed in, once [M5 Q2]', async () => {
    const dir = documentedShop(machine, 'anthropic', {});
    answering();
    await ingestHere(dir, { connections: ['shop'] });
    const text = 'A good customer means one who pays at once.';
    answering(() => fail('too-long'));
    expect(await ingestCommand(machine, dir, { args: ['remember', text] })).toMatchObject({
      code: 0,
      data: { status: 'pending', warning: expect.any(String) },
    });
    answering();
    const first = await ingestCommand(machine, dir, { args: ['remember', text] });
    expect(first).toMatchObject({ code: 0, data: { status: 'read' } });
    expect(pages()).toEqual([`extract ${String(first.data['id'])}.md`]);
    expect(read(dir, 'wiki/glossary.md')).toContain('one who pays at once.');
    answering(nothing);
    expect(await ingestCommand(machine, dir, { args: ['remember', text] })).toMatchObject({
      code: 0,
      data: { status: 'read' },
    });
    // The next ingest commits it with what the model read in it, and asks nobody.
    const head = run(dir, 'rev-parse', 'HEAD');
    const written = artifactsOf(dir);
    expect(await ingestCommand(machine, dir, { args: ['ingest', 'notes'] })).toMatchObject({
      code: 0,
      data: { stages: [] },
    });
    expect(run(dir, 'rev-list', '--count', `${head}..HEAD`)).toBe('1');
    expect([artifactsOf(dir), run(dir, 'status', '--porcelain')]).toEqual([written, '']);
  });
});

test('SQL that decides something is read without sorting, small models together', async () => {
  const dir = documentedShop(machine, 'anthropic', {});
  write(
    dir,
    'ktx.yaml',
    read(dir, 'ktx.yaml').replace(
      'handbook: {driver: docs, path: docs}',
      'models: {driver: dbt, path: dbt}',
    ),
  );
  write(
    dir,
    'dbt/dbt_project.yml',
    'name: shop\nversion: "1"\nprofile: shop\nmodel-paths: [models]\n',
  );
  write(
    dir,
    'dbt/models/orders.sql',
    "select id, customer_id, amount, status\nfrom raw.orders\nwhere not is_test and status <> 'draft'\n",
  );
  write(dir, 'dbt/models/customers.sql', 'select distinct id, name, region from raw.customers\n');
  write(dir, 'dbt/models/coupons.sql', 'select code, percent from raw.coupons\n');
  answering((call) => {
    const unit = readingAsked(call);
    if (unit?.stage !== 'extract') return reading(call);
    if (unit.turn > 1) return say('Done.');
    return reply(
      unit.items.map(({ item }) => {
        if (item.includes('customers'))
          return {
            tool: 'report_unmapped',
            input: { item, reason: 'not_computable', what: 'How loyal they are.' },
          };
        const input = {
          item,
          quote: "where not is_test and status <> 'draft'",
          dataset: 'orders',
        };
        return {
          tool: 'propose_dataset',
          input: { ...input, description: 'Orders that are no test and no draft.' },
        };
      }),
    );
  });
  const { report } = await ingestHere(dir);
  expect(report).toMatchObject({
    sources: [{ connection: 'models', pending: [] }],
    stages: [{ stage: 'extract', done: 2, pending: 0, calls: 2 }],
  });
  expect(pages()).toEqual(['extract customers.sql', 'extract orders.sql']);
  expect(read(dir, 'semantic-layer/shop/orders.yaml')).toContain(
    'description: Orders that are no test and no draft.',
  );
  expect(read(dir, 'claims/shop/orders.jsonl')).toContain(
    '"location":"line 3","origin":"model","quote":"where not is_test',
  );
  expect(read(dir, 'sources/models/index.jsonl').match(/dbt@\d+\+reading@1/g)).toHaveLength(2);
  // What a model could not claim is told, by every run and in a clone.
  const place = { item: 'sources/models/models/customers.sql', location: 'as a model reads it' };
  const unfit = [{ ...place, reason: 'How loyal they are. (not computable)' }];
  expect(report.unfit).toEqual(unfit);
  expect((await ingestHere(dir)).report).toMatchObject({ unfit, commit: { none: 'unchanged' } });
  run(dir, 'commit', '-qam', 'models');
  const clone = `${dir}-clone`;
  run(dir, 'clone', '-q', dir, clone);
  const project = await openProject(clone);
  expect(await loadReviewQueue(project)).toMatchObject({ unfit, pending: [] });
  await project.close();
});

test('a dry run says what a model would take, and asks and writes nothing', async () => {
  const settings = '  prices: {claude-sonnet-4-6: {input: 3, output: 15}}\n';
  const dir = documentedShop(machine, 'anthropic', { ...files, settings });
  answering(nothing);
  const { report } = await ingestHere(dir, { dryRun: true });
  expect(asked).toEqual([]);
  // A call for the tables, three to sort the pages and two to read them; or twice the first, and
  // three loops of six turns.
  expect(report.estimate).toMatchObject({
    calls: [6, 23],
    costUsd: [expect.any(Number), expect.any(Number)],
  });
  const [least = 0, most = 0] = report.estimate?.costUsd ?? [];
  expect(least).toBeGreaterThan(0);
  expect(most).toBeGreaterThan(least);
  answering();
  expect((await ingestHere(dir)).report.exitCode).toBe(0);
  expect((await ingestHere(dir, { dryRun: true })).report.estimate).toMatchObject({
    calls: [0, 0],
    costUsd: [0, 0],
  });
});
