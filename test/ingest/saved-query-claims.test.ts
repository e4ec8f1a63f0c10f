import { expect, test } from 'vitest';
import type { Claim } from '../../src/context/claims/claim.ts';
import { renderSavedQueries } from '../../src/ingest/render/render-saved-queries.ts';

function query(subject: string, connection: string, metric = 'orders.count'): Claim {
  const evidence = { connection, origin: 'code', extractor: 'dbt@1', confidence: 1 } as const;
  return { subject, kind: 'saved_query', body: { metrics: [metric] }, evidence: [evidence] };
}

function rendered(...claims: readonly Claim[]) {
  const input = { claims, retain: () => undefined, authority: undefined, merged: undefined };
  const { writes, quarantined } = renderSavedQueries(input, new Map());
  return {
    files: writes.filter(({ step }) => step === 'file_written').map(({ path }) => path),
    reasons: quarantined.map(({ reason }) => reason),
  };
}

test('of two sources with a query of one name, one file is written and the other is named', () => {
  const [first, second] = [query('query:shop.daily', 'a'), query('query:shop.daily', 'b', 'x.y')];
  expect(rendered(first, second)).toEqual({
    files: ['semantic-layer/shop/queries/daily.yaml'],
    reasons: ['another source has a query of this name'],
  });
});

test('names that differ in case alone would be one file on some systems', () => {
  const { files, reasons } = rendered(
    query('query:shop.Daily', 'a'),
    query('query:shop.daily', 'a'),
  );
  expect(files).toHaveLength(1);
  expect(reasons).toEqual(['another query has this name in other case']);
});

test('a subject that leads elsewhere, and a body that is no query, write nothing', () => {
  const broken = { ...query('query:shop.daily', 'a'), body: { metrics: 7 } };
  for (const claim of [query('query:../../etc.daily', 'a'), query('query:shop.a/b', 'a'), broken])
    expect(rendered(claim).files).toEqual([]);
});
