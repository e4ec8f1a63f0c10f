import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import type { NamedDataset } from '../../context/claims/name-index.ts';
import type { ColumnProfile } from '../../scan/profile/table-profile.ts';
import { maySendValues, type SendSettings } from '../../scan/profile/send-policy.ts';
import { readValueDictionary } from '../../scan/profile/value-dictionary.ts';
import { openScanStore } from '../../scan/scan-store.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { State } from '../../store/state.ts';
import { refusal, resolveDataset } from '../extract/proposals/resolve-names.ts';
import type { Snapshot } from '../project-snapshot.ts';

/** What decides about the columns of an aggregate. */
export interface ColumnRules {
  readonly snapshot: Snapshot;
  readonly state: State;
  readonly send: SendSettings;
}

/** A column that an aggregate may use, and how. */
export interface AggregatableColumn {
  readonly field: string;
  readonly name: string;
  /** Numbers that may be added up: not keys, and not personal. */
  readonly isMeasure: boolean;
  /**
   * The values that may name a group; undefined if the column may not group. `any`: every one of
   * few.
   */
  readonly groups: ReadonlySet<string> | 'any' | undefined;
}

export interface AggregateTable {
  readonly connection: string;
  readonly dataset: string;
  readonly table: CatalogTable;
  /** Refuses an unknown or hidden field. */
  column(field: string): AggregatableColumn;
}

/** Columns with more distinct numbers do not group. */
const maxDistinct = 50;

/** The table of a dataset, and what an aggregate may do with its columns. */
export function openAggregateTable(rules: ColumnRules, datasetName: string): AggregateTable {
  const { snapshot } = rules;
  const owner = resolveDataset(snapshot, datasetName);
  const { connection, dataset } = owner;
  const catalog = snapshot.catalogs.find((known) => known.connection === connection);
  const names = catalog && datasetNames(catalog);
  const table = catalog?.tables.find((candidate) => names?.dataset(candidate) === dataset);
  if (names === undefined || table === undefined) throw refusal(`${dataset} has no table.`);
  const file = snapshot.dataset(connection, dataset);
  const describeColumn = columnReader(rules, { owner, table, file });
  return {
    connection,
    dataset,
    table,
    column(field) {
      const found = table.columns.find(({ name }) =>
        [names.field(table, name), name].includes(field),
      );
      const isHidden = file?.fields?.some(({ name, hidden }) => name === field && hidden === true);
      if (found === undefined || isHidden === true)
        throw refusal(`${dataset} has no column ${field}. entity_details lists its columns.`);
      return describeColumn(found, field);
    },
  };
}

interface TableFiles {
  readonly owner: NamedDataset;
  readonly table: CatalogTable;
  readonly file: Dataset | undefined;
}

type CatalogColumn = CatalogTable['columns'][number];

function columnReader({ snapshot, state, send }: ColumnRules, { owner, table, file }: TableFiles) {
  const { connection } = owner;
  const key = tableKey(table);
  const profile = openScanStore(state.db, connection).profile(key)?.profile;
  const dictionary = readValueDictionary(state.db, connection).filter(
    (entry) => tableKey(entry.table) === key,
  );
  const keys = keyColumns(table, file);
  return (column: CatalogColumn, field: string): AggregatableColumn => {
    const { name, type } = column;
    const measured = profile?.columns.find((candidate) => candidate.name === name);
    const stored = dictionary.find((entry) => entry.column === name)?.values ?? [];
    const isKey = keys.has(name) || keys.has(field);
    const label = snapshot.labels.of(connection, table, name);
    const isOpen = maySendValues(send, { table, column: name, label, profile: measured }) && !isKey;
    return {
      field,
      name,
      isMeasure: isOpen && (type === 'integer' || type === 'decimal'),
      groups: isOpen ? groupValues(column, measured, stored) : undefined,
    };
  };
}

/**
 * Text groups by the values that the scan keeps or the database declares; numbers and booleans if
 * they are few.
 */
function groupValues(
  { type, values = [] }: CatalogColumn,
  measured: ColumnProfile | undefined,
  stored: readonly string[],
): AggregatableColumn['groups'] {
  if (type === 'boolean') return 'any';
  if (type === 'integer')
    return measured !== undefined && measured.distinct <= maxDistinct ? 'any' : undefined;
  const known = new Set([...values, ...stored]);
  return type === 'string' && known.size > 0 ? known : undefined;
}

/** Columns that tell rows or what they refer to apart. */
function keyColumns(table: CatalogTable, file: Dataset | undefined): ReadonlySet<string> {
  const joined = (file?.relationships ?? []).flatMap(({ on }) =>
    typeof on === 'object' ? Object.keys(on) : [],
  );
  return new Set([
    ...(table.primaryKey ?? []),
    ...table.uniqueKeys.flat(),
    ...table.foreignKeys.flatMap(({ columns }) => columns),
    ...(Array.isArray(file?.primary_key) ? file.primary_key : []),
    ...joined,
  ]);
}
