import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

/**
 * A registry on loopback with the packages of a lockfile, as npm has just fetched them. It can send
 * a changed archive, or keep everybody waiting for one.
 */
export async function startPinnedRegistry(lockFile: string, env: NodeJS.ProcessEnv) {
  const folder = mkdtempSync(join(tmpdir(), 'ktx-registry-'));
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const places = Object.keys(packages).filter((place) => place !== '');
  const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 13);
  const wanted = places.map((place) => `${nameOf(place)}@${packages[place]?.version}`);
  const pack = ['pack', '--json', '--loglevel=error', '--pack-destination', folder];
  const { stdout } = await run('npm', [...pack, ...new Set(wanted)], { cwd: folder, env });
  const archives = new Map<string, { readonly manifest: object; readonly bytes: Buffer }>();
  for (const { name, version, filename, integrity } of JSON.parse(stdout) as readonly (Locked & {
    readonly name: string;
    readonly filename: string;
  })[])
    archives.set(`${name}@${version}`, {
      manifest: { name, version, dist: { integrity } },
      bytes: readFileSync(join(folder, filename)),
    });
  rmSync(folder, { recursive: true, force: true });

  let tampered: string | undefined;
  let hold: Promise<void> = Promise.resolve();
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(({ url = '' }, response) => {
    const [name = '', file] = decodeURIComponent(url).slice(1).split('/-/');
    if (file === undefined) {
      response.end(JSON.stringify(packument(name)));
      return;
    }
    const archive = `${name}@${file.replace(/\.tgz$/, '')}`;
    const { bytes } = archives.get(archive) ?? { bytes: Buffer.alloc(0) };
    asked.push(archive);
    for (const resolve of waiting.splice(0)) resolve();
    void hold.then(() => response.end(name === tampered ? changed(bytes) : bytes));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  function packument(name: string): object {
    const own = [...archives].filter(([key]) => key.startsWith(`${name}@`));
    const versions = own.map(([key, { manifest }]) => {
      const version = key.slice(name.length + 1);
      const tarball = `${url}${name}/-/${version}.tgz`;
      return [version, { ...manifest, dist: { tarball, ...distOf(manifest) } }] as const;
    });
    return { name, 'dist-tags': {}, versions: Object.fromEntries(versions) };
  }

  return {
    url,
    /** The archives that were asked for, as `name@version`, in order. */
    asked: asked as readonly string[],
    tamper: (name: string | undefined) => void (tampered = name),
    /** Until `release`, an archive is asked for and not sent. */
    holdArchives() {
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = promise;
      return resolve;
    },
    /** Resolves when the next archive is asked for. */
    nextAsked: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const distOf = (manifest: object): object => ('dist' in manifest ? (manifest.dist as object) : {});

/** As whoever owns the registry could: one byte in the middle is another. */
function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const middle = Math.floor(copy.length / 2);
  copy[middle] = (copy[middle] ?? 0) ^ 1;
  return copy;
}
