import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ktx } from '../cli/run-cli.ts';
import { clientId, clientSecret, startLooker } from '../recorded/looker/server.ts';
import { apiKey, startMetabase } from '../recorded/metabase/server.ts';
import { read, write } from '../store/git-project.ts';
import { reading } from '../support/reading-model.ts';
import {
  backendsOfRun,
  documentedShop,
  ingestCommand,
  type ModelMachine,
  openMachine,
} from './llm-project.ts';

let machine: ModelMachine;
let metabase: Awaited<ReturnType<typeof startMetabase>>;
let looker: Awaited<ReturnType<typeof startLooker>>;
const env = { METABASE_KEY: apiKey, LOOKER_ID: clientId, LOOKER_SECRET: clientSecret };

beforeAll(async () => {
  Object.assign(process.env, env);
  machine = await openMachine();
  metabase = await startMetabase();
  looker = await startLooker();
  const { cards } = metabase.world;
  const native = cards.get(4);
  const query = '-- A loyal buyer means one with three orders.\nSELECT count(*) FROM orders';
  if (native)
    cards.set(4, { ...native, dataset_query: { database: 3, type: 'native', native: { query } } });
});
afterAll(async () => {
  await machine.close();
  await metabase.close();
  await looker.close();
});

/** The shop with the three BI tools; the LookML is in a folder. */
function shopWithTools(backend: string): string {
  const dir = documentedShop(machine, backend, { 'a.md': '# Nothing\n' });
  const yaml = read(dir, 'ktx.yaml').replace(
    '  handbook: {driver: docs, path: docs}\n',
    '  models: {driver: lookml, path: lookml}\n' +
      `  bi: {driver: metabase, base_url: "${metabase.url}", api_key: env:METABASE_KEY, databases: {"3": shop}}\n` +
      `  lk: {driver: looker, base_url: "${looker.url}", client_id: env:LOOKER_ID, client_secret: env:LOOKER_SECRET, warehouse: shop, lookml: models}\n`,
  );
  write(dir, 'ktx.yaml', yaml);
  write(
    dir,
    'lookml/orders.view.lkml',
    'view: orders { sql_table_name: main.orders ;;\n  measure: order_total { type: sum sql: ${TABLE}.amount ;; }\n}\nexplore: orders {}\n',
  );
  write(
    dir,
    'lookml/board.dashboard.lookml',
    '- dashboard: board\n  elements:\n  - type: text\n    body_text: A late order means one that ships after two days.\n',
  );
  return dir;
}

describe('Metabase, Looker and LookML together', () => {
  test('lead from a number to the object, and to its address where it has one, without a model', async () => {
    const dir = shopWithTools('none');
    const { code, data } = await ingestCommand(machine, dir);
    expect(code, JSON.stringify(data)).toBe(0);
    const explain = async (subject: string) =>
      (await ktx(['explain', subject], { cwd: dir, env })).stdout;
    expect(await explain('metric:shop.orders.paid_revenue')).toContain(
      `${metabase.url}/question/1`,
    );
    expect(await explain('metric:shop.orders.order_total')).toContain(
      'sources/models/orders.view.lkml line 2',
    );
    const look = await explain('term:paid_by_month_looker_look_1');
    expect(look).toContain(`${looker.url}/looks/1`);
  });

  test.each(backendsOfRun)(
    'are read by a model behind %s, and a sentence leads to its object',
    async (backend) => {
      const dir = shopWithTools(backend);
      machine.endpoint.fallback = reading;
      const { code, data } = await ingestCommand(machine, dir);
      expect(code, JSON.stringify(data)).toBe(0);
      const explain = async (sentence: string) =>
        (await ktx(['explain', sentence], { cwd: dir, env })).stdout;
      expect(await explain('one with three orders')).toContain(`${metabase.url}/question/4`);
      expect(await explain('one that ships after two days')).toContain(
        'sources/models/board.dashboard.lookml',
      );
    },
  );
});
