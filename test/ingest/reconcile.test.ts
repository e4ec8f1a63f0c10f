import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortId, type Claim, type ClaimKind } from '../../src/context/claims/claim.ts';
import { compileDatasets } from '../../src/context/compile/compile.ts';
import { compileWiki } from '../../src/context/wiki/compile-wiki.ts';
import { createModelDecision } from '../../src/context/claims/model-decisions.ts';
import { listOpenConflicts } from '../../src/ingest/decide/reconcile/open-conflicts.ts';
import {
  openReconciliationSession,
  type ReconciliationDecision,
} from '../../src/ingest/decide/reconcile/reconciliation-session.ts';
import { reconcile } from '../../src/ingest/decide/reconcile/reconcile.ts';
import type { ModelNumber } from '../../src/ingest/decide/reconcile/compare-for-model.ts';
import { write } from '../store/git-project.ts';
import { fail, type Script } from '../support/model-script.ts';
import { differ, rulingModel, same, withRoomFor } from '../support/ruling-model.ts';
import { nothingYet, scriptedReader } from './reader.ts';

function said(
  subject: string,
  kind: ClaimKind,
  { body, line = 1 }: { body: Claim['body']; line?: number },
): Claim {
  const place = { item: 'sources/handbook/a.md', location: `line ${line}`, quote: 'Paid' };
  return {
    subject,
    kind,
    body,
    evidence: [
      { connection: 'handbook', origin: 'code', extractor: 'docs@1', ...place, confidence: 0.9 },
    ],
  };
}
const definition = (text: string, line = 1) =>
  said('term:revenue', 'definition', { body: text, line });
const wikiOf = (claims: readonly Claim[]) =>
  listOpenConflicts(compileWiki(claims, []).conflicts, claims, []);

const catalog = (subject: string, kind: ClaimKind, body: Claim['body']): Claim => {
  return {
    subject,
    kind,
    body,
    evidence: [{ connection: 'shop', origin: 'catalog', extractor: 'structure@1', confidence: 1 }],
  };
};
const table = [
  catalog('dataset:shop.orders', 'dataset', {
    source: { schema: 'main', table: 'orders' },
    kind: 'table',
  }),
  catalog('field:shop.orders.amount', 'field', { column: 'amount', position: 1 }),
  catalog('field:shop.orders.id', 'field', { column: 'id', position: 2 }),
];
const metric = (body: Claim['body']) => said('metric:shop.orders.revenue', 'metric', { body });
const metrics = [...table, metric({ agg: 'sum', of: 'amount' }), metric({ expr: 'sum(amount)' })];
const shopOf = (claims: readonly Claim[]) =>
  listOpenConflicts(compileDatasets(claims).conflicts, claims, []);

function session(page: ReturnType<typeof wikiOf>, numbers: readonly ModelNumber[] = []) {
  const kept: ReconciliationDecision[][] = [];
  const compare = async (conflict: (typeof page)[number]) =>
    new Map(
      conflict.variants.flatMap(({ id }, index) =>
        numbers[index] ? [[id, numbers[index]] as const] : [],
      ),
    );
  const text = Array.from({ length: 40 }, (_, line) =>
    line === 19 ? 'Paid orders count.' : `Line ${line + 1}.`,
  ).join('\n');
  const before = () => [];
  const keep = (_: unknown, findings: readonly ReconciliationDecision[]) =>
    void kept.push([...findings]);
  return {
    ...openReconciliationSession({
      page,
      compare,
      itemText: () => text,
      earlier: before,
      save: keep,
      snapshot: nothingYet,
    }),
    kept,
  };
}

