import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  shortId,
  subjects,
  type Claim,
  type ClaimKind,
  type Evidence,
} from '../../src/context/claims/claim.ts';
import { compileDatasets } from '../../src/context/compile/compile.ts';
import { compileWiki } from '../../src/context/wiki/compile-wiki.ts';
import { markShownClaims } from '../../src/context/compile/explain.ts';
import { createModelDecision, dropOrphans } from '../../src/context/claims/model-decisions.ts';
import type { Json } from '../../src/lib/json.ts';

function said(
  subject: string,
  kind: ClaimKind,
  { body, origin = 'model' }: { body: Json; origin?: Evidence['origin'] },
): Claim {
  const evidence = {
    connection: 'handbook',
    origin,
    extractor: 'test@1',
    item: 'a.md',
    location: 'line 1',
    confidence: 0.5,
  } as const;
  return { subject, kind, body, evidence: [evidence] };
}

const term = (title: string, definition: string, origin?: Evidence['origin']): Claim[] => [
  said(subjects.term(title), 'title', { body: title, origin }),
  said(subjects.term(title), 'definition', { body: definition, origin }),
];
const sameAs = (other: string, name: string) =>
  createModelDecision('curation@1', subjects.term(other), {
    kind: 'same_as',
    body: subjects.term(name),
  });
const alike = (...claims: readonly Claim[]) => {
  const [{ subject, kind } = { subject: '', kind: 'rule' }] = claims;
  return createModelDecision('reconciliation@1', subject, {
    kind: 'same_meaning',
    body: { kind, claims: claims.map(shortId), why: 'same' },
  });
};
const wiki = (claims: readonly Claim[]) => compileWiki(claims, []);
const sections = (claims: readonly Claim[]) =>
  wiki(claims).pages.flatMap((page) =>
    page.sections.map(({ subject, text }) => [page.page, subject, text]),
  );

describe('terms that are the same', () => {
  const arr = term('ARR', 'What comes in every year.');
  const full = term('Annual recurring revenue', 'What comes in every year.', 'code');

  it('are one, with the evidence of both and the other name as a synonym; explain knows all of it', () => {
    const claims = [...arr, ...full, sameAs('ARR', 'Annual recurring revenue')];
    expect(sections(claims)).toEqual([
      [
        'glossary',
        'term:annual_recurring_revenue',
        '## Annual recurring revenue\n\nWhat comes in every year.\n\nAlso: ARR.\n',
      ],
    ]);
    expect(wiki(claims)).toMatchObject({ conflicts: [], quarantined: [] });
    expect(markShownClaims(claims).every(({ shown }) => shown)).toBe(true);
    expect(markShownClaims(claims).map(({ subject }) => subject)).toContain('term:arr');
  });

  it('that say different things are contested as one', () => {
    const { conflicts } = wiki([
      ...term('ARR', 'Another thing.'),
      ...full,
      sameAs('ARR', 'Annual recurring revenue'),
    ]);
    expect(conflicts).toMatchObject([
      { subject: 'term:annual_recurring_revenue', kind: 'definition' },
    ]);
  });

  it('fall apart when one of them is gone, and a person who decided about one keeps it', () => {
    expect(
      sections([...arr, sameAs('ARR', 'Annual recurring revenue')]).map(([, subject]) => subject),
    ).toEqual(['term:arr']);
    const pin = { subject: 'term:arr', kind: 'definition', choose: 'x', seen: [] };
    const { pages } = compileWiki(
      [...arr, ...full, sameAs('ARR', 'Annual recurring revenue')],
      [pin],
    );
    expect(pages[0]?.sections).toHaveLength(2);
  });

  it('are never of two types', () => {
    const rule = said('rule:arr', 'rule', { body: 'Say ARR.' });
    const odd = createModelDecision('curation@1', 'term:arr', {
      kind: 'same_as',
      body: 'rule:arr',
    });
    expect(wiki([...arr, rule, odd]).pages.map(({ page }) => page)).toEqual(['glossary', 'rules']);
  });
});

describe('claims that are contested', () => {
  const [one, two, three] = ['Paid orders only.', 'Orders that were paid.', 'All orders.'].map(
    (body) => said('term:revenue', 'definition', { body }),
  ) as [Claim, Claim, Claim];

  it('are not, once they mean the same; what contradicts stays contested, seen or not', () => {
    const seen = createModelDecision('reconciliation@1', 'term:revenue', {
      kind: 'contradiction',
      body: { kind: 'definition', claims: [one, three].map(shortId), why: 'all or paid' },
    });
    expect(wiki([one, two, alike(one, two)]).conflicts).toEqual([]);
    expect(wiki([one, two, three, alike(one, two), seen]).conflicts[0]?.variants).toHaveLength(2);
    expect(wiki([one, two, three, alike(one, two), alike(two, three)]).conflicts).toEqual([]);
    expect(wiki([one, three, seen]).conflicts).toHaveLength(1);
  });

  it('of a dataset are joined in the same way', () => {
    const catalog = (subject: string, kind: ClaimKind, body: Json) =>
      said(subject, kind, { body, origin: 'catalog' });
    const table = [
      catalog('dataset:shop.orders', 'dataset', {
        source: { schema: 'main', table: 'orders' },
        kind: 'table',
      }),
      catalog('field:shop.orders.amount', 'field', { column: 'amount', position: 1 }),
    ];
    const metric = (body: Json) => said('metric:shop.orders.revenue', 'metric', { body });
    const [plain, written] = [
      metric({ agg: 'sum', of: 'amount' }),
      metric({ expr: 'sum(amount)' }),
    ];
    expect(compileDatasets([...table, plain, written]).conflicts).toHaveLength(1);
    expect(compileDatasets([...table, plain, written, alike(plain, written)])).toMatchObject({
      conflicts: [],
      quarantined: [],
    });
  });
});

