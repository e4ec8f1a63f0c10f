import { openSource } from '../../sources/registry.ts';
import type { SourceConfig } from '../../sources/config.ts';
import { projectPaths } from '../../store/directories.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { connectionGrant } from '../trust/entry-grants.ts';
import { approveTyped } from '../trust/typed-approval.ts';
import { writeConnection } from './setup.ts';

interface NewSource {
  readonly dir: string;
  readonly name: string;
  readonly config: SourceConfig;
}

/**
 * Reads the source that a person has typed once and, if that works, adds it to `ktx.yaml` and
 * approves it.
 */
export async function addSource(
  source: NewSource & { readonly env: HostEnvironment },
  signal: AbortSignal,
) {
  const { dir, name, config, env } = source;
  const grantOf = connectionGrant.bind(undefined, name, config);
  const approval = await approveTyped({ dir, env, grantOf });
  const probe = await probeSource({ dir, name, config, secrets: approval.secrets }, signal);
  const written = await writeConnection({ dir, name, config });
  await approval.remember();
  return { dir, name, config, written, probe };
}

/** Counts the items of the source and lists those that cannot be read. Writes nothing. */
export async function probeSource(
  { dir, name, config, secrets }: NewSource & { readonly secrets: ReadSecret },
  signal: AbortSignal,
) {
  const source = await openSource(config);
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
