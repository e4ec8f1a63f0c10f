import { datasetNames } from '../../context/catalog/dataset-names.ts';
import type { NamedDataset } from '../../context/claims/name-index.ts';
import type { Snapshot } from '../../ingest/project-snapshot.ts';
import type { SentValues } from '../../llm/egress/sent-values.ts';
import type { Project } from '../../project/open/open.ts';
import { maySendValues } from '../../scan/profile/send-policy.ts';

interface ValuedField {
  readonly name: string;
  readonly values?: readonly unknown[] | undefined;
}

interface DatasetPlace {
  readonly project: Project;
  readonly snapshot: Snapshot;
  readonly owner: Pick<NamedDataset, 'connection' | 'dataset'>;
}

/** The fields or columns of a dataset with the declared values that a model may see, and what the ledger has of them. */
export function sendableFields<Field extends ValuedField>(
  fields: readonly Field[],
  { project, snapshot, owner: { connection, dataset } }: DatasetPlace,
): { readonly fields: Field[]; readonly values: SentValues[] } {
  const catalog = snapshot.catalogs.find((known) => known.connection === connection);
  const names = catalog && datasetNames(catalog);
  const table = catalog?.tables.find((candidate) => names?.dataset(candidate) === dataset);
  const isSendable = (name: string) => {
    const column = table?.columns.find((known) => names?.field(table, known.name) === name)?.name;
    const place = table ?? { schema: '', table: dataset };
    return maySendValues(project.config.scan, { table: place, column: column ?? name });
  };
  const shown = fields.map((field) =>
    field.values === undefined || isSendable(field.name) ? field : { ...field, values: undefined },
  );
  return {
    fields: shown,
    values: shown.flatMap(({ name: column, values = [] }): SentValues[] =>
      values.length === 0
        ? []
        : [{ connection, source: dataset, column, kind: 'declared', count: values.length }],
    ),
  };
}
