import { bigquery } from '../../../sql/dialects/bigquery.ts';
import type { DriverSession, OpenContext, StatementEstimate } from '../../driver.ts';
import type { UnresolvedTable } from '../../gate/policy.ts';
import { rowsAsObjects, type RunCatalogQuery } from '../../table-schemas.ts';
import { type BigqueryApi, defaultEndpoint, openApi, projectPath } from './api.ts';
import { openCheckedStatements } from './checked-statements.ts';
import type { BigqueryConfig } from './config.ts';
import { BigqueryError, throwTranslated } from './errors.ts';
import { bigqueryHistory } from './history.ts';
import { parseDataset } from './introspect/datasets.ts';
import { tableKind, tableResourceSchema } from './introspect/described-table.ts';
import { introspectBigquery } from './introspect/introspect.ts';
import { BigqueryJobs, type DryRun } from './jobs.ts';
import {
  type GoogleCredentials,
  impersonationUrl,
  parseCredentials,
  requireKnownHosts,
} from './login/credentials.ts';
import { openLogin } from './login/login.ts';
import { machineLogin } from './login/machine-login.ts';
import { bigqueryPolicy, requireSelect } from './policy.ts';
import { readPrivileges, requireReadOnly } from './privileges.ts';

/** Statements over the catalogs of a dataset return all that there is. */
const allRows = 10_000_000;
/** In milliseconds, until it is known what the login may do. */
const openingTime = 120_000;
/** Each table that a statement reads is billed as that many bytes at least. */
const leastBilled = 10 * 2 ** 20;

export async function open(
  config: BigqueryConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const { project, endpoint = defaultEndpoint } = config;
  const login = openLogin(readCredentials(config, context));
  const api = openApi({ connection: context.connection, endpoint }, login);
  const untilClosed = new AbortController();
  const close = async (): Promise<void> => {
    untilClosed.abort();
    api.close();
  };
  try {
    const datasets = config.datasets?.map((name) => parseDataset(name, project));
    const privileges = await api.inTime({ signal, milliseconds: openingTime }, (limited) =>
      readPrivileges(api, { project, datasets }, limited),
    );
    if (config.allow_writable_role !== true) requireReadOnly(privileges);
    const jobs = openJobs(api, config);
    const checked = openCheckedStatements((sql, limits) => jobs.dryRun(sql, limits));
    const defaultSchema = defaultDataset(config)?.datasetId ?? '';
    const dialect = { ...bigquery, defaultSchema };
    return {
      dialect,
      policy: bigqueryPolicy(dialect, {
        project,
        dryRun: (sql) => checked.check(sql, { signal: untilClosed.signal }),
        hasView: (tables) => hasView(tables, { api, project, defaultSchema }, untilClosed.signal),
      }),
      introspect: (scope, callSignal) =>
        introspectBigquery(
          { api, project, datasets, query: (querySignal) => catalogQuery(jobs, querySignal) },
          scope,
          callSignal,
        ),
      async run(sql, { maxRows, maxBytes, timeoutMs, asker }, callSignal) {
        const limits = { timeoutMs, signal: callSignal };
        const said = await checked.take(sql, limits);
        requireSelect(said);
        const room = leastBilledFor(said);
        const most = maxBytes === undefined ? undefined : maxBytes + room;
        return jobs.run(sql, { maxRows, maxBytes: most, asker, ...limits });
      },
      limitsBytes: true,
      estimate: async (sql, callSignal) =>
        estimateOf(await checked.known(sql, { signal: callSignal })),
      privileges: async () => privileges,
      history: bigqueryHistory(api, { project }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function readCredentials(config: BigqueryConfig, { secrets }: OpenContext): GoogleCredentials {
  const { credentials: reference, impersonate, endpoint = defaultEndpoint } = config;
  const found =
    reference === undefined
      ? machineLogin()
      : parseCredentials(secrets(reference), `credentials (${reference})`);
  if (reference !== undefined) requireKnownHosts(found, endpoint);
  return impersonate === undefined
    ? found
    : { ...found, impersonationUrl: impersonationUrl(impersonate) };
}

function openJobs(api: BigqueryApi, config: BigqueryConfig): BigqueryJobs {
  const { project, location, labels } = config;
  return new BigqueryJobs(api, {
    project,
    location,
    defaultDataset: defaultDataset(config),
    labels: { ...labels, tool: 'ktx' },
  });
}

/** Names without a dataset mean the first one, if it is of the connection's own project. */
function defaultDataset({ project, datasets: [first] = [] }: BigqueryConfig) {
  const found = first === undefined ? undefined : parseDataset(first, project);
  return found === undefined || found.catalog !== undefined
    ? undefined
    : { projectId: project, datasetId: found.dataset };
}

/** What a dry run says is exact, unless it says otherwise. */
function estimateOf(said: DryRun): StatementEstimate {
  const { totalBytesProcessed, query } = said;
  const bytes = query.totalBytesProcessed ?? totalBytesProcessed;
  const accuracy = query.totalBytesProcessedAccuracy ?? 'PRECISE';
  return accuracy === 'UNKNOWN'
    ? { kind: 'guess' }
    : {
        bytes,
        bytesBilled: Math.max(bytes ?? 0, leastBilledFor(said)),
        kind: estimateKinds[accuracy] ?? 'exact',
      };
}

function leastBilledFor({ query }: DryRun): number {
  return leastBilled * Math.max(1, query.referencedTables.length);
}

const estimateKinds: Readonly<Record<string, StatementEstimate['kind']>> = {
  UPPER_BOUND: 'upper',
  LOWER_BOUND: 'guess',
};

function catalogQuery(jobs: BigqueryJobs, signal: AbortSignal): RunCatalogQuery {
  return async (sql) => rowsAsObjects(await jobs.run(sql, { maxRows: allRows, signal }));
}

interface NamePlace {
  readonly api: BigqueryApi;
  readonly project: string;
  readonly defaultSchema: string;
}

/** Asks for each table what it is. A table that does not exist, and days of one, are no view. */
async function hasView(
  tables: readonly UnresolvedTable[],
  { api, project, defaultSchema }: NamePlace,
  signal: AbortSignal,
): Promise<boolean> {
  const kinds = await Promise.all(
    tables.map(async ({ catalog = project, schema = defaultSchema, table }) => {
      if (table.includes('*') || schema === '') return 'table';
      const path = projectPath(catalog, 'datasets', schema, 'tables', table);
      try {
        const { type } = await api.read({ method: 'GET', path }, tableResourceSchema, signal);
        return tableKind(type);
      } catch (error) {
        if (error instanceof BigqueryError && error.status === 404) return 'table';
        return throwTranslated(error);
      }
    }),
  );
  return kinds.some((kind) => kind === 'view' || kind === 'materialized_view');
}
