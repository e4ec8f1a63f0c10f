import { isClosing, readLabel } from '../../context/catalog/column-labels.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import type { NamedDataset } from '../../context/claims/name-index.ts';
import type { Snapshot } from '../../ingest/project-snapshot.ts';
import type { SentValues } from '../../llm/egress/sent-values.ts';
import type { Project } from '../../project/open/open.ts';
import { maySendValues } from '../../scan/profile/send-policy.ts';

interface ValuedField {
  readonly name: string;
  /** A list, or `off`. */
  readonly values?: unknown;
  readonly pii?: unknown;
}

interface DatasetPlace {
  readonly project: Project;
  readonly snapshot: Snapshot;
  readonly owner: Pick<NamedDataset, 'connection' | 'dataset'>;
}

/**
 * The fields or columns of a dataset with the declared values that a model may see, and what the
 * ledger has of them.
 */
export function sendableFields<Field extends ValuedField>(
  fields: readonly Field[],
  { project, snapshot, owner: { connection, dataset } }: DatasetPlace,
): { readonly fields: Field[]; readonly values: SentValues[] } {
  const catalog = snapshot.catalogs.find((known) => known.connection === connection);
  const names = catalog && datasetNames(catalog);
  const table = catalog?.tables.find((candidate) => names?.dataset(candidate) === dataset);
  const file = snapshot.dataset(connection, dataset);
  const isSendable = (field: ValuedField) => {
    const { name } = field;
    const column = table?.columns.find((known) => names?.field(table, known.name) === name)?.name;
    const place = table ?? { schema: '', table: dataset };
    const label = snapshot.labels.of(connection, place, column ?? name);
    const isKeptBack = isClosing(readLabel({ pii: field.pii ?? file?.pii, values: file?.values }));
    return (
      !isKeptBack &&
      maySendValues(project.config.scan, { table: place, column: column ?? name, label })
    );
  };
  const shown = fields.map((field) =>
    !Array.isArray(field.values) || isSendable(field) ? field : { ...field, values: undefined },
  );
  return {
    fields: shown,
    values: shown.flatMap(({ name: column, values }): SentValues[] =>
      Array.isArray(values) && values.length > 0
        ? [{ connection, source: dataset, column, kind: 'declared', count: values.length }]
        : [],
    ),
  };
}
