import { openSource } from '../../sources/registry.ts';
import type { SourceConfig } from '../../sources/config.ts';
import { projectPaths } from '../../store/directories.ts';
import { resolveSecret } from '../../store/secrets.ts';
import { writeConnection } from './setup.ts';

interface NewSource {
  readonly dir: string;
  readonly name: string;
  readonly config: SourceConfig;
}

/** Reads the source once and, if that works, adds it to `ktx.yaml`. */
export async function addSource(source: NewSource, signal: AbortSignal) {
  const probe = await probeSource(source, signal);
  return { ...source, written: await writeConnection(source), probe };
}

/** Counts the items of the source and lists those that cannot be read. Writes nothing. */
export async function probeSource({ dir, name, config }: NewSource, signal: AbortSignal) {
  const source = await openSource(config);
  const secrets = (reference: string) => resolveSecret(reference, dir);
  let [items, isComplete] = [0, false];
  const failed: string[] = [];
  for await (const fetched of source.fetch({
    connection: name,
    projectDir: dir,
    cacheDir: projectPaths(dir).cache,
    secrets,
    signal,
  })) {
    if (fetched.kind === 'item') items += 1;
    else if (fetched.kind === 'failed') failed.push(`${fetched.key}: ${fetched.reason}`);
    else isComplete = fetched.listingComplete;
  }
  return { items, failed, isComplete };
}
