import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { remoteTip } from '../../src/store/remote-git.ts';
import { startGitHost } from '../recorded/git-host/server.ts';
import { removeFolder } from '../web/page.ts';
import { run } from './git-project.ts';

const token = 'ghp_canary0123456789abcdef';

/** What reaches a server that is not the host, and the host with a clone of its repository. */
async function startBoth() {
  const host = await startGitHost('github', { token });
  const stolen: string[] = [];
  const thief = createServer(({ headers }, response) => {
    stolen.push(headers.authorization ?? '');
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    thief.listen(0, '127.0.0.1', resolve);
  });
  const { port } = thief.address() as AddressInfo;
  const root = mkdtempSync(join(tmpdir(), 'ktx-clone-'));
  run(root, 'init', '-q');
  onTestFinished(async () => {
    await new Promise((resolve) => {
      thief.close(resolve);
    });
    await host.close();
    removeFolder(root);
  });
  const url = `${host.url}/acme/data.git`;
  const remote = { url, user: 'x-access-token', token };
  const ask = () => remoteTip({ root, remote, signal: AbortSignal.timeout(30_000) }, 'main');
  return { host, root, stolen, thief: `http://127.0.0.1:${port}`, url, ask };
}

test('a repository does not say how its host is reached', async () => {
  const { host, root, stolen, thief, url, ask } = await startBoth();
  const settings: readonly (readonly [key: string, value: string])[] = [
    ['http.proxy', thief],
    [`http.${url}.proxy`, thief],
    [`remote.${url}.proxy`, thief],
    [`remote.${url}.url`, `${host.url}/mallory/data.git`],
    [`url.${host.url}/mallory/.insteadOf`, `${host.url}/acme/`],
    ['http.sslVerify', 'false'],
    [`http.${host.url}/.sslVerify`, 'false'],
    ['http.curloptResolve', 'git.example.com:443:127.0.0.1'],
    [`http.${url}.followRedirects`, 'true'],
  ];
  for (const [key, value] of settings) {
    run(root, 'config', key, value);
    await expect(ask(), key).rejects.toMatchObject({ code: 'git_way_foreign' });
    run(root, 'config', '--unset', key);
  }
  expect([stolen, host.log]).toEqual([[], []]);
  expect(await ask()).toBeUndefined();
  expect(host.log).not.toEqual([]);
});

test('settings of a clone that lead nowhere else are no reason', async () => {
  const { root, url, ask } = await startBoth();
  run(root, 'remote', 'add', 'origin', url);
  run(root, 'config', 'http.postBuffer', '1000000');
  expect(await ask()).toBeUndefined();
});
