import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closure, type LockedPackages } from '../scripts/generate-extras.ts';

const root = join(import.meta.dirname, '..');
const mebibyte = 2 ** 20;
/** What an installation may take on disk, with everything that it needs and without extras. */
const budget = 180;
const block = 4096;

/** On disk, in MiB, without packages that are nested in it. */
function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? 0 : sizeOf(path);
    return entry.isFile() ? (Math.ceil(statSync(path).size / block) * block) / mebibyte : 0;
  });
  return entries.reduce((sum, size) => sum + size, 0);
}

test('an installation stays within its budget on disk', () => {
  const { dependencies, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: LockedPackages;
  };
  const places = Object.keys(closure(packages, Object.keys(dependencies)));
  // Packages for other platforms are not there.
  const installed = places.filter((place) => existsSync(join(root, place)));
  const sizes = installed.map((place) => [place, sizeOf(join(root, place))] as const);
  // `dist` is about as large as what it is built from.
  const own = ['src', ...files.filter((name: string) => name !== 'dist')]
    .map((name) => join(root, name))
    .map((path) => (statSync(path).isFile() ? statSync(path).size / mebibyte : sizeOf(path)));
  const total = [...sizes.map(([, size]) => size), ...own].reduce((sum, size) => sum + size, 0);
  const largest = sizes
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 12)
    .map(([place, size]) => `${size.toFixed(1)} ${place}`);
  expect(installed.length).toBeGreaterThan(60);
  // Below this something is not counted.
  expect(total).toBeGreaterThan(90);
  expect(total, largest.join('\n')).toBeLessThan(budget);
});
