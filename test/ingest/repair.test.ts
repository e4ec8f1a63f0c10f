import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { IngestInput } from '../../src/ingest/ingest-run.ts';
import { openSource } from '../../src/sources/registry.ts';
import { read, run, write } from '../store/git-project.ts';
import { fail, give, type Script } from '../support/model-script.ts';
import { statementToMend } from '../support/ruling-model.ts';
import { ingestHere, shopProject } from './ingest-project.ts';
import { scriptedReader } from './reader.ts';

const withModel = scriptedReader();
let dir: string;
beforeEach(() => {
  dir = shopProject();
  write(dir, 'docs/a.md', table("sum(orders.amuont) where status = 'paid'"));
});

const table = (formula: string) =>
  `| Metric | Definition | Formula |\n|---|---|---|\n| Revenue | What is paid. | \`${formula}\` |\n`;
const sources = [
  {
    name: 'handbook',
    open: () => openSource({ driver: 'docs', path: 'docs' }),
    secrets: () => '',
    isAsked: true,
  },
];
const ingested = (script: Script, where = dir, input: Partial<IngestInput> = {}) =>
  withModel(where, script, (reader) => ingestHere(where, { sources, reader, ...input }));

/** Gives these bodies, one a try. */
function answering(...bodies: readonly string[]): Script {
  let n = 0;
  return (call) =>
    statementToMend(call) ? give({ body: bodies[n++] ?? '' }) : fail('bad-request');
}
const body = (of: string, more = '"where":"status = \'paid\'"') =>
  `{"agg":"sum","of":"${of}",${more}}`;
const nobody = () => fail('bad-request');

describe('a claim that does not work', () => {
  test('is mended where what is given for it passes, in the second try too, and goes when its source is put right [M8]', async () => {
    const report = await ingested(answering(body('amounts'), body('amount')));
    expect(report).toMatchObject({
      exitCode: 0,
      requests: 2,
      quarantined: [],
      mended: [{ to: { of: 'amount' } }],
    });
    expect(read(dir, 'semantic-layer/shop/orders.yaml')).toContain('of: amount');
    expect(read(dir, 'claims/shop/orders.jsonl')).toContain('amuont');
    expect(await ingested(nobody)).toMatchObject({
      exitCode: 0,
      requests: 0,
      commit: { none: 'unchanged' },
    });
    write(dir, 'docs/a.md', table('sum(orders.amount)'));
    expect(await ingested(nobody)).toMatchObject({ exitCode: 0, requests: 0 });
    expect(read(dir, 'claims/shop/orders.jsonl')).not.toContain('repaired');
  });

  test('is left out after two tries, and nobody asks again: not in the next run, not in a clone', async () => {
    expect(await ingested(answering(body('amounts'), body('sum')))).toMatchObject({
      exitCode: 3,
      requests: 2,
      quarantined: [{}],
    });
    expect(await ingested(nobody)).toMatchObject({
      exitCode: 3,
      requests: 0,
      stages: [],
      commit: { none: 'unchanged' },
    });
    const clone = `${dir}-clone`;
    run(dir, 'clone', '-q', dir, clone);
    for (const path of ['shop.sqlite', 'docs'])
      cpSync(join(dir, path), join(clone, path), { recursive: true });
    expect(await ingested(nobody, clone)).toMatchObject({ exitCode: 3, requests: 0 });
  });

  test.each([
    ['another aggregate', '{"agg":"count","of":"amount","where":"status = \'paid\'"}'],
    ['a filter less', '{"agg":"sum","of":"amount"}'],
    ['another filter', body('amount', '"where":"status = \'open\'"')],
    ['a number of its own', '7'],
    [
      'a definition that reads elsewhere',
      body('amount', '"where":"status = \'paid\'","description":"x"'),
    ],
  ])('is not replaced by something else: %s', async (_, given) => {
    const report = await ingested(answering(given, given));
    expect(report).toMatchObject({
      exitCode: 3,
      mended: [],
      quarantined: [{ subject: 'metric:shop.orders.revenue' }],
    });
    expect(read(dir, 'semantic-layer/shop/orders.yaml')).not.toContain('revenue');
  });

  test('is paid for once, also where the run is killed before it publishes', async () => {
    const kill: IngestInput['onEvent'] = ({ type }) => {
      if (type === 'publish_step') throw new Error('killed');
    };
    await expect(
      ingested(answering(body('amounts'), body('amount')), dir, { onEvent: kill }),
    ).rejects.toThrow('killed');
    expect(await ingested(nobody)).toMatchObject({ exitCode: 0, requests: 0, mended: [{}] });
  });

  test('waits for the next run where the model fails', async () => {
    expect(await ingested(() => fail('auth'))).toMatchObject({
      exitCode: 4,
      stages: [{ stage: 'repair', done: 0, pending: 1 }],
    });
    expect(await ingested(answering(body('amount')))).toMatchObject({ exitCode: 0, requests: 1 });
  });

  test('that a person wrote in its place is theirs', async () => {
    await ingested(answering(body('amount')));
    const path = 'semantic-layer/shop/orders.yaml';
    write(dir, path, read(dir, path).replace('of: amount', 'of: amonut'));
    expect(await ingested(nobody)).toMatchObject({ exitCode: 3, requests: 0 });
    expect(read(dir, path)).toContain('amonut');
  });
});
