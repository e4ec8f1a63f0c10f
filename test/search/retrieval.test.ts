import { beforeAll, expect, test } from 'vitest';
import { buildCompany } from '../../bench/search/build-company.ts';
import { answerQuestions, type Answered, companies, recall } from '../../bench/search/score.ts';

let answers: readonly Answered[];
let setAside: readonly Answered[];
beforeAll(() => {
  answers = answerQuestions();
  setAside = answers.filter(({ isSetAside }) => isSetAside);
});

test('each company has at least 500 tables, and pages about tables that nobody looks for', () => {
  for (const company of companies) {
    const { datasets, pages } = buildCompany(company);
    const asked = new Set(company.questions.map(({ table }) => table));
    const distracting = pages.filter(({ tables }) => !tables.some((table) => asked.has(table)));
    expect(datasets.length).toBeGreaterThanOrEqual(500);
    expect(distracting.length).toBeGreaterThan(pages.length / 2);
    const names = new Set(datasets.map(({ dataset }) => dataset));
    expect([...asked].filter((table) => !names.has(table))).toEqual([]);
  }
});

test('most questions have no word of the name of what they look for', () => {
  const indirect = answers.filter(({ isIndirect }) => isIndirect);
  expect(setAside.length).toBeGreaterThanOrEqual(100);
  expect(indirect.length).toBeGreaterThanOrEqual(answers.length / 2);
});

test('on questions set aside, ktx misses less than half of what BM25 misses, with pages or not', () => {
  const missed = (by: 'ktx' | 'bm25' | 'bm25WithPages') => 1 - recall(setAside, by, 3);
  expect(missed('ktx')).toBeLessThan(missed('bm25') / 2);
  expect(missed('ktx')).toBeLessThan(missed('bm25WithPages') / 2);
  expect(recall(setAside, 'ktx', 3)).toBeGreaterThanOrEqual(0.85);
});

test.for(['refs', 'languages'] as const)('%s lead to what is looked for', (lane) => {
  const without = answerQuestions(lane);
  expect(recall(answers, 'ktx', 3)).toBeGreaterThan(recall(without, 'ktx', 3) + 0.03);
});
