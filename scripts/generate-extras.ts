// Writes extras/<name>/package.json and package-lock.json: the part of this package's own lockfile
// that an extra needs, so that both always have the same versions and hashes. A test fails if they
// are stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { extraNames, extras } from '../src/store/extras/extra-list.ts';

interface LockedPackage {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
}
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

const root = join(import.meta.dirname, '..');

/** The text of each generated file, by its path in the repository. */
export function extraFiles(): ReadonlyMap<string, string> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const packages: LockedPackages = lock.packages;
  return new Map(
    extraNames.flatMap((name) => {
      const dependencies = Object.fromEntries(
        [...extras[name].packages]
          .sort()
          .map((packageName) => [
            packageName,
            packages[`node_modules/${packageName}`]?.version ?? '',
          ]),
      );
      const manifest = { name: `ktx-extra-${name}`, version: '1.0.0', private: true, dependencies };
      const { private: _private, ...own } = manifest;
      const found = closure(packages, Object.keys(dependencies));
      const { lockfileVersion } = lock;
      const head = { name: manifest.name, version: manifest.version, lockfileVersion };
      const lockText = { ...head, requires: true, packages: { '': own, ...found } };
      return [
        [`extras/${name}/package.json`, toText(manifest)],
        [`extras/${name}/package-lock.json`, toText(lockText)],
      ] as const;
    }),
  );
}

const toText = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** What the packages need, by the place where npm put it, without marks of development. */
export function closure(packages: LockedPackages, names: readonly string[]): LockedPackages {
  const places = new Set<string>();
  const visit = (name: string, from: string): void => {
    const place = findPlace(packages, name, from);
    if (place === undefined || places.has(place)) return;
    places.add(place);
    const locked = packages[place];
    const peers = Object.keys(locked?.peerDependencies ?? {}).filter(
      (peer) => locked?.peerDependenciesMeta?.[peer]?.optional !== true,
    );
    const own = { ...locked?.dependencies, ...locked?.optionalDependencies };
    const needed = [...Object.keys(own), ...peers];
    for (const other of needed) visit(other, place);
  };
  for (const name of names) visit(name, '');
  const entries = [...places].sort().map((place) => {
    const { dev: _dev, devOptional, peer: _peer, ...locked } = packages[place] ?? { version: '' };
    return [place, devOptional === true ? { ...locked, optional: true } : locked] as const;
  });
  return Object.fromEntries(entries);
}

/** Where Node would find a package that is required from a place. */
function findPlace(packages: LockedPackages, name: string, from: string): string | undefined {
  for (
    let place = from;
    ;
    place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/')))
  ) {
    const base = place.replace(/\/$/, '');
    const candidate = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (candidate in packages) return candidate;
    if (base === '') return undefined;
  }
}

if (process.argv[1] === import.meta.filename)
  for (const [path, text] of extraFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
