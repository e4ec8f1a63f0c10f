import { expect, test } from 'vitest';
import { userObjectsReader } from '../../src/warehouse/drivers/postgres/read-user-objects.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { generous, makeDatabase, never } from '../support/warehouses.ts';

/** Counts how often the objects are read while the server sees these states, in order. */
async function readsOf(states: readonly (string | null | Error)[]): Promise<number> {
  let reads = 0;
  const waiting = [...states];
  const read = userObjectsReader((work) =>
    work(async (sql) => {
      if (sql.includes('txid_current_snapshot')) {
        const state = waiting.shift();
        if (state instanceof Error) throw state;
        return [{ visible: state }];
      }
      reads += 1;
      return [{ operators: [] }];
    }),
  );
  for (const _ of states) await read();
  return reads;
}

test('user objects are read again when something was committed, and each time on a standby', async () => {
  expect(await readsOf(['1:1:', '1:1:', '1:1:'])).toBe(1);
  expect(await readsOf(['1:1:', '1:2:', '1:2:', '1:3:'])).toBe(3);
  expect(await readsOf([null, null, '1:3:', null])).toBe(4);
});

test('a server that cannot say what is visible is asked for the objects each time', async () => {
  expect(await readsOf([new Error('no such function'), new Error('no such function')])).toBe(2);
});

test('what the server names as visible changes with every commit that makes an object', async () => {
  const url = await createDatabase('visible');
  const seen: unknown[] = [];
  const read = userObjectsReader((work) =>
    work(async (sql) => {
      const rows = await runPostgres(url, sql);
      if (sql.includes('txid_current_snapshot')) seen.push(rows[0]?.['visible']);
      return rows;
    }),
  );
  const operators = [(await read()).operators];
  await runPostgres(
    url,
    'CREATE OPERATOR ##### (LEFTARG = int, RIGHTARG = int, FUNCTION = int4pl)',
  );
  operators.push((await read()).operators);
  expect(operators).toEqual([[], ['#####']]);
  expect(seen[0]).toEqual(expect.any(String));
  expect(seen[1]).not.toBe(seen[0]);
});

test('a function that appears between two statements is refused in the second', async () => {
  const database = await makeDatabase('postgres', 'CREATE TABLE t (a int)');
  const warehouse = await database.open();
  const sql = 'SELECT lower(a::varchar) FROM t';
  expect((await warehouse.query(sql, generous, never)).rows).toEqual([]);
  const body = "LANGUAGE plpgsql AS $$ BEGIN DELETE FROM t; RETURN 'x'; END $$";
  await runPostgres(database.secret, `CREATE FUNCTION lower(varchar) RETURNS text ${body}`);
  await expect(warehouse.query(sql, generous, never)).rejects.toThrow(/lower/);
  await warehouse.close();
  await database.remove();
});
