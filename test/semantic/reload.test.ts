import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { loadModel } from '../../src/semantic/load/load.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { compile, shop } from './shop.ts';

beforeAll(loadAnalyzer);

/** What an edit may make of a file; undefined is a file that is gone. */
const variants: Readonly<Record<string, readonly (string | undefined)[]>> = {
  orders: [
    shop['orders'],
    shop['orders']?.replace('role: recipient', 'role: receiver'),
    shop['orders']?.replace('{name: status, type: string}', '{name: state, type: string}'),
    shop['orders']?.replace('orders.buyer.segment', 'orders.buyer.sector'),
  ],
  customers: [
    shop['customers'],
    undefined,
    'dataset: customers\nsource: [',
    shop['customers']?.replace(
      '{to: regions, on: {region_id: id}}',
      '{to: regions, on: {region_id: id}, role: home}',
    ),
    shop['customers']?.replace('primary_key: [id]', 'primary_key: [nothing]'),
  ],
  regions: [shop['regions'], undefined, shop['regions']?.replace('name: name', 'name: title')],
  tickets: [shop['tickets'], undefined, shop['tickets']?.replace('priority', 'urgency')],
  tags: [shop['tags'], undefined],
  order_tags: [
    shop['order_tags'],
    undefined,
    shop['order_tags']?.replace('{to: tags, on: {tag_id: id}}', ''),
  ],
  twin: [undefined, shop['regions']],
  profiles: [shop['profiles'], shop['profiles']?.replace('one_to_one', 'many_to_one')],
};
const questions = [
  { metrics: ['orders.revenue', 'tickets.ticket_count'], dimensions: ['customers.segment'] },
  { metrics: ['orders.enterprise_revenue'], dimensions: ['orders.buyer.regions.name'] },
  { metrics: ['customers.urgent_count'], dimensions: ['regions.name'] },
  { metrics: ['orders.order_count'], dimensions: ['tags.label'] },
  {
    metrics: ['customers.customer_count'],
    dimensions: ['profiles.score'],
    where: ["orders.status = 'paid'"],
  },
];
const tables = ['orders', 'customers', 'regions', 'tags'].map((table) => ({
  schema: 'main',
  table,
  columns: [{ name: 'id' }],
}));

async function seen(
  folder: string,
  files: readonly { name: string; text: string }[],
  known: typeof tables | undefined,
) {
  const listed = files.map(({ name, text }) => ({ path: `${folder}/${name}.yaml`, text }));
  const { model, diagnostics } = await loadModel({ dialect: duckdb, files: listed, tables: known });
  const answers = questions.map((query) => answerTo(model, query));
  return JSON.stringify({ diagnostics, answers, excluded: [...model.excluded] }).replaceAll(
    `${folder}/`,
    '',
  );
}

function answerTo(model: SemanticModel, query: (typeof questions)[number]): string {
  try {
    return compile(model, query).sql;
  } catch (error) {
    if (error instanceof UserError) return `${error.code}: ${error.message} ${error.hint}`;
    throw error;
  }
}

const stateArbitrary = fc.record(
  Object.fromEntries(
    Object.entries(variants).map(([name, texts]) => [name, fc.constantFrom(...texts)]),
  ),
);

test('after any edits the model is the one that the files alone give', async () => {
  let fresh = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(stateArbitrary, fc.boolean(), fc.constantFrom(...Object.keys(variants))), {
        minLength: 2,
        maxLength: 6,
      }),
      async (states) => {
        let files = new Map<string, string | undefined>();
        for (const [index, [state, hasCatalog, edited]] of states.entries()) {
          // The first state is all new; each later one is an edit of one file.
          files =
            index === 0
              ? new Map(Object.entries({ ...shop, ...state }))
              : new Map(files).set(edited, state[edited]);
          const listed = [...files].flatMap(([name, text]) =>
            text === undefined ? [] : [{ name, text }],
          );
          fresh += 1;
          const known = hasCatalog ? tables : undefined;
          expect(await seen('edited', listed, known)).toBe(
            await seen(`fresh${fresh}`, listed, known),
          );
        }
      },
    ),
    { numRuns: 25 },
  );
});

test('what an edit does not touch is the same object', async () => {
  const load = (files: Readonly<Record<string, string>>) =>
    loadModel({
      dialect: duckdb,
      files: Object.entries(files).map(([name, text]) => ({ path: `same/${name}.yaml`, text })),
    });
  const { model: before } = await load(shop);
  const { model: after } = await load({
    ...shop,
    tickets: (shop['tickets'] ?? '').replace('priority', 'urgency'),
  });
  const changed = [...after.datasets]
    .filter(([name, dataset]) => before.datasets.get(name) !== dataset)
    .map(([name]) => name);
  // The dataset that the tickets point at has another hop down.
  expect(changed).toEqual(['customers', 'tickets']);
});