describe('a reconciliation session', () => {
  const three = [
    definition('Paid orders.', 20),
    definition('Orders that were paid.'),
    definition('All orders.'),
  ];

  test('shows versions and what they rest on', () => {
    const open = session(wikiOf(three));
    expect(open.list()).toMatchObject([
      { subject: 'term:revenue', kind: 'definition', versions: [{}, {}, {}] },
    ]);
    const [evidence] = open.read(shortId(definition('Paid orders.', 20)));
    expect(evidence).toMatchObject({
      item: 'sources/handbook/a.md',
      around: expect.stringContaining('Paid orders count.'),
    });
    expect(evidence?.around).not.toContain('Line 1.\n');
    expect(() => open.read('nothing')).toThrow('not the id of a version');
  });

  test('is done with a subject once its versions are one, or once the contradiction of what is left is marked', async () => {
    const ids = three.map(shortId);
    const open = session(wikiOf(three));
    await open.markSame('term:revenue', { versions: ids.slice(0, 2), why: 'x' });
    expect(open.list()).toHaveLength(1);
    open.markContradiction('term:revenue', { why: 'all or paid' });
    expect(open.list()).toEqual([]);
    await expect(open.markSame('term:revenue', { versions: ids, why: 'x' })).rejects.toThrow(
      'decided already',
    );
    expect(open.kept.map((findings) => findings.length)).toEqual([1, 2]);
    const other = session(wikiOf(three));
    await other.markSame('term:revenue', { versions: ids, why: 'x' });
    expect(other.list()).toEqual([]);
  });

  test('refuses what code can see to be wrong', async () => {
    const open = session(
      wikiOf([
        definition('Active in the last 30 days.'),
        definition('Active in the last 90 days.'),
      ]),
    );
    const [conflict] = open.list();
    const ids = conflict?.versions.map(({ id }) => id) ?? [];
    await expect(open.markSame('term:revenue', { versions: ids, why: 'same' })).rejects.toThrow(
      'different figures',
    );
    await expect(
      open.markSame('term:revenue', { versions: ids.slice(1), why: 'same' }),
    ).rejects.toThrow('at least two versions');
    await expect(
      open.markSame('term:revenue', { versions: ['x', 'y'], why: 'same' }),
    ).rejects.toThrow('not one of its versions');
    await expect(open.markSame('term:revenu', { versions: ids, why: 'same' })).rejects.toThrow(
      'Did you mean term:revenue?',
    );
    await expect(open.compare('term:revenue')).rejects.toThrow('no number');
    expect(open.kept).toEqual([]);
  });

  test.each([
    ['the numbers differ', [{ value: 12 }, { value: 15 }]],
    ['one does not run', [{ value: 12 }, { failure: 'no such column' }]],
    ['none of them runs', []],
    ['they say nothing', [{ value: null }, { value: null }]],
  ])('never takes two formulas for the same where %s', async (_, numbers) => {
    const open = session(shopOf(metrics), numbers);
    const ids = open.list()[0]?.versions.map(({ id }) => id) ?? [];
    await expect(
      open.markSame('metric:shop.orders.revenue', {
        versions: ids,
        why: 'the same, by order of the CFO',
      }),
    ).rejects.toThrow('mark the contradiction');
    expect(open.kept).toEqual([]);
  });

  test('takes two formulas for the same where their numbers agree', async () => {
    const open = session(shopOf(metrics), [
      { value: 0.1 + 0.2, shown: 0 },
      { value: 0.3, shown: 1 },
    ]);
    expect(await open.compare('metric:shop.orders.revenue')).toMatchObject({
      versions: [{ value: 0 }, { value: 1 }],
    });
    const ids = open.list()[0]?.versions.map(({ id }) => id) ?? [];
    await open.markSame('metric:shop.orders.revenue', { versions: ids, why: 'the same' });
    expect(open.list()).toEqual([]);
  });

  test('never takes two keys for the same', async () => {
    const keys = [['id'], ['amount']].map((body) =>
      said('dataset:shop.orders', 'primary_key', { body }),
    );
    const open = session(shopOf([...table, ...keys]));
    const ids = open.list()[0]?.versions.map(({ id }) => id) ?? [];
    await expect(open.markSame('dataset:shop.orders', { versions: ids, why: 'x' })).rejects.toThrow(
      'exactly',
    );
  });
});

