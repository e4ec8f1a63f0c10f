// Builds the page of `ktx web` from web/ to dist/page/.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist/page');
const unfinished = `${folder}.${process.pid}`;

await build({
  configFile: false,
  root: join(root, 'web'),
  // Of a documentation host too, wherever it puts the page.
  base: './',
  logLevel: 'error',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: unfinished,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});
// Whoever reads the page meanwhile has the old one.
rmSync(folder, { recursive: true, force: true });
renameSync(unfinished, folder);
