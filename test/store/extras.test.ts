import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { extraFiles } from '../../scripts/generate-extras.ts';
import { freePort } from '../support/postgres-server.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

test('the lists of extras are those of the lockfile, with a hash for every package', () => {
  for (const [path, text] of extraFiles()) {
    expect(readFileSync(join(root, path), 'utf8'), `${path}: node scripts/generate-extras.ts`).toBe(
      text,
    );
    if (!path.endsWith('package-lock.json')) continue;
    const packages: Record<string, { integrity?: string }> = JSON.parse(text).packages;
    const withoutHash = Object.entries(packages).filter(
      ([place, { integrity = '' }]) => place !== '' && !integrity.startsWith('sha512-'),
    );
    expect(withoutHash).toEqual([]);
    expect(Object.keys(packages).length).toBeGreaterThan(5);
  }
});

describe('a ktx without the packages of an extra', () => {
  const names = ['ai', '@ai-sdk/anthropic'];
  let folder = '';
  let registry: Awaited<ReturnType<typeof startRegistry>>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ktx-extras-'));
    for (const name of ['src/store', 'src/lib', 'package.json'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    cpSync(join(root, 'extras'), join(folder, 'extras'), { recursive: true });
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'));
    registry = await startRegistry(folder, names);
    const manifest = {
      name: 'ktx-extra-anthropic',
      version: '1.0.0',
      dependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
    };
    writeFileSync(join(folder, 'extras/anthropic/package.json'), JSON.stringify(manifest));
    writeLock(registry.integrity);
    writeFileSync(
      join(folder, 'use.ts'),
      `import { requireExtra } from './src/store/extras/require-extra.ts';
      import { installExtra, removeExtra } from './src/store/extras/install-extra.ts';
      const [, , step = ''] = process.argv;
      try {
        const { signal } = new AbortController();
        if (step === 'add') await installExtra('anthropic', { signal });
        if (step === 'remove') await removeExtra('anthropic', { signal });
        requireExtra('anthropic');
        const { name } = await import('@ai-sdk/anthropic');
        console.log(name);
      } catch (error) {
        console.log(error.code, error.hint ?? error.message);
      }`,
    );
  });
  afterAll(() => {
    registry.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const lockOf = (integrity: Readonly<Record<string, string>>) => ({
    name: 'ktx-extra-anthropic',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': {
        name: 'ktx-extra-anthropic',
        version: '1.0.0',
        dependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
      },
      ...Object.fromEntries(
        names.map((name) => [
          `node_modules/${name}`,
          { version: '1.0.0', integrity: integrity[name], hasInstallScript: true },
        ]),
      ),
    },
  });
  const writeLock = (integrity: Readonly<Record<string, string>>): void =>
    writeFileSync(
      join(folder, 'extras/anthropic/package-lock.json'),
      JSON.stringify(lockOf(integrity)),
    );
  const use = async (step: string, given: Readonly<Record<string, string>> = {}) => {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_DATA_HOME: join(folder, 'data'),
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, 'cache'),
      ...given,
    };
    const { stdout } = await run(process.execPath, ['use.ts', step], { cwd: folder, env });
    return stdout.trim();
  };
  const installed = (): string[] => {
    try {
      return readdirSync(join(folder, 'data/ktx/extras')).filter(
        (entry) => !entry.includes('.lock'),
      );
    } catch {
      return [];
    }
  };

  test('names the command, fetches the extra with it, and finds it then', async () => {
    expect(await use('')).toMatch(/^extra_missing ktx extras add anthropic /);
    expect(await use('add')).toBe('@ai-sdk/anthropic');
    expect(await use('')).toBe('@ai-sdk/anthropic');
    expect(installed()).toEqual([expect.stringMatching(/^anthropic-[0-9a-f]{10}$/)]);
    expect(registry.scripts()).toBe(false);
    expect(await use('remove')).toMatch(/^extra_missing /);
    expect(installed()).toEqual([]);
  });

  test('takes nothing whose hash is not the one in the list', async () => {
    onTestFinished(() => writeLock(registry.integrity));
    writeLock({ ...registry.integrity, ai: `sha512-${'A'.repeat(86)}==` });
    expect(await use('add')).toMatch(/^extra_failed Nothing of it was kept\. /);
    expect(installed()).toEqual([]);
  });

  test('of two processes one fetches it, and both have it', async () => {
    onTestFinished(() => rmSync(join(folder, 'data'), { recursive: true }));
    const before = registry.tarballs();
    const fresh = { npm_config_cache: join(folder, 'fresh-cache') };
    expect(await Promise.all([use('add', fresh), use('add', fresh), use('add', fresh)])).toEqual(
      Array.from({ length: 3 }, () => '@ai-sdk/anthropic'),
    );
    expect(registry.tarballs() - before).toBe(names.length);
    expect(installed()).toHaveLength(1);
  });

  test('says in a few words that no registry answers, and that npm is missing', async () => {
    const port = await freePort();
    const offline = await use('add', { npm_config_registry: `http://127.0.0.1:${port}/` });
    expect(offline).toMatch(/^extra_failed Check the network and the proxy of npm; /);
    expect(offline).not.toContain('\n');
    const alone = mkdtempSync(join(folder, 'path-'));
    expect(await use('add', { PATH: alone })).toMatch(/^extra_failed Install npm, /);
    expect(installed()).toEqual([]);
  });
});

/** A registry of packages that export their name, and whose install script leaves a file. */
async function startRegistry(folder: string, names: readonly string[]) {
  const left = join(folder, 'script-ran');
  const tarballs = new Map(
    names.map((name) => {
      const own = join(folder, 'packages', name.replace('/', '-'));
      mkdirSync(join(own, 'package'), { recursive: true });
      const scripts = { postinstall: `node -e "require('fs').writeFileSync('${left}', '')"` };
      const manifest = { name, version: '1.0.0', type: 'module', exports: './index.js', scripts };
      writeFileSync(join(own, 'package/package.json'), JSON.stringify(manifest));
      writeFileSync(join(own, 'package/index.js'), `export const name = ${JSON.stringify(name)};`);
      execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: own });
      return [name, readFileSync(join(own, 'package.tgz'))] as const;
    }),
  );
  const integrity = Object.fromEntries(
    [...tarballs].map(([name, bytes]) => [
      name,
      `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    ]),
  );
  let served = 0;
  const server = createServer(({ url = '' }, response) => {
    const path = decodeURIComponent(url).slice(1);
    const [name = '', isTarball] = path.split('/-/');
    const bytes = tarballs.get(name);
    if (isTarball !== undefined) served += 1;
    if (bytes === undefined || isTarball !== undefined) {
      response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
      return;
    }
    const { port } = server.address() as AddressInfo;
    const dist = {
      tarball: `http://127.0.0.1:${port}/${name}/-/package-1.0.0.tgz`,
      integrity: integrity[name],
    };
    const versions = { '1.0.0': { name, version: '1.0.0', dist, hasInstallScript: true } };
    response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    integrity,
    /** How many were sent. */
    tarballs: () => served,
    scripts: () => readdirSync(folder).includes('script-ran'),
    close: () => void server.close(),
  };
}
