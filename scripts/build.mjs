// Builds dist/ from src/: plain tsc, then the page, then the files that are no TypeScript.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [compiler, '-p', join(root, 'tsconfig.build.json')],
  { stdio: 'inherit' },
);
if (status !== 0) process.exit(1);
await import('./build-page.mjs');
cpSync(join(root, 'src'), join(root, 'dist'), {
  recursive: true,
  filter: (path) => extname(path) !== '.ts',
});
