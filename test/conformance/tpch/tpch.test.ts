import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../../src/semantic/model.ts';
import { type Engine, rowsOf } from '../engines.ts';
import { accountedFor, answersTo, difference, engineOf, readModel, readQuestions } from '../tpc.ts';
import { tpchTables } from './generate.ts';

const file = (name: string): URL => new URL(name, import.meta.url);
const questions = await readQuestions(file('queries.yaml'));

describe('TPC-H', () => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineOf(tpchTables());
    model = await readModel(file('model.yaml'), engine);
  });
  afterAll(async () => engine.close());

  test('every published query is answered or listed with the reason', () => {
    const published = Array.from({ length: 22 }, (_, index) => `Q${index + 1}`);
    expect(accountedFor(questions, file('README.md'))).toEqual(published);
  });

  test('a comparison fails for a cell, a row too many and a row too few', () => {
    const rows = [['a', 1.25], ['a', 1.25], ['b', 1 / 3]]; // prettier-ignore
    expect(difference(rows, rows.toReversed())).toEqual({ extra: [], missing: [] });
    expect(difference(rows, [...rows.slice(0, 2), ['b', 1 / 3 + 1e-12]]).missing).toEqual([]);
    expect(difference(rows, [...rows.slice(0, 2), ['b', 0.3333]]).missing).toEqual([['b', 0.3333]]);
    expect(difference(rows, rows.slice(1)).extra).toEqual([['a', 1.25]]);
    expect(difference(rows.slice(1), rows).missing).toEqual([['a', 1.25]]);
    expect(difference([['1000000000.01']], [['1000000000.02']]).extra).toHaveLength(1);
    expect(difference([[null]], [[0]]).extra).toHaveLength(1);
  });

  test.each(questions)('$id $question', async (question) => {
    const expected = await rowsOf(engine, question.sql);
    expect(expected.flat().some((cell) => cell !== null)).toBe(true);
    const actual = await answersTo(engine, model, question);
    expect(difference(actual, expected)).toEqual({ extra: [], missing: [] });
  });
});
