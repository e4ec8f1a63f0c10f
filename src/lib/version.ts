import { readFileSync } from 'node:fs';

let version: string | undefined;

/** The version of the installed package. Read once: a server tells each of its clients. */
export function readVersion(): string {
  return (version ??= readManifest());
}

function readManifest(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest instanceof Object && 'version' in manifest ? String(manifest.version) : 'unknown';
}
