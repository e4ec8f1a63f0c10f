import { expect, test } from 'vitest';
import { isAskedFor, metricWords } from '../../src/eval/cases/question-words.ts';
import { datasetSchema } from '../../src/semantic/model/dataset.ts';

const file = datasetSchema.parse({
  dataset: 'sales__order_lines',
  source: 'sales.order_lines',
  primary_key: ['line'],
  metrics: [
    { name: 'count', agg: 'count' },
    { name: 'revenue', agg: 'sum', of: 'amount' },
    { name: 'total_amount', agg: 'sum', of: 'amount' },
    { name: 'avgPrice', agg: 'avg', of: 'price' },
    { name: 'urgent_lines', agg: 'count', where: "priority = 'high'" },
    { name: 'buyers', agg: 'count_distinct', of: 'buyer_id' },
    { name: 'AOV', agg: 'avg', of: 'amount', synonyms: ['Average Order Value'] },
    { name: 'total_buyer_id', agg: 'sum', of: 'buyer_id' },
    { name: 'average_line', agg: 'avg', of: 'line' },
    { name: 'max_zip', agg: 'max', of: 'zip' },
    { name: 'secret_margin', agg: 'sum', of: 'margin', hidden: true },
  ],
});

test('questions are generated about what people ask, in their words', () => {
  const asked = (file.metrics ?? []).filter((metric) => isAskedFor(metric, file));
  const own = { dataset: file.dataset, isAmbiguous: false };
  expect(asked.map((metric) => metricWords(metric, own))).toEqual([
    'the revenue',
    'the total amount of order lines',
    'the average price of order lines',
    'the number of urgent lines',
    'the number of buyers',
    'the average order value',
  ]);
  const [revenue] = asked;
  expect(revenue && metricWords(revenue, { ...own, isAmbiguous: true })).toBe(
    'the revenue of order lines',
  );
});
