import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WarehouseConfig } from '../../../src/warehouse/config.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import type { Warehouse } from '../../../src/warehouse/warehouse.ts';
import { createMariadb, runMariadb } from '../../support/mariadb.ts';
import { createDatabase, runPostgres } from '../../support/postgres.ts';

export const roleNames = ['dach', 'us', 'uk', 'fr', 'jp', 'br'] as const;

const rows = roleNames.flatMap((role) =>
  Array.from({ length: 20 }, (_, id) => `('canary-${role}-${id}', '${role}', 'ann-${role}')`),
);
const table = `
  CREATE TABLE orders (word VARCHAR(40), region VARCHAR(10), owner VARCHAR(40));
  INSERT INTO orders VALUES ${rows.join(', ')};`;

/** Names of roles are those of the whole server: each test has its own. */
const unique = () => Math.random().toString(36).slice(2, 8);

/**
 * Postgres with the rows of six roles behind row security: by the role of the database
 * (`current_user`), and by the person in `ktx.user`.
 */
export async function rolesOfPostgres() {
  const url = await createDatabase('identity');
  const [login, prefix] = [`login_${unique()}`, `r${unique()}`];
  const named = Object.fromEntries(roleNames.map((role) => [role, `${prefix}_${role}`]));
  const roles = Object.values(named);
  await runPostgres(
    url,
    `${table}
     ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
     CREATE ROLE ${login} LOGIN PASSWORD 'p' NOINHERIT;
     GRANT SELECT ON orders TO ${login};
     ${roles.map((role) => `CREATE ROLE ${role}; GRANT SELECT ON orders TO ${role}; GRANT ${role} TO ${login};`).join('\n')}
     CREATE POLICY by_role ON orders TO ${roles.join(', ')} USING ('${prefix}_' || region = current_user);
     CREATE POLICY by_person ON orders TO ${login} USING (owner = current_setting('ktx.user', true));`,
  );
  const reader = new URL(url);
  [reader.username, reader.password] = [login, 'p'];
  return { owner: url, url: reader.href, login, roles: named };
}

/** MariaDB with a view for each of six roles, which no other role may read. */
export async function rolesOfMariadb() {
  const prefix = `r${unique()}`;
  const url = await createMariadb(table);
  const database = new URL(url).pathname.slice(1);
  const login = `login_${prefix}`;
  const named = Object.fromEntries(roleNames.map((role) => [role, `${prefix}_${role}`]));
  await runMariadb(
    url,
    `CREATE USER ${login} IDENTIFIED BY 'p';
     CREATE ROLE ${prefix}_scan; GRANT SELECT ON ${database}.* TO ${prefix}_scan;
     GRANT ${prefix}_scan TO ${login}; SET DEFAULT ROLE ${prefix}_scan FOR ${login};
     ${roleNames
       .map(
         (role) => `CREATE VIEW orders_${role} AS SELECT * FROM orders WHERE region = '${role}';
       CREATE ROLE ${named[role]}; GRANT SELECT ON ${database}.orders_${role} TO ${named[role]};
       GRANT ${named[role]} TO ${login};`,
       )
       .join('\n')}
     CREATE SQL SECURITY INVOKER VIEW mine AS SELECT current_role() AS who;
     ${roleNames.map((role) => `GRANT SELECT ON ${database}.mine TO ${named[role]};`).join('\n')}`,
  );
  const reader = new URL(url);
  [reader.username, reader.password] = [login, 'p'];
  return { owner: url, url: reader.href, login, roles: named, database };
}

/** Opens a connection; `close` also removes its folder. */
export async function openWith(
  config: object,
  secret: string,
): Promise<{ readonly warehouse: Warehouse; readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'ktx-identity-'));
  const warehouse = await openWarehouse(
    {
      connection: 'shop',
      projectDir: folder,
      cacheDir: join(folder, 'cache'),
      secrets: () => secret,
      config: config as WarehouseConfig,
    },
    new AbortController().signal,
  );
  const close = async (): Promise<void> => {
    await warehouse.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { warehouse, close };
}

export const limits = { maxRows: 1000, timeoutMs: 20_000 };
export const never = new AbortController().signal;

export async function wordsOf(warehouse: Warehouse, sql: string): Promise<string[]> {
  const { rows: found } = await warehouse.query(sql, limits, never);
  return found.map(([word]) => String(word));
}
