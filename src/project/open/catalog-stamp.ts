import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findShards } from '../../context/catalog/shards.ts';
import { readFileStamp } from './file-cache.ts';

/**
 * Changes whenever a file of the connection's catalog does; '' if it has none. Synchronous, like
 * `readFileStamp`. Follows no links.
 */
export function readCatalogStamp(dir: string, connection: string): string {
  const folder = `sources/${connection}`;
  const index = readFileStamp(dir, `${folder}/index.jsonl`);
  if (index === undefined) return '';
  const entries = listFolder(dir, folder);
  const folders = new Set(
    entries.flatMap((entry) => (entry.isDirectory() ? [`${folder}/${entry.name}`] : [])),
  );
  const schemas = entries.flatMap(({ name }) => (name.endsWith('.jsonl') ? [name] : []));
  const shards = [...folders].flatMap((shardFolder) => {
    const paths = listFolder(dir, shardFolder).map(({ name }) => `${shardFolder}/${name}`);
    return [...findShards(`${shardFolder}.jsonl`, paths).keys()];
  });
  return [...schemas.map((name) => `${folder}/${name}`), ...shards]
    .sort()
    .map((path) => `${path} ${readFileStamp(dir, path)?.stamp ?? ''}`)
    .join('\n');
}

function listFolder(dir: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(dir, folder), { withFileTypes: true });
  } catch {
    // An ingest may remove it at this moment: then the stamp of its file says so.
    return [];
  }
}
