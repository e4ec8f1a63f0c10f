import { z } from 'zod';
import { formatCount } from '../../../lib/format-count.ts';
import { bigquery } from '../../../sql/dialects/bigquery.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import { warehouseError } from '../../warehouse-error.ts';
import { type BigqueryApi, projectPath } from './api.ts';
import { throwTranslated } from './errors.ts';
import { type ProjectDataset, listDatasets, listTables } from './introspect/datasets.ts';

/** What changes a table, or the rows in it. */
const writingPermissions = [
  'bigquery.tables.updateData',
  'bigquery.tables.update',
  'bigquery.tables.delete',
] as const;
/** Of more datasets, the first ones are asked about. */
const mostDatasets = 20;

const permissionsSchema = z.looseObject({ permissions: z.array(z.string()).default([]) });

interface AskedDatasets {
  readonly project: string;
  /** Undefined: those of the project. */
  readonly datasets: readonly ProjectDataset[] | undefined;
}

/**
 * What the login may do with a table of each dataset: a permission on the project or the dataset is
 * one on the table. A dataset without tables says nothing.
 */
export async function readPrivileges(
  api: BigqueryApi,
  { project: own, datasets }: AskedDatasets,
  signal: AbortSignal,
): Promise<PrivilegeReport> {
  const asked =
    datasets?.slice(0, mostDatasets) ??
    (await listDatasets(api, own, { signal, atMost: mostDatasets }));
  const answers = await Promise.all(
    asked.map(async (dataset) => {
      const [first] = await listTables(api, dataset, { signal, atMost: 1 });
      if (first === undefined) return undefined;
      const { project, dataset: name } = dataset;
      const table = projectPath(project, 'datasets', name, 'tables', first.table);
      const request = {
        method: 'POST',
        path: `${table}:testIamPermissions`,
        json: { permissions: writingPermissions },
        repeatable: true,
      } as const;
      const { permissions } = await api
        .read(request, permissionsSchema, signal)
        .catch((error: unknown) => throwTranslated(error));
      return { name, permissions };
    }),
  );
  const tested = answers.filter((answer) => answer !== undefined);
  const writable = tested.filter(({ permissions }) => permissions.length > 0);
  const findings = writable.map(
    ({ name, permissions }) => `the login has ${permissions.join(', ')} in the dataset ${name}`,
  );
  if (findings.length > 0) return { readOnly: false, findings, remedy: createReaderSql(asked) };
  const where = formatCount(tested.length, 'dataset');
  const finding =
    tested.length === 0
      ? 'there is no table yet to see what the login may do with it'
      : `the login may change no table of ${where}`;
  return { readOnly: true, findings: [finding] };
}

/** Throws `warehouse_privilege` for a login that could write. */
export function requireReadOnly({ readOnly, findings, remedy = [] }: PrivilegeReport): void {
  if (readOnly) return;
  throw warehouseError(
    'warehouse_privilege',
    `The login may write, and BigQuery has no read-only session: ${findings.join('; ')}.`,
    {
      hint: `Use a service account that can only read (${remedy.join(' ')}), or set allow_writable_role: true.`,
    },
  );
}

/** What gives a service account the right to read and to ask, and nothing else. */
function createReaderSql(datasets: readonly ProjectDataset[]): readonly string[] {
  const account = 'serviceAccount:ktx-reader@PROJECT.iam.gserviceaccount.com';
  return [
    ...datasets
      .slice(0, mostDatasets)
      .map(
        ({ project, dataset }) =>
          `GRANT \`roles/bigquery.dataViewer\` ON SCHEMA ${bigquery.quote(project)}.${bigquery.quote(dataset)} TO "${account}";`,
      ),
    `gcloud projects add-iam-policy-binding PROJECT --member=${account} --role=roles/bigquery.jobUser`,
  ];
}
