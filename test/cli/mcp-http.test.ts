import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { connect, endless, makeRegions } from '../mcp/http-shop.ts';
import { ktx, ktxJson } from './run-cli.ts';

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;

async function regions(): Promise<string> {
  const dir = await makeRegions();
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** `ktx mcp serve --http` as a process of its own, on a free port. */
async function serve(cwd: string, ...flags: string[]) {
  const child = spawn(
    process.execPath,
    [main, 'mcp', 'serve', '--http', '--port', '0', '--json', ...flags],
    { cwd, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exit = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { started: JSON.parse(line), child, exit };
}

test('a token is shown once, listed without its secret, and revoked', async () => {
  const cwd = await regions();
  const made = await ktx(['mcp', 'token', 'create', 'ann', '--role', 'dach'], { cwd });
  expect(made.stdout).toMatch(/^ktx_[0-9a-f]{12}_[0-9a-f]{64}\n$/);
  expect(made.stderr).toMatch(
    /^Token of ann: role dach, read, query, valid until \d{4}-\d\d-\d\d\.\n/,
  );
  const list = await ktx(['mcp', 'token', 'list'], { cwd });
  expect(list.stdout).toContain('ann');
  expect(list.stdout + list.stderr).not.toContain(made.stdout.trim().slice(-64));
  const { envelope } = await ktxJson(['mcp', 'token', 'list'], { cwd });
  expect(envelope.data).toMatchObject({
    tokens: [{ name: 'ann', role: 'dach', scopes: ['read', 'query'], state: 'valid' }],
  });
  const revoked = await ktx(['mcp', 'token', 'revoke', 'ann'], { cwd });
  expect(revoked.stdout).toMatch(/^revoked: ann \([0-9a-f]{12}\)\n$/);
  const again = await ktxJson(['mcp', 'token', 'revoke', 'ann'], { cwd });
  expect(again.envelope.error).toMatchObject({ code: 'token_unknown' });
});

test('a role that no rule names gets no token', async () => {
  const cwd = await regions();
  const { envelope } = await ktxJson(['mcp', 'token', 'create', 'ann', '--role', 'dahc'], { cwd });
  expect(envelope.error).toMatchObject({ code: 'role_unknown', hint: 'did you mean dach?' });
});

test('flags of the server over HTTP are refused over stdio, and other addresses without login', async () => {
  const cwd = await regions();
  const stdio = await ktxJson(['mcp', 'serve', '--port', '80'], { cwd });
  expect(stdio.envelope.error).toMatchObject({
    message: '--port is for the server over HTTP.',
    hint: 'Add --http, or leave it out.',
  });
  const open = await ktxJson(['mcp', 'serve', '--http', '--host', '0.0.0.0'], { cwd });
  expect(open.code).toBe(4);
  expect(open.envelope.error).toMatchObject({ code: 'login_required' });
  await ktx(['mcp', 'token', 'create', 'ann'], { cwd });
  const nameless = await ktxJson(['mcp', 'serve', '--http', '--host', '0.0.0.0'], { cwd });
  expect(nameless.envelope.error).toMatchObject({ code: 'host_name_required' });
});

test('a server says where it is, finishes a call when it is terminated, and ends', async () => {
  const cwd = await regions();
  const { started, child, exit } = await serve(cwd);
  expect(started).toMatchObject({ type: 'listening', login: false });
  await using session = await connect(started.url);
  const slow =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) AS steps FROM n';
  const { promise: runs, resolve: onprogress } = Promise.withResolvers<void>();
  const call = session.call('run_sql', { sql: slow }, { onprogress });
  await Promise.race([runs, call]);
  child.kill('SIGTERM');
  expect((await call).text).toContain('3000000');
  expect(await exit).toEqual([0, null]);
});

test('a server ends a call that runs longer than the grace', async () => {
  const cwd = await regions();
  const { started, child, exit } = await serve(cwd, '--grace', '1');
  await using session = await connect(started.url);
  const { promise: runs, resolve: onprogress } = Promise.withResolvers<void>();
  const call = session.call('run_sql', { sql: endless }, { onprogress });
  await runs;
  child.kill('SIGTERM');
  expect((await call).text).toContain('Error cancelled');
  expect(await exit).toEqual([0, null]);
});
