import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approve } from '../support/approve.ts';
import { roleNames, rolesOfMariadb, rolesOfPostgres } from '../warehouse/identity/callers.ts';

const orders = `dataset: orders
source: orders
primary_key: [word]
fields:
  - {name: word, type: string}
  - {name: region, type: string}
  - {name: owner, type: string}
metrics:
  - {name: order_count, agg: count}
`;

/** Joins the rows to themselves, by a key that nothing declares. */
const visits = `dataset: visits
source: orders
fields:
  - {name: word, type: string}
metrics:
  - {name: visit_count, agg: count}
relationships:
  - {to: orders, on: {word: word}}
`;

interface IdentityShop {
  readonly dir: string;
  readonly owner: string;
}

/** A project on Postgres whose rows only the warehouse hides: ktx has no rule for them. */
export async function makePostgresShop(
  mode: 'role' | 'session',
  serve: object = {},
): Promise<IdentityShop> {
  const { owner, url, roles } = await rolesOfPostgres();
  const identity = mode === 'role' ? { mode, roles } : { mode, setting: 'ktx.user' };
  const connection = { driver: 'postgres', url: 'env:SHOP_URL', identity };
  return {
    dir: await makeProject(connection, url, { datasets: { orders, visits }, serve }),
    owner,
  };
}

/** A project on MariaDB with a dataset for each role, on a view that no other role may read. */
export async function makeMariadbShop(): Promise<IdentityShop> {
  const { owner, url, roles } = await rolesOfMariadb();
  const identity = { mode: 'role', roles };
  const connection = { driver: 'mysql', url: 'env:SHOP_URL', ssl: 'off', identity };
  const datasets = Object.fromEntries(
    roleNames.map((role) => {
      const name = `orders_${role}`;
      return [name, orders.replaceAll('orders\n', `${name}\n`)];
    }),
  );
  return { dir: await makeProject(connection, url, { datasets }), owner };
}

interface ProjectParts {
  readonly datasets: Readonly<Record<string, string>>;
  readonly serve?: object;
}

async function makeProject(
  connection: object,
  url: string,
  { datasets, serve = {} }: ProjectParts,
): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-identity-'));
  writeFileSync(join(dir, '.env'), `SHOP_URL=${url}\n`);
  writeFileSync(
    join(dir, 'ktx.yaml'),
    JSON.stringify({ connections: { shop: connection }, query: { run_sql: 'on' }, serve }),
  );
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  for (const [name, text] of Object.entries(datasets))
    writeFileSync(join(dir, `semantic-layer/shop/${name}.yaml`), text);
  await approve(dir);
  return dir;
}
