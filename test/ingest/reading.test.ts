import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestEvent } from '../../src/ingest/event.ts';
import { ingestProject } from '../../src/project/ingest.ts';
import { openProject } from '../../src/project/open.ts';
import { loopTools } from '../../src/tools/loop-tools.ts';
import { read, run, write } from '../store/git-project.ts';
import { fail, type ModelCall, type Script } from '../support/model-script.ts';
import { reading, readingAsked, type ReadingAsked } from '../support/reading-model.ts';
import { artifactsOf, documentedShop, ingestProcess, keptIn, type ModelMachine, openMachine, twoBackends } from './llm-project.ts';

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
  'numbers.md': '# Numbers\n\nThe turnover is the sum of amount in orders. Always leave out the orders of employees of the shop.\n',
  'picnic.md': '# Picnic\n\nThere is nothing to prepare, just bring a friend or two along.\n',
};
const count = (stage: ReadingAsked['stage']) => asked.filter((one) => one.stage === stage && one.turn === 1).length;
const nothing: Script = () => fail('bad-request');

type Asked = Parameters<typeof ingestProject>[1];

/** In this process, behind the Anthropic API; `further` is YAML after `ktx.yaml`. */
async function ingestHere(dir: string, options: Partial<Asked> = {}) {
  const project = await openProject(dir);
  const events: IngestEvent[] = [];
  try {
    const onEvent = (event: IngestEvent) => void events.push(event);
    const signal = AbortSignal.timeout(60_000);
    return { report: await ingestProject(project, { connections: [], signal, onEvent, tools: loopTools(project), ...options }), events };
  } finally {
    await project.close();
  }
}

describe.each(twoBackends)('prose read by a model behind %s', { timeout: 120_000 }, (backend) => {
  test('is sorted, read in one call or in a loop, once; one changed page costs its own work [M2 M5 Q2 Q5 G5]', async () => {
    const dir = documentedShop(machine, backend, files);
    answering();
    const first = await ingestProcess(machine, dir);
    expect(first, JSON.stringify(first.data)).toMatchObject({
      code: 0,
      data: {
        stages: [
          { stage: 'triage', done: 3, pending: 0, calls: 3, failures: [] },
          { stage: 'light', done: 1, pending: 0, calls: 1, failures: [] },
          { stage: 'extract', done: 1, pending: 0, calls: 1, failures: [] },
          { stage: 'curate', done: 2, pending: 0 },
        ],
        sources: [{ connection: 'handbook', pending: [] }],
      },
    });
    expect([count('triage'), count('light'), count('extract')]).toEqual([3, 1, 1]);
    const steps = first.events.filter(({ type }) => type === 'work_unit_step');
    expect(steps.map(({ unit, step_index: index, step_budget: budget }) => [unit, index, budget])).toEqual([
      ['sources/handbook/numbers.md', 1, 24],
      ['sources/handbook/numbers.md', 2, 24],
    ]);
    const found = artifactsOf(dir);
    expect(found['semantic-layer/shop/orders.yaml']).toContain('{name: turnover, agg: sum, of: amount}');
    expect(found['wiki/glossary.md']).toContain('## active customer');
    expect(found['wiki/rules.md']).toContain('Always leave out the orders of employees of the shop.');
    expect(found['claims/wiki.jsonl']).toContain(
      '"item":"sources/handbook/terms.md","location":"line 3","origin":"model","quote":"An active customer means one with',
    );
    expect(found['sources/handbook/index.jsonl']?.match(/docs@1\+reading@1/g)).toHaveLength(3);

    answering(nothing);
    expect(await ingestProcess(machine, dir)).toMatchObject({ code: 0, data: { stages: [], commit: { none: 'unchanged' } } });
    expect(asked).toEqual([]);

    answering();
    write(dir, 'docs/terms.md', '# Words\n\nAn active customer means one with an order in the last sixty days.\n');
    expect((await ingestProcess(machine, dir)).code).toBe(0);
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

describe('prose', { timeout: 120_000 }, () => {
  test('ends in the same files whoever reads it, and after a kill without paying twice', async () => {
    answering();
    const [first, ...others] = await Promise.all(
      twoBackends.map(async (backend) => {
        const dir = documentedShop(machine, backend, files);
        expect((await ingestProcess(machine, dir)).code).toBe(0);
        return artifactsOf(dir);
      }),
    );
    expect(Object.keys(first ?? {})).toContain('wiki/rules.md');
    for (const other of others) expect(other).toEqual(first);

    const dir = documentedShop(machine, 'anthropic', files);
    const { promise: started, resolve: onStart } = Promise.withResolvers<(signal: 'SIGKILL') => void>();
    answering(async (call) => {
      if (readingAsked(call)?.stage !== 'extract') return reading(call);
      // Three descriptions, three verdicts, the pages that are skipped or read in one call.
      while (keptIn(dir) < 8) await sleep(20);
      (await started)('SIGKILL');
      return fail('server-error');
    });
    expect(await ingestProcess(machine, dir, { onStart })).toMatchObject({ code: null });
    answering();
    expect((await ingestHere(dir)).report.exitCode).toBe(0);
    expect(asked.map(({ stage, turn }) => [stage, turn])).toEqual([
      ['extract', 1],
      ['extract', 2],
    ]);
    expect(artifactsOf(dir)).toEqual(first);
  });

  test('asks nothing in a clone: git knows who has read it', async () => {
    const dir = documentedShop(machine, 'anthropic', files);
    answering();
    await ingestHere(dir);
    const clone = `${dir}-clone`;
    run(dir, 'clone', '-q', dir, clone);
    cpSync(join(dir, 'shop.sqlite'), join(clone, 'shop.sqlite'));
    answering(nothing);
    expect((await ingestHere(clone)).report).toMatchObject({ exitCode: 0, stages: [], commit: { none: 'unchanged' } });
    expect(read(clone, 'claims/wiki.jsonl')).toContain('reading@1');
    rmSync(clone, { recursive: true });
  });
});
