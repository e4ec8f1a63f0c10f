import { describe, expect, test } from 'vitest';
import { createPlan, createPlanToTry } from '../../src/semantic/plan/plan.ts';
import { findGroupings, findMetricsBy } from '../../src/semantic/query/groupings.ts';
import { type EngineCase, testRowsOnEngines } from './rows-on-engines.ts';
import { compile, load } from './shop.ts';

const script = `
CREATE TABLE people (id INTEGER, segment VARCHAR(10));
INSERT INTO people VALUES (1, 'home'), (2, 'firm'), (3, 'firm');
CREATE TABLE orders (id INTEGER, buyer INTEGER, payer INTEGER, placed DATE, amount INTEGER);
INSERT INTO orders VALUES (1, 1, 2, '2024-01-05', 10), (2, 2, 1, '2024-01-09', 20), (3, 2, 3, '2024-02-01', 30), (4, NULL, 1, '2024-02-02', 40);
CREATE TABLE tickets (id INTEGER, person INTEGER, opened DATE);
INSERT INTO tickets VALUES (1, 3, '2024-01-30'), (2, 3, '2024-02-11'), (3, 1, '2024-02-12');`;

const people = (conformed: string) => `
dataset: people
source: people
primary_key: [id]
fields: [{name: id, type: integer}, {name: segment, type: string}]
conformed_dimensions:
${conformed}
`;
const files = {
  people: people(`
  - name: party
    description: Segment of who bought or complained.
    synonyms: [party kind]
    fields: [orders.bought_by.segment, tickets.people.segment]
  - {name: happened, fields: [orders.placed, tickets.opened]}
`),
  orders: `
dataset: orders
source: orders
primary_key: [id]
fields: [{name: id, type: integer}, {name: placed, type: date}, {name: amount, type: integer}]
metrics: [{name: revenue, agg: sum, of: amount}]
relationships:
  - {to: people, on: {buyer: id}, role: bought_by}
  - {to: people, on: {payer: id}, role: paid_by}
`,
  tickets: `
dataset: tickets
source: tickets
primary_key: [id]
fields: [{name: id, type: integer}, {name: opened, type: date}]
metrics: [{name: ticket_count, agg: count}]
relationships: [{to: people, on: {person: id}}]
`,
};
const both = ['orders.revenue', 'tickets.ticket_count'];

const cases: Readonly<Record<string, EngineCase>> = {
  'each fact by its own role, nobody in a group of its own': {
    query: { metrics: both, dimensions: ['people.party'] },
    rows: [
      ['firm', 50, 2],
      ['home', 10, 1],
      [null, 40, 0],
    ],
  },
  'a time with a grain, a condition on the rows of each, and an order': {
    query: {
      metrics: both,
      dimensions: ['people.happened.month'],
      where: ["people.party = 'firm'"],
      order_by: [{ field: 'people.happened.month', dir: 'desc' }],
    },
    rows: [
      ['2024-02-01', 30, 1],
      ['2024-01-01', 20, 1],
    ],
  },
  'a share for each, under the synonym': {
    query: { metrics: ['tickets.ticket_count'], dimensions: ['party kind'], share_of: 'total' },
    rows: [
      ['firm', 2, 0.666667],
      ['home', 1, 0.333333],
    ],
  },
};

testRowsOnEngines('conformed dimensions', { script, files, cases });

describe('a conformed dimension', () => {
  test('is among what metrics can be grouped by, and finds the metrics that have it', async () => {
    const { model } = await load(files);
    const plans = {
      tried: (query: Parameters<typeof createPlan>[1]) => createPlanToTry(model, query),
      explained: (query: Parameters<typeof createPlan>[1]) => createPlan(model, query),
    };
    const { groupings } = findGroupings(model, both, { plans });
    expect(groupings.filter(({ dimension }) => dimension.startsWith('people.'))).toEqual([
      {
        dimension: 'people.party',
        type: 'string',
        description: 'Segment of who bought or complained.',
        isToMany: false,
      },
      { dimension: 'people.happened', type: 'date', description: undefined, isToMany: false },
    ]);
    expect(findMetricsBy(model, ['people.party'], plans)).toEqual(both);
  });

  test('that says nothing of a fact is an error that names its file', async () => {
    const more = { ...files, visits: files.tickets.replaceAll('ticket', 'visit') };
    const { model } = await load(more);
    expect(() =>
      compile(model, { metrics: ['visits.visit_count'], dimensions: ['people.party'] }),
    ).toThrow(
      expect.objectContaining({
        code: 'no_path',
        hint: expect.stringContaining(
          'conformed_dimensions in semantic-layer/warehouse/people.yaml',
        ),
      }),
    );
  });

  test('whose field begins with a wrong dataset is told the nearest one', async () => {
    const misspelt = people('  - {name: x, fields: [order.placed, tickets.opened]}');
    const { diagnostics } = await load({ ...files, people: misspelt });
    expect(diagnostics).toContainEqual(expect.objectContaining({ hint: 'Did you mean orders?' }));
    const strange = people('  - {name: x, fields: [qqqqqqqq.placed, tickets.opened]}');
    const { diagnostics: others } = await load({ ...files, people: strange });
    expect(others.map(({ hint }) => hint)).toContain(
      'Write dataset.field, or the path from a dataset.',
    );
  });

  test('with a wrong letter is found', async () => {
    const { model } = await load(files);
    expect(() =>
      compile(model, { metrics: ['tickets.ticket_count'], dimensions: ['people.partty'] }),
    ).toThrow(expect.objectContaining({ hint: expect.stringContaining('people.party') }));
  });

  test('of itself is an error of its file, also where a condition uses it', async () => {
    const { diagnostics, model } = await load({
      ...files,
      people: `${people('  - {name: x, fields: [people.x, orders.placed]}')}metrics:
  - {name: buyers, agg: count, where: "metric_by(orders.revenue, people.x) > 1"}
`,
    });
    expect(diagnostics).toContainEqual(expect.objectContaining({ rule: 'conformed' }));
    expect(model.excluded).toContain('people');
    const { model: whole } = await load(files);
    const dimensions = ['people.party = tickets.opened'];
    expect(() => compile(whole, { metrics: both, dimensions })).toThrow();
  });

  test.for([
    ['- {name: x, fields: [orders.nobody.segment, tickets.people.segment]}', 'unknown_name'],
    ['- {name: x, fields: [order.placed, tickets.opened]}', 'unknown_name'],
    ['- {name: x, fields: [orders.placed, tickets.people.segment]}', 'type'],
    ['- {name: x, fields: [orders.placed, orders.amount]}', 'duplicate'],
    ['- {name: id, fields: [orders.placed, tickets.opened]}', 'duplicate'],
    ['- {name: orders_as_paid_by, fields: [orders.placed, tickets.opened]}', 'duplicate'],
    [
      '- {name: x, fields: [orders.placed, tickets.opened]}\n  - {name: y, fields: [people.x, tickets.opened]}',
      'conformed',
    ],
  ])('%s is the error %s of the file', async ([conformed = '', rule]) => {
    const { diagnostics } = await load({ ...files, people: people(`  ${conformed}`) });
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        file: expect.stringContaining('people.yaml'),
        rule,
        severity: 'error',
      }),
    );
  });
});
