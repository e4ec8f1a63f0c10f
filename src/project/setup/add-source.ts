import { z } from 'zod';
import { dbtConfigSchema } from '../../sources/dbt/config.ts';
import { openSource } from '../../sources/registry.ts';
import { type SourceConfig, sourceConfigSchemas } from '../../sources/config.ts';
import type { ProposedWarehouse, SourceSight, WarehousePlace } from '../../sources/source.ts';
import { projectPaths } from '../../store/directories.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { listSources } from '../open/config.ts';
import type { Project } from '../open/open.ts';
import { connectionGrant } from '../trust/entry-grants.ts';
import { approveTyped } from '../trust/typed-approval.ts';
import { writeConnection } from './setup.ts';
import { listWarehousePlaces } from './warehouse-places.ts';
import { isRecord } from '../../lib/json.ts';

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
  source: NewSource & {
    readonly env: HostEnvironment;
    readonly warehouses?: readonly WarehousePlace[];
    /** Asks a person which of the proposed warehouses are right. Default: none. */
    readonly confirm?: (
      proposed: readonly ProposedWarehouse[],
    ) => Promise<readonly ProposedWarehouse[]>;
  },
  signal: AbortSignal,
) {
  const { dir, name, env, warehouses = [], confirm } = source;
  const grantOf = connectionGrant.bind(undefined, name, source.config);
  const approval = await approveTyped({ dir, env, grantOf });
  const { secrets } = approval;
  const look = { dir, name, config: source.config, secrets, warehouses };
  const seen = await probeSource(look, signal);
  const proposed = 'login' in seen ? (seen.proposed ?? []) : [];
  const confirmed = proposed.length === 0 ? [] : ((await confirm?.(proposed)) ?? []);
  const config = withWarehouses(source.config, confirmed);
  const isSame = confirmed.length === 0;
  const probe = isSame ? seen : await probeSource({ ...look, config }, signal);
  const written = await writeConnection({ dir, name, config });
  await approval.remember();
  return { dir, name, config, written, probe };
}

/** The configuration with what a person confirmed. */
function withWarehouses(
  config: SourceConfig,
  confirmed: readonly ProposedWarehouse[],
): SourceConfig {
  if (confirmed.length === 0) return config;
  const settings = new Map<string, unknown>(Object.entries(config));
  for (const { setting, key, connection } of confirmed) {
    const known = settings.get(setting);
    settings.set(setting, { ...(isRecord(known) ? known : {}), [key]: connection });
  }
  return z.union(sourceConfigSchemas).parse(Object.fromEntries(settings));
}

/**
 * Adds the dbt project in the folder as a source that is called `dbt`; the schema is the one that
 * dbt builds into.
 */
export async function addDbtProject(
  {
    dir,
    path,
    schema,
    warehouse,
    env,
  }: Pick<NewSource, 'dir'> & {
    readonly path: string;
    readonly schema: string | undefined;
    readonly warehouse: string;
    readonly env: HostEnvironment;
  },
  signal: AbortSignal,
) {
  const settings = { driver: 'dbt', path, warehouse, ...(schema && { target_schema: schema }) };
  const config = dbtConfigSchema.parse(settings);
  return addSource({ dir, name: 'dbt', config, env }, signal);
}

/** What is in a source: what a look at it shows, or how many items were read. */
export type SourceProbe = SourceSight | ReadItems;

interface ReadItems {
  readonly items: number;
  /** Items that cannot be read. */
  readonly failed: readonly string[];
  readonly isComplete: boolean;
}

/** What the login of a configured source sees; undefined for one that only an ingest reads. */
export async function lookAtSource(
  { config, dir, trust }: Pick<Project, 'config' | 'dir' | 'trust'>,
  name: string,
  signal: AbortSignal,
): Promise<SourceSight | undefined> {
  const found = listSources(config).find(([source]) => source === name);
  if (found === undefined) return undefined;
  const [, sourceConfig] = found;
  const source = await openSource(sourceConfig);
  if (source.look === undefined) return undefined;
  const secrets = await trust.requireConnections([name]);
  const warehouses = await listWarehousePlaces({ config, trust });
  const probe = await probeSource({ dir, name, config: sourceConfig, secrets, warehouses }, signal);
  return 'login' in probe ? probe : undefined;
}

/** A person waits for the answer. In milliseconds. */
const longestWait = 60_000;

/**
 * Looks at the source, or where it cannot be looked at, counts its items and lists those that
 * cannot be read. Writes nothing.
 */
export async function probeSource(
  {
    dir,
    name,
    config,
    secrets,
    warehouses = [],
  }: NewSource & { readonly secrets: ReadSecret; readonly warehouses?: readonly WarehousePlace[] },
  signal: AbortSignal,
): Promise<SourceProbe> {
  const source = await openSource(config);
  const context = {
    connection: name,
    projectDir: dir,
    cacheDir: projectPaths(dir).cache,
    secrets,
    memory: { keys: new Set<string>(), has: () => false, isKnown: () => false },
    longestWait,
    onWait: () => undefined,
    warehouses,
    signal,
  };
  if (source.look !== undefined) return source.look(context);
  let [items, isComplete] = [0, false];
  const failed: string[] = [];
  for await (const fetched of source.fetch(context)) {
    if (fetched.kind === 'item') items += 1;
    else if (fetched.kind === 'failed') failed.push(`${fetched.key}: ${fetched.reason}`);
    else if (fetched.kind === 'end') isComplete = fetched.listingComplete;
  }
  return { items, failed, isComplete };
}
