import { readFileSync } from 'node:fs';

/** The version of the installed package. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest instanceof Object && 'version' in manifest ? String(manifest.version) : 'unknown';
}
