import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Warehouse } from '../../../src/warehouse/warehouse.ts';
import { startTrino, type TrinoServer } from '../../engines/trino/server.ts';
import { openTrino } from '../../support/trino.ts';
import { limits, never, roleNames, wordsOf } from './callers.ts';

const script = `CREATE TABLE orders (word VARCHAR, region VARCHAR);
  INSERT INTO orders VALUES ${roleNames.map((role) => `('canary-${role}', '${role}')`).join(', ')};`;
const roles = Object.fromEntries(roleNames.map((role) => [role, `r_${role}`]));
const sql = 'SELECT word FROM orders';

let server: TrinoServer;
beforeAll(async () => {
  server = await startTrino({
    script,
    // The table has the rows of the role, or of the user, and none for the login itself.
    secure: (text, headers) => {
      const role = /^system=ROLE\{r_(\w+)\}$/.exec(
        decodeURIComponent(String(headers['x-trino-role'] ?? '')),
      )?.[1];
      const user = /^ann-(\w+)$/.exec(String(headers['x-trino-user']))?.[1];
      const rows = `(SELECT * FROM orders WHERE region = '${role ?? user ?? 'nobody'}') AS orders`;
      return text.replace(/FROM orders\b/, `FROM ${rows}`);
    },
  });
});
afterAll(() => server.close());

async function askAtOnce(warehouse: Warehouse, kind: 'role' | 'person'): Promise<void> {
  const answers = Array.from({ length: 60 }, async (_, index) => {
    const name = roleNames[index % roleNames.length] ?? '';
    const caller =
      kind === 'role' ? { role: name, person: undefined } : { role: '', person: `ann-${name}` };
    expect(await wordsOf(warehouse.as(caller), sql)).toEqual([`canary-${name}`]);
  });
  await Promise.all(answers);
}

describe('a caller of Trino', () => {
  it('has its role in every request of a statement, its plan and its transaction', async () => {
    const warehouse = await openTrino(server, { identity: { mode: 'role', roles } });
    await askAtOnce(warehouse, 'role');
    const from = server.requests.length;
    await wordsOf(warehouse.as({ role: 'uk', person: undefined }), sql);
    const sent = server.requests.slice(from).map(({ headers }) => headers['x-trino-role']);
    expect(new Set(sent)).toEqual(new Set(['system=ROLE%7Br_uk%7D']));
    expect(sent.length).toBeGreaterThan(3);
    expect(await wordsOf(warehouse, sql)).toEqual([]);
    await warehouse.close();
  });

  it('is the user of every request', async () => {
    const warehouse = await openTrino(server, { identity: { mode: 'session' } });
    await askAtOnce(warehouse, 'person');
    const from = server.requests.length;
    await wordsOf(warehouse.as({ role: undefined, person: 'ann-uk' }), sql);
    const sent = server.requests.slice(from).map(({ headers }) => headers['x-trino-user']);
    expect(new Set(sent)).toEqual(new Set(['ann-uk']));
    await warehouse.close();
  });

  it('is refused without an identity that can be sent', async () => {
    const byRole = await openTrino(server, { identity: { mode: 'role', roles } });
    const byUser = await openTrino(server, { identity: { mode: 'session' } });
    const asked = [
      byRole.as({ role: 'other', person: 'ann' }),
      byUser.as({ role: 'dach', person: undefined }),
      byUser.as({ role: 'dach', person: 'zoë' }),
      byUser.as({ role: 'dach', person: 'ann us' }),
    ];
    const from = server.requests.length;
    for (const warehouse of asked)
      await expect(warehouse.query(sql, limits, never)).rejects.toMatchObject({
        code: 'identity_unknown',
      });
    expect(server.requests.slice(from).filter((request) => request.sql.includes(sql))).toEqual([]);
    await byRole.close();
    await byUser.close();
  });

  it.each(['SET ROLE ALL', 'SET SESSION AUTHORIZATION ann', 'RESET SESSION AUTHORIZATION'])(
    'cannot change who it is: %s',
    async (text) => {
      const warehouse = await openTrino(server, { identity: { mode: 'role', roles } });
      await expect(
        warehouse.as({ role: 'uk', person: undefined }).query(text, limits, never),
      ).rejects.toMatchObject({ code: /^(gate_|sql_)/ });
      await warehouse.close();
    },
  );
});
