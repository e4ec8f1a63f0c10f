import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/postgres-server.ts';
import { sendTo } from '../web/page.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/server.md'), 'utf8');
/** The name that the guide gives the server, and its URL. */
const [publicName, resource] = ['ktx.example.com', 'https://ktx.example.com/mcp'];
const revenue = { metrics: ['orders.count'] };

let folder: string;
let cwd: string;
let env: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ktx-guide-'));
  mkdirSync(join(folder, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"\n`;
  writeFileSync(join(folder, 'bin/ktx'), program, { mode: 0o755 });
  env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder };
  execFileSync('sh', ['-c', 'ktx demo'], { cwd: folder, env, stdio: 'pipe' });
  cwd = join(folder, 'ktx-demo');
});
afterAll(() => execFileSync('rm', ['-rf', folder]));

/** The commands of ktx in the block of the guide that has this one, without their comments. */
function commandsWith(line: string): readonly string[] {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
  const block = blocks.find((text) => text.split('\n').some((own) => own.startsWith(line)));
  expect(block, `a block with ${line}`).toBeDefined();
  const lines = (block ?? '').split('\n').map((own) => own.replace(/\s+#.*$/, ''));
  return lines.filter((own) => own.startsWith('ktx '));
}

const run = (line: string): string => execFileSync('sh', ['-c', line], { cwd, env }).toString();

/** Starts what the guide says, on a port of this test. Returns where it is. */
async function serve(line: string, variables: Record<string, string> = {}): Promise<string> {
  const port = await freePort();
  const child = spawn('sh', ['-c', `exec ${line} --port ${port} --json`], {
    cwd,
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  await once(createInterface(child.stdout), 'line');
  return `http://127.0.0.1:${port}/mcp`;
}

async function ask(url: string, token?: string, host = publicName) {
  const { status, text, headers } = await sendTo(url, {
    method: 'POST',
    headers: {
      host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'query_metrics', arguments: revenue },
    },
  });
  return { status, text, challenge: String(headers['www-authenticate']) };
}

const serveLine = 'ktx mcp serve --http --host 0.0.0.0';

test('with tokens: the commands of the guide, as they stand, in the project of the demo', async () => {
  const [alone = ''] = commandsWith('claude mcp add --transport http ktx http://127.0.0.1');
  const own = await ask(await serve(alone), undefined, '127.0.0.1');
  expect([own.status, own.text]).toEqual([200, expect.stringContaining('"isError":false')]);

  const lines = commandsWith('ktx mcp token create ann');
  expect(lines.at(-1)).toMatch(serveLine);
  const printed = lines.slice(0, -1).map(run);
  const [ann = '', ci = '', listed = ''] = printed.map((text) => text.trim());
  for (const name of ['ann', 'ci']) expect(listed).toContain(name);
  const url = await serve(lines.at(-1) ?? '');
  expect((await ask(url)).status).toBe(401);
  expect((await ask(url, ann)).status).toBe(401);
  const answer = await ask(url, ci);
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"isError":false')]);
  expect((await ask(url, ci, 'evil.example')).status).toBe(403);
});

test('with an OpenID provider: the configuration of the guide, with the address of one', async () => {
  await using provider = await startIdentityProvider(resource);
  const [, yaml = ''] = /^```yaml\n(serve:\n {2}auth:\n {4}issuer:.*?)^```$/ms.exec(page) ?? [];
  const issuer = 'https://login.example.com/realms/corp';
  expect(yaml).toContain(issuer);
  expect(yaml).toContain(resource);
  const before = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
  onTestFinished(() => writeFileSync(join(cwd, 'ktx.yaml'), before));
  appendFileSync(join(cwd, 'ktx.yaml'), `\n${yaml.replace(issuer, provider.issuer)}`);

  const lines = commandsWith('ktx trust');
  expect(lines[0]).toBe('ktx trust');
  // Nobody sits at this terminal: what the person would approve, the variable approves.
  const { data } = JSON.parse(run('ktx trust --show --json')) as { data: { hash: string } };
  const url = await serve(lines.find((line) => line.startsWith(serveLine)) ?? '', {
    KTX_TRUST: data.hash,
  });
  const stranger = await ask(url);
  expect(stranger.status).toBe(401);
  expect(stranger.challenge).toContain(
    `resource_metadata="https://${publicName}/.well-known/oauth-protected-resource/mcp"`,
  );
  const ann = await ask(url, await provider.token('ann'));
  expect([ann.status, ann.text]).toEqual([200, expect.stringContaining('"isError":false')]);
  const eve = await ask(url, await provider.token('eve'));
  expect([eve.status, eve.text]).toEqual([403, expect.stringContaining('role_unknown')]);
});
