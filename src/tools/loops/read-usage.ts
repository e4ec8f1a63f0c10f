import { z } from 'zod';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import { bodySchemas } from '../../context/claims/claim.ts';
import { findUsageIn, usagePath } from '../../context/usage/usage.ts';
import { resolveDataset } from '../../ingest/extract/proposals/resolve-names.ts';
import type { Snapshot } from '../../ingest/project-snapshot.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { Project } from '../../project/open/open.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';

/** What the statements that people ran say about a dataset: names and counts in steps. */
export const usageTool: LoopTool<{ readonly snapshot: Snapshot }> = defineLoopTool({
  name: 'read_usage',
  description:
    'Shows how people query the table of a dataset: how often, which columns, by which columns they filter, which joins and aggregates they type. Evidence for what a doubtful sentence means; it never replaces a quote.',
  inputSchema: z.object({ dataset: z.string().describe('Name of a dataset, like orders.') }),
  offered: hasHistory,
  carries: 'nothing',
  run({ dataset: name }, { session: { snapshot } }) {
    const { connection, dataset } = resolveDataset(snapshot, name);
    const catalog = snapshot.catalogs.find((own) => own.connection === connection);
    const names = catalog && datasetNames(catalog);
    const table = catalog?.tables.find((own) => names?.dataset(own) === dataset);
    const usage = table && findUsageIn(snapshot.files.get(usagePath(connection)) ?? '')(table);
    const path = claimsPath(connection, dataset);
    const { claims } = parseClaims(path, snapshot.files.get(path) ?? '');
    const typed = claims.flatMap(({ kind, body, evidence: [evidence] }) => {
      const { data } = bodySchemas.possible_metric.safeParse(body);
      if (kind !== 'possible_metric' || data === undefined) return [];
      // A condition may have values.
      const { agg, of, where } = data;
      return [{ agg, of, has_condition: where !== undefined, measured: evidence?.measured }];
    });
    const joins = claims.flatMap(({ kind, body, evidence }) => {
      const { data } = bodySchemas.possible_relationship.safeParse(body);
      const isJoin = kind === 'relationship' || kind === 'possible_relationship';
      const queries = evidence.map(({ measured }) => queriesJoining(measured)).find(Boolean);
      return isJoin && data !== undefined && queries !== undefined ? [{ ...data, queries }] : [];
    });
    if (usage === undefined && typed.length + joins.length === 0)
      return 'Nobody queried it often enough to count, or the history does not tell.';
    const { runs, users, columns, filters } = usage ?? {};
    const shown = { runs, people: users, columns, filters, joins, aggregates: typed };
    return untrustedBlock(dataset, JSON.stringify(shown, null, 1));
  },
});

const joiningSchema = z.object({ queries_joining: z.unknown() });

function queriesJoining(measured: unknown): unknown {
  return joiningSchema.safeParse(measured).data?.queries_joining;
}

function hasHistory({ config }: Project): boolean {
  const isOn = (connection: object) =>
    'history' in connection &&
    z.object({ enabled: z.literal(true) }).safeParse(connection.history).success;
  return config.scan.query_logs.length > 0 || Object.values(config.connections).some(isOn);
}
