// Builds dist/: the bundle of src/, then the page, then the files that are no TypeScript.
import { cpSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
await bundle(dist);
await import('./build-page.mjs');
cpSync(join(root, 'src'), dist, {
  recursive: true,
  filter: (path) => extname(path) !== '.ts',
});