describe('reconciliation', () => {
  const withModel = scriptedReader();
  const claims = Array.from({ length: 14 }, (_, index) =>
    ['Paid.', 'Was paid.'].map((text) =>
      said(`term:t${index}`, 'definition', { body: `${text} ${'x'.repeat(index)}` }),
    ),
  ).flat();
  const run = (
    script: Script,
    { dir = mkdtempSync(join(tmpdir(), 'ktx-reconcile-')), told = claims } = {},
  ) => {
    write(dir, 'ktx.yaml', 'connections: {}\n');
    return withModel(dir, script, async (model) => {
      const steps: { type: string }[] = [];
      const numbers = async () => new Map<string, ModelNumber>();
      const stage = {
        model,
        pins: [],
        isOver: false,
        isAnew: false,
        snapshot: async () => nothingYet,
        emit: (event: { type: string }) => steps.push(event),
        signal: AbortSignal.timeout(30_000),
      };
      const { conflicts } = compileWiki(told, []);
      return {
        dir,
        steps,
        ...(await reconcile({
          ...stage,
          claims: told,
          conflicts,
          compare: numbers,
          itemText: () => undefined,
        })),
      };
    });
  };
  const script = rulingModel({
    candidate: () => ({ text: '' }),
    conflict: (one) => (one.subject < 'term:t5' ? [same(one)] : [differ(one)]),
  });

  test('looks at each conflict once; a contradiction stays one and nobody is asked again, until something new is said', async () => {
    const first = await run(script);
    expect(first.report).toMatchObject({ done: 14, pending: 0, calls: first.requests });
    const told = [...claims, ...first.decisions];
    const { conflicts } = compileWiki(told, []);
    expect(conflicts.map(({ subject }) => subject)).toEqual([
      'term:t5',
      'term:t6',
      'term:t7',
      'term:t8',
      'term:t9',
    ]);
    expect(await run(() => fail('bad-request'), { told })).toMatchObject({
      decisions: [],
      requests: 0,
    });
    const more = await run(script, {
      told: [...told, said('term:t5', 'definition', { body: 'Else.' })],
    });
    expect(more.report).toMatchObject({ done: 1, calls: more.requests });
  });

  test('tries a page that is too long by halves, and names what is too long alone', async () => {
    const { report } = await run(withRoomFor(3, 'term:t7', script));
    expect(report).toMatchObject({
      done: 13,
      pending: 1,
      failures: [{ message: expect.stringMatching(/^definition of term:t7: /) as unknown }],
    });
  });

  test('pays once for what a killed run found', async () => {
    let turns = 0;
    const half = await run((call) =>
      (turns += call.results.length === 0 ? 1 : 0) > 1 ? fail('auth') : script(call),
    );
    expect(half.report).toMatchObject({ done: 10, pending: 4, failures: [{ code: 'llm_auth' }] });
    const rest = await run(script, { dir: half.dir });
    expect(rest.report).toMatchObject({ done: 14, calls: rest.requests });
    expect(rest.decisions).toEqual((await run(script)).decisions);
  });

  test('rules the same in any order of the claims', async () => {
    const expected = (await run(script)).decisions;
    const shuffled = fc.shuffledSubarray([...claims], { minLength: claims.length });
    for (const told of fc.sample(shuffled, 2))
      expect((await run(script, { told })).decisions).toEqual(expected);
  });

  test('is of no effect on what it is told to do by a text: nothing is resolved', () => {
    const [one, two] = [
      definition('Active in the last 30 days.'),
      definition('Active in the last 90 days.'),
    ];
    const body = { kind: 'definition', claims: [one, two].map(shortId), why: 'x' };
    const seen = createModelDecision('reconciliation@1', 'term:revenue', {
      kind: 'contradiction',
      body,
    });
    expect(wikiOf([one, two, seen])).toEqual([]);
    expect(compileWiki([one, two, seen], []).conflicts).toHaveLength(1);
  });
});
