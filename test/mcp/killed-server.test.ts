import { onTestFinished, expect, it } from 'vitest';
import { listAuditedCalls } from '../../src/mcp/audit/list-audit.ts';
import { verifyAudit } from '../../src/mcp/audit/verify-audit.ts';
import { openServeState } from '../../src/mcp/shared/serve-state.ts';
import { openProject } from '../../src/project/open/open.ts';
import { runPostgres } from '../support/postgres.ts';
import { connect } from './http-shop.ts';
import { startServer } from './http-process.ts';
import { makePostgresShop } from './identity-shop.ts';

const tables = Array.from({ length: 8 }, (_, index) => `orders t${index}`).join(', ');

it('a server that is killed leaves no statement in the warehouse, and the line of its call', async () => {
  const { dir, owner } = await makePostgresShop('role');
  const project = await openProject(dir);
  const state = await openServeState(project, process.env);
  const { text } = await state.tokens.create({ name: 'ann', role: 'us', scopes: ['query'] });
  await state[Symbol.asyncDispose]();
  await project.close();
  const server = await startServer(dir);
  onTestFinished(() => server.kill());
  await using session = await connect(server.url, text);
  const call = session.call('run_sql', { sql: `SELECT count(*) AS n FROM ${tables}` });
  const gone = expect(call).rejects.toThrow();
  const running = async () => {
    const sql =
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%t7%' AND pid <> pg_backend_pid()";
    return (await runPostgres(owner, `${sql} AND state = 'active'`)).length;
  };
  await expect.poll(running).toBe(1);
  await server.kill();
  await gone;
  await expect.poll(running, { timeout: 30_000 }).toBe(0);
  const calls = await listAuditedCalls(dir, { limit: 10 });
  expect(calls).toMatchObject([
    { person: 'ann', role: 'us', tool: 'run_sql', outcome: 'no answer' },
  ]);
  expect((await verifyAudit(dir, { env: process.env })).state).toBe('whole');
});
