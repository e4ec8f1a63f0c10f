import { execFile, type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { load, loadAll } from 'js-yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, makeRegions, addTowns } from '../mcp/http-shop.ts';
import { freePort } from '../support/postgres-server.ts';

const root = join(import.meta.dirname, '../..');
const deploy = join(root, 'deploy');
const read = (name: string): string => readFileSync(join(deploy, name), 'utf8');
/** Nobody, if the test may become them; they own nothing but the folder of the server. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A repository with a project, and what a container would have around `start.sh`. */
async function makeHost() {
  const dir = await makeRegions();
  const folder = mkdtempSync(join(tmpdir(), 'ktx-deploy-'));
  // Another user has to get through the folder of this run.
  for (const path of [tmpdir(), folder])
    if ((statSync(path).mode & 0o1) === 0) chmodSync(path, 0o711);
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: dir });
  const origin = join(folder, 'origin.git');
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(dir, '.gitignore'), '.ktx\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'shop');
  git('clone', '--quiet', '--bare', '.', origin);
  const [bin, data] = [join(folder, 'bin'), join(folder, 'data')];
  for (const path of [bin, data]) mkdirSync(path);
  const ktx = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'src/cli/main.ts')}' "$@"\n`;
  writeFileSync(join(bin, 'ktx'), ktx, { mode: 0o755 });
  /** Git works in folders of its own user only. */
  const own = (path: string, owner: { readonly uid?: number; readonly gid?: number }): void => {
    if (user.uid !== undefined) spawnSync('chown', ['-R', `${owner.uid}:${owner.gid}`, path]);
  };
  own(origin, user);
  own(data, user);
  const port = await freePort();
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: data,
    XDG_CONFIG_HOME: join(data, 'config'),
    XDG_CACHE_HOME: join(data, 'cache'),
    KTX_PROJECT_DIR: join(data, 'project'),
    KTX_GIT_URL: origin,
    KTX_GIT_SECONDS: '1',
    KTX_PORT: String(port),
  };
  return {
    env,
    url: `http://127.0.0.1:${port}`,
    run: async (variables: object, ...args: string[]) =>
      (
        await promisify(execFile)(join(deploy, 'start.sh'), args, {
          ...user,
          env: { ...env, ...variables },
        })
      ).stdout,
    start: (variables: object): ChildProcess =>
      spawn(join(deploy, 'start.sh'), [], {
        ...user,
        env: { ...env, ...variables },
        stdio: ['ignore', 'ignore', 'inherit'],
        detached: true,
      }),
    /** Adds a dataset, as somebody else would. */
    push(): void {
      addTowns(dir);
      git('add', '.');
      git('commit', '--quiet', '-m', 'towns');
      own(origin, { uid: 0, gid: 0 });
      git('push', '--quiet', origin, 'main');
      own(origin, user);
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`gave up: ${String(holds)}`);
    await pause(100);
  }
}

describe('the way that the image and systemd start the server', () => {
  it('approves, makes tokens, serves, follows the repository and ends', async () => {
    const host = await makeHost();
    const shown = JSON.parse(await host.run({}, 'trust', '--show', '--json')) as { hash: string };
    const trust = { KTX_TRUST: shown.hash };
    const made = await host.run(trust, 'mcp', 'token', 'create', 'ann', '--role', 'dach', '--json');
    const token = /ktx_[0-9a-f]{12}_[0-9a-f]{64}/.exec(made)?.[0] ?? '';
    const server = host.start(trust);
    const ended = once(server, 'exit');
    onTestFinished(() => {
      if (server.exitCode === null) process.kill(server.pid ?? 0, 'SIGKILL');
    });
    await until(async () => (await fetch(`${host.url}/ready`)).ok);
    {
      await using ann = await connect(`${host.url}/mcp`, token);
      const revenue = { metrics: ['orders.revenue'], dimensions: ['orders.region'] };
      const { text } = await ann.call('query_metrics', revenue);
      expect(text).toContain('canary-dach');
      expect(text).not.toContain('canary-us');
      host.push();
      await until(async () => {
        const found = await ann.call('query_metrics', { metrics: ['towns.city_count'] });
        return !found.isError;
      });
    }
    expect((await fetch(`${host.url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
    process.kill(server.pid ?? 0, 'SIGTERM');
    expect(await ended).toEqual([0, null]);
    // What follows the repository ends too, at its next look.
    await until(async () => {
      const { status } = spawnSync('pgrep', ['-g', String(server.pid)]);
      return status === 1;
    });
  });

  it('says what is missing', async () => {
    const host = await makeHost();
    await expect(host.run({ KTX_GIT_URL: '' })).rejects.toMatchObject({
      stderr: expect.stringContaining('set it to the repository of the project'),
    });
  });
});

describe('the files around the server', () => {
  const image = read('Dockerfile');
  const compose = load(read('compose.yaml')) as {
    services: Record<string, Record<string, unknown>>;
  };
  const objects = loadAll(read('kubernetes.yaml')) as {
    kind: string;
    spec: { template: { spec: PodSpec } };
  }[];

  interface PodSpec {
    readonly securityContext: object;
    readonly containers: readonly Record<string, unknown>[];
  }

  it('run nothing as root, and write to one volume only', () => {
    expect(image).toMatch(/^USER 10001$/m);
    expect(image.indexOf('USER 10001')).toBeLessThan(image.indexOf('ENTRYPOINT'));
    expect(compose.services['ktx']).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      volumes: ['ktx:/data'],
      security_opt: ['no-new-privileges:true'],
    });
    const pod = objects.find(({ kind }) => kind === 'Deployment')?.spec.template.spec;
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(pod?.containers[0]).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      readinessProbe: { httpGet: { path: '/ready' } },
      livenessProbe: { httpGet: { path: '/health' } },
      ports: [{ containerPort: 7878 }],
    });
    expect(read('ktx.service')).toMatch(/^User=ktx$[^]*^ProtectSystem=strict$/m);
  });

  it('name only variables that somebody reads', () => {
    const reader = read('start.sh') + read('git-token.sh');
    const own = new Set(['KTX_TRUST']);
    for (const name of [
      'Dockerfile',
      'compose.yaml',
      'kubernetes.yaml',
      'ktx.service',
      'README.md',
    ])
      for (const [variable] of read(name).matchAll(/\bKTX_[A-Z_]+\b/g))
        expect(own.has(variable) || reader.includes(variable), `${variable} in ${name}`).toBe(true);
  });

  it('copy into the image what its build needs', () => {
    const ignored = read('Dockerfile.dockerignore').split('\n');
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      files: string[];
    };
    const inputs = files.filter((file) => file !== 'dist');
    for (const file of [...inputs, 'src', 'web', 'scripts', 'package-lock.json'])
      expect(ignored).toContain(`!${file}`);
    for (const [, path = ''] of image.matchAll(/^COPY (deploy\/\S+)/gm))
      expect(globSync(path, { cwd: root })).toEqual([path]);
  });

  const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined;
  it.runIf(isThere('systemd-analyze'))('are a unit that systemd reads', () => {
    const unit = join(mkdtempSync(join(tmpdir(), 'ktx-unit-')), 'ktx.service');
    writeFileSync(unit, read('ktx.service').replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
