import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ClassifiedColumn, personalKinds } from '../../src/scan/personal/classify-column.ts';
import { looksPersonal } from '../../src/scan/personal/personal-value.ts';

/**
 * `tuning.jsonl` and `aside.jsonl`: columns of 30 personal kinds in four scripts and look-alikes. The values come from Faker, from
 * the check digits of python-stdnum and from lists written by hand, before any rule existed. Rules are made with `tuning.jsonl`;
 * `aside.jsonl` only measures them.
 */
const columnSchema = z.looseObject({
  kind: z.string().nullable(),
  what: z.string().optional(),
  script: z.string(),
  table: z.string(),
  column: z.string(),
  type: z.enum(['string', 'integer', 'decimal', 'date']),
  values: z.array(z.string()),
});

const personalKindOf = (column: ClassifiedColumn) => personalKinds([column])[0];

function readColumns(half: string) {
  return readFileSync(join(import.meta.dirname, 'personal', `${half}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => columnSchema.parse(JSON.parse(line)));
}

function score(half: string) {
  const judged = readColumns(half).map((column) => ({
    ...column,
    found: personalKindOf({ ...column, name: column.column }),
  }));
  const personal = judged.filter(({ kind }) => kind !== null);
  const flagged = judged.filter(({ found }) => found !== undefined);
  const right = flagged.filter(({ kind }) => kind !== null);
  return {
    personal: personal.length,
    others: judged.length - personal.length,
    kinds: new Set(personal.map(({ kind }) => kind)).size,
    scripts: new Set(judged.map(({ script }) => script)).size,
    recall: right.length / personal.length,
    precision: right.length / flagged.length,
  };
}

describe('of columns with personal data and look-alikes', () => {
  for (const half of ['tuning', 'aside'])
    test(`the half ${half} is told apart`, () => {
      const { recall, precision, ...size } = score(half);
      expect(size).toEqual({ personal: 66, others: 73, kinds: 30, scripts: 4 });
      expect(recall).toBeGreaterThanOrEqual(0.95);
      expect(precision).toBeGreaterThanOrEqual(0.9);
    });
});

const column = (name: string, values: readonly string[], table = 't') =>
  ({ name, table, type: 'string', values }) as const;

test('given and family names in two columns are found together', () => {
  const first = ['Ada', 'Grace', 'Xylo', 'Quorra', 'Alan', 'Barbara'];
  const names = ['Lovelace', 'Hopper', 'Turing', 'Liskov', 'Hamilton', 'Knuth'];
  const kinds = personalKinds([
    column('last_name', names),
    column('c2', first),
    column('c3', ['red', 'blue', 'green', 'black']),
  ]);
  expect(kinds).toEqual(['name', 'name', undefined]);
});

test('a name that contradicts its values does not count', () => {
  expect(personalKindOf(column('mail', ['opened', 'clicked', 'bounced']))).toBe(undefined);
  expect(personalKindOf(column('phone', ['iPhone', 'Pixel', 'Galaxy']))).toBe(undefined);
  expect(personalKindOf(column('email_verified', ['true', 'false']))).toBe(undefined);
  expect(personalKindOf(column('longitude', ['8.5417', '7.4474'], 'stores'))).toBe(undefined);
  expect(personalKindOf(column('longitude', ['8.5417', '7.4474'], 'patients'))).toBe('place');
  expect(personalKindOf(column('name', ['Ada', 'Grace'], 'employees'))).toBe('name');
  expect(personalKindOf(column('name', ['Espresso', 'Mokka'], 'products'))).toBe(undefined);
});

test('a value is taken out of a column that is kept', () => {
  for (const value of [
    'call bob@example.com',
    '+49 171 1234567',
    'Ada Lovelace',
    'DE89370400440532013000',
    '4111 1111 1111 1111',
    '2001:db8::1',
    'https://www.linkedin.com/in/ada',
  ])
    expect(looksPersonal(value), value).toBe(true);
  for (const value of [
    'New York',
    'South Korea',
    'ORD-2024-123456',
    '2024-05-06',
    '10.0.19041',
    'Black Friday',
    'Dark Red',
    '550e8400-e29b-41d4-a716-446655440000',
    'Jack Wolfskin',
    'Müller Maschinenbau GmbH',
  ])
    expect(looksPersonal(value), value).toBe(false);
});

test('the time for a column grows with its length only', () => {
  const time = (values: readonly string[]) => {
    const started = performance.now();
    personalKindOf(column('c1', values));
    return performance.now() - started;
  };
  const ordinary = Array.from({ length: 200 }, (_, n) => `value ${n} of a column`);
  time(ordinary);
  const usual = time(ordinary);
  for (const part of [
    '1',
    'a',
    ' ',
    'A ',
    '1.',
    '-',
    'ß',
    '东',
    'rue ',
    '{"a":',
    '@',
    ',',
    '(',
    '٣',
  ])
    expect(
      time(Array.from({ length: 200 }, (_, n) => part.repeat(50_000) + n)),
      JSON.stringify(part),
    ).toBeLessThan(50 * usual + 200);
});
