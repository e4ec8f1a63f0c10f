import { assert, property, shuffledSubarray } from 'fast-check';
import { expect, test } from 'vitest';
import { subjects, type Claim, type Evidence } from '../../src/context/claims/claim.ts';
import { readItemNotes } from '../../src/context/claims/item-notes.ts';
import type { Authority } from '../../src/context/compile/authority.ts';
import { rankClaims } from '../../src/context/compile/claim-precedence.ts';
import { findStaleSubjects } from '../../src/context/compile/stale.ts';
import { compileWiki } from '../../src/context/wiki/compile-wiki.ts';

const kinds = { models: 'dbt', bi: 'metabase', handbook: 'docs', slack: 'notes' };

/** What a source says a term means, or a metric is. */
function says(connection: string, body: string, more: Partial<Evidence> = {}): Claim {
  const origin = connection === 'models' || connection === 'bi' ? 'code' : 'model';
  const item = `sources/${connection}/terms.md`;
  const evidence = {
    connection,
    origin,
    extractor: 'x@1',
    item,
    confidence: 0.7,
    ...more,
  } as const;
  return { subject: subjects.term('Churn'), kind: 'definition', body, evidence: [evidence] };
}

const all = [says('slack', 'a'), says('handbook', 'b'), says('bi', 'c'), says('models', 'd')];
const first = (claims: readonly Claim[], authority: Partial<Authority> = {}) =>
  rankClaims(claims, { authority: { order: {}, kinds, ...authority } }).ranked.map(
    ({ evidence: [own] }) => own?.connection,
  );

test('without a configuration: semantic models, BI, documents, chat, in any order of arrival', () => {
  assert(
    property(shuffledSubarray(all, { minLength: all.length }), (claims) => {
      expect(first(claims)).toEqual(['models', 'bi', 'handbook', 'slack']);
    }),
  );
});

test.each<[string, Authority['order'], readonly string[]]>([
  ['a list for the topic', { terms: ['handbook', 'dbt'] }, ['handbook', 'models', 'bi', 'slack']],
  ['kinds of source', { terms: ['notes', 'docs'] }, ['slack', 'handbook', 'models', 'bi']],
  ['the default list', { default: ['bi'] }, ['bi', 'models', 'handbook', 'slack']],
  ['a list of another topic', { metrics: ['slack'] }, ['models', 'bi', 'handbook', 'slack']],
])('%s ranks', (_, order, expected) => {
  expect(first(all, { order })).toEqual(expected);
});

test('a person and a pin stand above every list', () => {
  const person = says('person', 'z', { origin: 'person' });
  expect(first([...all, person], { order: { terms: ['slack'] } })[0]).toBe('person');
});

test('equal ranks: the newest item first, then by place; what they say never decides', () => {
  const at = (location: string, body: string, dated?: string) =>
    says('handbook', body, { location, ...(dated === undefined ? {} : { dated }) });
  const bodies = (claims: readonly Claim[]) =>
    rankClaims(claims, { authority: { order: {}, kinds } }).ranked.map(({ body }) => body);
  expect(bodies([at('line 3', 'a', '2024-01-01'), at('line 9', 'z', '2025-01-01')])).toEqual([
    'z',
    'a',
  ]);
  expect(bodies([at('line 3', 'a'), at('line 9', 'z', '2025-01-01')])).toEqual(['z', 'a']);
  // By number: line 9 is before line 10.
  expect(bodies([at('line 10', 'a'), at('line 9', 'z')])).toEqual(['z', 'a']);
  expect(bodies([at('line 10', 'z'), at('line 9', 'a')])).toEqual(['a', 'z']);
});

test('what has expired counts last, stays visible, and is stale', () => {
  const old = says('models', 'old', { expires: '2025-06-30', owner: 'finance' });
  const { subject } = old;
  const authority: Authority = { order: {}, kinds, today: '2025-07-01' };
  const title = { ...says('models', 'Churn'), kind: 'title' } as const;
  const on = (today: string) =>
    compileWiki([title, old, all[0] ?? old], [], { ...authority, today });
  const shown = (today: string) => on(today).conflicts[0]?.variants.map(({ says: body }) => body);
  expect(shown('2025-06-30')).toEqual(['old', 'a']);
  expect(shown('2025-07-01')).toEqual(['a', 'old']);
  expect(on('2025-07-01').conflicts[0]?.variants[1]?.evidence[0]).toMatch(/, owner finance$/);
  const stale = (today: string) =>
    findStaleSubjects(
      [old],
      { pins: [], authority: { ...authority, today } },
      { items: new Map(), structures: new Map() },
    );
  expect(stale('2025-06-30')).toEqual(new Map());
  expect(stale('2025-07-01').get(subject)).toContain('holds until 2025-06-30');
});

test.each([
  [
    '---\nowner: finance\nupdated: 2025-03-01\nexpires: 2025-12-31\n---\n# T',
    { owner: 'finance', dated: '2025-03-01', expires: '2025-12-31' },
  ],
  [
    '---\r\nowners: [ann, bob]\r\ndate: 2025-03-01T10:00:00Z\r\n---\r\n# T',
    { owner: 'ann, bob', dated: '2025-03-01' },
  ],
  ['---\nowner: {a: 1}\ndate: soon\n---\n', {}],
  ['---\n: [\n---\n', {}],
  ['---\nowner: x\n', {}],
  ['# Title\n---\nowner: x\n---\n', {}],
])('the front matter of a page: %j', (body, expected) => {
  expect(readItemNotes(body)).toEqual(expected);
});
