import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { loadAnalyzer, parseSql } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { type Fragment, parseFragment } from '../../src/sql/fragment.ts';
import { engineNames } from '../conformance/engines.ts';

const plain = [
  'amount',
  'a * b',
  'sum(net)',
  'sum(orders.amount) / count(distinct orders.customer_id)',
  "status = 'paid'",
  '(a + 1.5) * (b - c)',
  "not refunded and (status <> 'x' or orders.buyer.segment is not null)",
  'max("Ship Date") >= 3',
  'sum(amount * (1 - discount))',
  'a is null',
  'true',
];
const notPlain = [
  'coalesce(a, b)',
  'lower(status)',
  "status in ('paid')",
  'case when a then b end',
  'a between 1 and 2',
  'a || b',
  'a::int',
  'count(*)',
  "date '2024-01-01'",
  'percentile(a, 0.9)',
  'distinct a',
  'a is true',
  "status like 'p%'",
  'a b',
  'a not b',
  '- -a',
  'sum(distinct)',
];

/**
 * What `run` finds, or the code of what it throws; undefined where it needs the parser, which must
 * not be loaded then.
 */
function outcome(run: () => Fragment): Fragment | string | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof UserError) return error.code;
    expect(String(error)).toContain('withAnalyzer');
    return undefined;
  }
}

/** Before the parser is loaded, so that every text that is accepted is one that needs none. */
function acceptedAlone(
  texts: readonly string[],
): readonly { readonly text: string; readonly name: string; readonly fragment: Fragment }[] {
  expect(() => parseSql('SELECT 1', findDialect('duckdb'))).toThrow('withAnalyzer');
  return engineNames.flatMap((name) =>
    [...new Set(texts)].flatMap((text) => {
      const fragment = outcome(() =>
        parseFragment(text, { dialect: findDialect(name), origin: 'model' }),
      );
      return typeof fragment === 'object' ? [{ text, name, fragment }] : [];
    }),
  );
}

const name = fc.constantFrom(
  'a',
  'net',
  'orders.amount',
  'orders.buyer.segment',
  '"Ship Date"',
  'orders."a ""b"',
  'größe',
  'e1',
  'x',
  'index',
);
const odd = fc.constantFrom(
  ...'all any array asc binary both cross current_date current_user date default desc distinct exists from group having interval into is join'.split(
    ' ',
  ),
  ...'lambda lateral limit localtime natural offset on order over partition rank row select session_user some sum table union user using values where window'.split(
    ' ',
  ),
  ...'null.a a.null order.a orders.order orders.user orders.distinct'.split(' '),
);
const literal = fc.constantFrom(
  '1',
  '1.5',
  '.5',
  '2e3',
  "'paid'",
  "'it''s'",
  'null',
  'true',
  'false',
);
const binary = fc.constantFrom(
  ' + ',
  '-',
  ' * ',
  '/',
  ' = ',
  '<>',
  ' < ',
  '>=',
  ' and ',
  ' OR ',
  ' ',
  ' is ',
  ' not ',
  '!=',
  ',',
);
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    { weight: 4, arbitrary: name },
    { weight: 1, arbitrary: odd },
    { weight: 2, arbitrary: literal },
    {
      weight: 4,
      arbitrary: fc
        .tuple(tie('expression'), binary, tie('expression'))
        .map((parts) => parts.join('')),
    },
    { weight: 2, arbitrary: tie('expression').map((inner) => `(${inner})`) },
    { weight: 1, arbitrary: tie('expression').map((inner) => `not ${inner}`) },
    { weight: 1, arbitrary: tie('expression').map((inner) => `${inner} is not null`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom('sum', 'AVG', 'count', 'max'),
          fc.constantFrom('', 'distinct '),
          tie('expression'),
        )
        .map(([call, how, inner]) => `${call}(${how}${inner})`),
    },
  ),
}));

const texts: string[] = [];
JSON.parse(
  readFileSync(new URL('../conformance/semantic-layer.json', import.meta.url), 'utf8'),
  (_, value: unknown) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  },
);

describe('an expression that needs no parser', () => {
  const alone = acceptedAlone([
    ...plain,
    ...texts,
    ...fc.sample(expression, { numRuns: 4000, seed: 7 }),
  ]);
  const refusedAlone = acceptedAlone(notPlain);

  beforeAll(async () => {
    await loadAnalyzer();
  });

  test('is a plain one, and no other', () => {
    const accepted = new Set(alone.map(({ text }) => text));
    expect(plain.filter((text) => !accepted.has(text))).toEqual([]);
    expect(refusedAlone.map(({ text }) => text)).toEqual([]);
    expect(accepted.size).toBeGreaterThan(500);
  });

  /**
   * COALESCE of it is no plain expression, so the parser reads that, at another place of the text.
   */
  test('is read as the parser reads it', () => {
    const before = 'coalesce(';
    const differing = alone.filter(({ text, name: engine, fragment }) => {
      const parsed = outcome(() =>
        parseFragment(`${before}${text}\n, null)`, {
          dialect: findDialect(engine),
          origin: 'model',
        }),
      );
      const references = typeof parsed === 'object' ? parsed.references : [];
      const moved = references.map((one) => ({
        ...one,
        start: one.start - before.length,
        end: one.end - before.length,
      }));
      return (
        typeof parsed !== 'object' || JSON.stringify(moved) !== JSON.stringify(fragment.references)
      );
    });
    expect(differing.map(({ text }) => text)).toEqual([]);
  });
});