describe('what a model rejects', () => {
  const reject = (...claims: readonly Claim[]) =>
    createModelDecision('curation@1', 'term:arr', {
      kind: 'rejected',
      body: { claims: claims.map(shortId), why: 'chatter' },
    });

  it('is kept with the reason and not shown; what code read is shown all the same', () => {
    const [title, definition] = term('ARR', 'Chatter.') as [Claim, Claim];
    const rejected = [title, definition, reject(title, definition)];
    expect(wiki(rejected)).toEqual({ pages: [], conflicts: [], quarantined: [] });
    expect(dropOrphans(rejected)).toEqual(rejected);
    expect(markShownClaims(rejected).map(({ kind, shown }) => [kind, shown])).toEqual([
      ['title', false],
      ['definition', false],
      ['rejected', true],
    ]);
    const [read] = term('ARR', 'Chatter.', 'code') as [Claim];
    expect(wiki([read, reject(read)]).pages).toHaveLength(1);
  });
});

describe('what a model mended', () => {
  const catalog = (subject: string, kind: ClaimKind, body: Json) =>
    said(subject, kind, { body, origin: 'catalog' });
  const table = [
    catalog('dataset:shop.orders', 'dataset', {
      source: { schema: 'main', table: 'orders' },
      kind: 'table',
    }),
    catalog('field:shop.orders.amount', 'field', { column: 'amount', position: 1 }),
  ];
  const wrong = (origin: Evidence['origin']) =>
    said('metric:shop.orders.revenue', 'metric', { body: { agg: 'sum', of: 'amuont' }, origin });
  const mended = (claim: Claim, body: Json | null) =>
    createModelDecision('repair@1', claim.subject, {
      kind: 'repaired',
      body: { claim: shortId(claim), kind: 'metric', fault: 'x', body },
    });

  it('counts in place of what was said, which stays recorded; not where a person said it', () => {
    const metrics = (claims: readonly Claim[]) =>
      compileDatasets([...table, ...claims]).artifacts[0]?.metrics;
    const right = { agg: 'sum', of: 'amount' };
    expect(metrics([wrong('code'), mended(wrong('code'), right)])).toEqual([
      { name: 'revenue', ...right, unreviewed: true },
    ]);
    expect(metrics([wrong('code'), mended(wrong('code'), null)])).toEqual([
      { name: 'revenue', agg: 'sum', of: 'amuont' },
    ]);
    expect(metrics([wrong('person'), mended(wrong('person'), right)])).toEqual([
      { name: 'revenue', agg: 'sum', of: 'amuont' },
    ]);
    expect(markShownClaims([wrong('code'), mended(wrong('code'), right)])).toMatchObject([
      { shown: true },
      { kind: 'repaired' },
    ]);
  });
});

describe('rulings', () => {
  it('go with what they are about', () => {
    const [title, definition] = term('ARR', 'One.') as [Claim, Claim];
    const other = said('term:arr', 'definition', { body: 'Two.' });
    const place = createModelDecision('curation@1', 'term:arr', { kind: 'page', body: 'billing' });
    const all = [
      title,
      definition,
      other,
      place,
      sameAs('ARR', 'Nothing'),
      alike(definition, other),
    ];
    expect(dropOrphans(all)).toEqual([title, definition, other, place, alike(definition, other)]);
    expect(dropOrphans([title, place, alike(definition, other)])).toEqual([title, place]);
    expect(dropOrphans([place])).toEqual([]);
    expect(wiki([place]).pages).toEqual([]);
  });

  it('of any number give the same in any order', () => {
    const names = ['a', 'b', 'c', 'd'];
    const claims = names.flatMap((name) =>
      ['One.', 'Two.', 'Three.'].map((body) => said(`term:${name}`, 'definition', { body })),
    );
    const anyClaim = fc.constantFrom(...claims);
    const anyName = fc.constantFrom(...names);
    const anyRuling = fc.oneof(
      fc.tuple(anyName, anyName).map(([a, b]) => sameAs(a, b)),
      fc.tuple(anyClaim, anyClaim).map((two) => alike(...two)),
      anyClaim.map((one) =>
        createModelDecision('curation@1', one.subject, {
          kind: 'rejected',
          body: { claims: [shortId(one)], why: 'x' },
        }),
      ),
      fc
        .tuple(anyName, anyName)
        .map(([a, page]) =>
          createModelDecision('curation@1', `term:${a}`, { kind: 'page', body: page }),
        ),
    );
    let merged = 0;
    const input = fc
      .tuple(
        fc.subarray(claims, { minLength: 4 }),
        fc.array(anyRuling, { minLength: 1, maxLength: 8 }),
      )
      .chain(([some, rulings]) => {
        const all = [...some, ...rulings];
        return fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }));
      });
    fc.assert(
      fc.property(input, ([all, shuffled]) => {
        const expected = wiki(all);
        expect(JSON.stringify(wiki(shuffled))).toBe(JSON.stringify(expected));
        expect(wiki(dropOrphans(shuffled))).toEqual(expected);
        if (
          expected.pages.flatMap((page) => page.sections).length <
          new Set(all.map(({ subject }) => subject)).size
        )
          merged += 1;
      }),
    );
    expect(merged).toBeGreaterThan(0);
  });
});
