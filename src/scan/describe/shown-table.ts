import type { CatalogTable, LinkFinding } from '../../context/catalog/catalog.ts';
import type { SentValues } from '../../llm/egress/sent-values.ts';
import { sameTable } from '../../sql/dialect.ts';
import { looksPersonal } from '../personal/personal-value.ts';
import { maySendValues, type SendSettings } from '../profile/send-policy.ts';
import type { ScanResult } from '../scan.ts';
import type { DescriptionTask } from './description-task.ts';

/** Frequent values of a column that are sent to the model. */
const maxFrequentValues = 5;

/** Everything about the table that leaves this machine. */
export function showTable(
  { table, missing }: Pick<DescriptionTask, 'table' | 'missing'>,
  found: ScanResult,
  send: SendSettings,
) {
  const profile = found.tables.find((scanned) => sameTable(scanned.table, table))?.profile;
  const rows = profile?.rows ?? 0;
  const primaryKey = found.primaryKeys.find(
    (key) => key.status === 'accepted' && sameTable(key.table, table),
  );
  const isAcceptedFromHere = ({ from, status }: LinkFinding) =>
    status === 'accepted' && sameTable(from.table, table);
  const columnProfiles = new Map(profile?.columns.map((column) => [column.name, column]));
  const describeColumn = ({
    name,
    nativeType,
    comment,
    values,
  }: CatalogTable['columns'][number]) => {
    const measured = columnProfiles.get(name);
    const label = found.labels.of(found.catalog.connection, table, name);
    const isSent = maySendValues(send, { table, column: name, label, profile: measured });
    const sent = isSent ? measured : undefined;
    const frequent = sent?.top.filter((value) => !looksPersonal(value));
    return {
      name,
      type: nativeType,
      comment,
      values: isSent ? values : undefined,
      nulls: measured && rows > 0 ? `${Math.round((100 * measured.nulls) / rows)}%` : undefined,
      distinct: measured?.distinct,
      min: coarseNumber(sent?.min),
      max: coarseNumber(sent?.max),
      frequent: frequent?.slice(0, maxFrequentValues),
    };
  };
  return {
    schema: table.schema,
    table: table.table,
    kind: table.kind,
    comment: table.comment,
    rows: profile === undefined ? undefined : orderOfMagnitude(rows / profile.fraction),
    primary_key: primaryKey?.columns ?? table.primaryKey,
    refers_to: found.links
      .filter(isAcceptedFromHere)
      .map(({ from, to, role }) => ({ columns: from.columns, table: to.table.table, role })),
    columns: table.columns.map(describeColumn),
    describe: missing.filter((column) => column !== undefined),
  };
}

/** A table as the model sees it. */
export type ShownTable = ReturnType<typeof showTable>;

/** The values of the warehouse in what the model sees, by column. */
export function valuesShown(
  { schema, table, columns }: ShownTable,
  connection: string,
): SentValues[] {
  const source = `${schema}.${table}`;
  return columns.flatMap(({ name: column, frequent = [], values = [], ...measured }) => {
    const { nulls, distinct, min, max } = measured;
    const countGiven = (cells: readonly unknown[]) =>
      cells.filter((cell) => cell !== undefined).length;
    const counts = {
      aggregate: countGiven([nulls, distinct]),
      range: countGiven([min, max]),
      frequent: frequent.length,
      declared: values.length,
    };
    return (['aggregate', 'range', 'frequent', 'declared'] as const)
      .map((kind) => ({ connection, source, column, kind, count: counts[kind] }))
      .filter(({ count }) => count > 0);
  });
}

/**
 * Numbers that tell rows apart lose all but two digits. Small ones may be codes, years or ratings,
 * and stay.
 */
function coarseNumber(value: number | undefined): number | undefined {
  if (value === undefined || Math.abs(value) < 10_000) return value;
  return Number(value.toPrecision(2));
}

function orderOfMagnitude(rows: number): string {
  return rows < 1 ? 'none' : `about 10^${Math.round(Math.log10(rows))}`;
}
