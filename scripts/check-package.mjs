// Packs the package as npm would publish it and lets publint and are-the-types-wrong judge the
// tarball.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'ktx-pack-'));
try {
  const packed = execFileSync(
    'npm',
    ['pack', '--json', '--loglevel=error', '--pack-destination', folder],
    { encoding: 'utf8' },
  );
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  const tarball = join(folder, filename);
  execFileSync('publint', ['run', '--strict', tarball], { stdio: 'inherit' });
  execFileSync('attw', [tarball, '--profile', 'esm-only', '--entrypoints', '.'], {
    stdio: 'inherit',
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
