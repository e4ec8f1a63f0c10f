import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { limits, never, openWith, roleNames, wordsOf } from './callers.ts';

const roles = Object.fromEntries(roleNames.map((role) => [role, `r_${role}`]));
const lines = (...rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** What `EXPLAIN AST` says of `SELECT 'x' AS word`. */
const tree = [
  'SelectWithUnionQuery (children 1)',
  ' ExpressionList (children 1)',
  '  SelectQuery (children 1)',
  '   ExpressionList (children 1)',
  '    Literal',
].map((line) => [line]);

/** The HTTP interface of ClickHouse, as far as a connection asks it; a table of canaries. */
async function startServer(grants: readonly string[]) {
  const seen: { role: string | null; sql: string }[] = [];
  const answer = (sql: string, role: string | null): string => {
    if (sql.includes("getSetting('readonly')"))
      return lines(['r', 'm', 'b'], ['UInt32', 'Float64', 'Float64'], [2, 0, 0]);
    if (sql.startsWith('SHOW GRANTS'))
      return lines(['GRANTS'], ['String'], ...grants.map((grant) => [grant]));
    if (sql.includes('system.functions'))
      return lines(['name', 'origin', 'is_aggregate'], ['String', 'String', 'UInt8']);
    if (sql.startsWith('EXPLAIN')) return lines(['explain'], ['String'], ...tree);
    if (sql.includes('system.tables'))
      return lines(['database', 'name'], ['String', 'String'], ['shop', 'orders']);
    const word = role?.replace('r_', 'canary-');
    return lines(['word'], ['String'], ...(word === undefined ? [] : [[word]]));
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += String(piece)));
    request.on('end', () => {
      const role = new URL(request.url ?? '', 'http://x').searchParams.get('role');
      seen.push({ role, sql: body });
      response.end(answer(body, role));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { seen, url: `http://reader@127.0.0.1:${port}/shop`, close: () => server.close() };
}

const config = { driver: 'clickhouse', url: 'env:URL', identity: { mode: 'role', roles } };

it('a caller of ClickHouse has its role in every statement of its own', async () => {
  const server = await startServer(['GRANT r_dach, r_us TO reader']);
  const { warehouse, close } = await openWith(config, server.url);
  const answers = Array.from({ length: 60 }, async (_, index) => {
    const role = roleNames[index % roleNames.length] ?? '';
    const view = warehouse.as({ role, person: undefined });
    expect(await wordsOf(view, `SELECT '${role}' AS word`)).toEqual([`canary-${role}`]);
  });
  await Promise.all(answers);
  await expect(
    warehouse.as({ role: 'other', person: 'ann' }).query('SELECT 1', limits, never),
  ).rejects.toMatchObject({ code: 'identity_unknown' });
  const own = server.seen.filter(({ sql }) => /^(?:\/\*.*\*\/\s*)?SELECT '/.test(sql));
  expect(own.length).toBeGreaterThan(0);
  expect(own.every(({ role, sql }) => role !== null && sql.includes(role.slice(2)))).toBe(true);
  await close();
  server.close();
});

it('a login of ClickHouse with rights of its own serves no callers by role', async () => {
  const server = await startServer(['GRANT SELECT ON shop.* TO reader']);
  await expect(openWith(config, server.url)).rejects.toMatchObject({ code: 'warehouse_privilege' });
  server.close();
});
