import { didYouMean } from '../../lib/suggest.ts';
import type { Dialect, TableRef } from '../../sql/dialect.ts';
import type { Fragment } from '../../sql/fragment.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import type { DatasetCheck } from './report.ts';
import { isWithin } from '../../sql/analyzer.ts';
import {
  findField,
  isCaseExact,
  type ModelDataset,
  conditionSide,
  type SemanticModel,
} from '../model/model.ts';
import type { Relation } from '../relational/query-tree.ts';

/** A table that the catalog has. */
export interface PhysicalTable extends TableRef {
  readonly columns: readonly { readonly name: string }[];
}

/** A name that has to be a field or column of `side`. */
interface ColumnUse {
  readonly path: readonly PropertyKey[];
  readonly side: ModelDataset | undefined;
  readonly name: string;
  /** With its quotes; absent where ktx writes them. */
  readonly written?: string;
  /** The field in whose expression it stands; there, its name means the column. */
  readonly field?: string;
}

/** Hidden columns that engines give every table. */
const systemColumns = ['rowid', '_rowid_', 'oid', 'ctid', 'xmin', 'xmax', 'tableoid'];

/** Warns of tables and columns that the catalog does not have. No errors: the warehouse may have grown since. */
export function checkColumns(
  model: SemanticModel,
  checked: DatasetCheck,
  tables: readonly PhysicalTable[] | undefined,
): void {
  const { dialect } = model;
  const { dataset, warn } = checked;
  const { relation } = dataset;
  if (
    tables !== undefined &&
    relation.kind === 'table' &&
    findTable(dialect, relation, tables) === undefined
  ) {
    const names = tables.flatMap(({ schema, table }) =>
      relation.parts.length === 1 ? [table] : [`${schema}.${table}`],
    );
    const name = relation.parts.join('.');
    warn(['source'], 'unknown_name', {
      message: `The catalog has no table ${name}`,
      hint: hintFor(name, names),
    });
  }
  for (const use of columnUses(model, dataset)) {
    const { side, name, path } = use;
    if (side === undefined) continue;
    const fields = [...side.fields.keys()];
    const columns =
      tables === undefined
        ? unlikeFields(use, fields)
        : findTable(dialect, side.relation, tables)?.columns.map((column) => column.name);
    if (columns === undefined || isKnown(dialect, { ...use, side }, columns)) continue;
    const what = tables === undefined ? 'declares no field' : 'has neither a field nor a column';
    const message = `${side.name} ${what} named ${name}`;
    const others = [...columns, ...fields].filter((one) => one !== name);
    warn(path, 'unknown_name', { message, hint: hintFor(name, others) });
  }
}

/** Without a catalog, a joined column need not be a field: only one that looks like a slip of one is worth a word. */
function unlikeFields(
  { written, field, name }: ColumnUse,
  fields: readonly string[],
): readonly string[] | undefined {
  const similar = fields.filter((one) => Math.abs(one.length - name.length) <= 2);
  return written === undefined && field === undefined && didYouMean(name, similar) !== undefined
    ? []
    : undefined;
}

function hintFor(name: string, known: readonly string[]): string {
  return didYouMean(name, known) ?? 'If it is new in the warehouse, `ktx ingest` reads it.';
}

/** Without a schema, the default one goes first: which others the engine searches is not known here. */
function findTable(
  dialect: Dialect,
  relation: Relation,
  tables: readonly PhysicalTable[],
): PhysicalTable | undefined {
  if (relation.kind === 'query') return undefined;
  const same = (a: string, b: string) =>
    a === b || (dialect.ignoresCase && a.toLowerCase() === b.toLowerCase());
  const [table = '', schema, catalog] = relation.parts.toReversed();
  const named = tablesByName(tables).get(table.toLowerCase()) ?? [];
  const found = named.filter(
    (one) => same(one.table, table) && same(one.schema, schema ?? one.schema),
  );
  const inCatalog = found.filter((one) =>
    same(one.catalog ?? catalog ?? '', catalog ?? one.catalog ?? ''),
  );
  return inCatalog.find((one) => same(one.schema, dialect.defaultSchema)) ?? inCatalog[0];
}

const tableIndexes = new WeakMap<
  readonly PhysicalTable[],
  ReadonlyMap<string, readonly PhysicalTable[]>
>();

/** In small letters. */
function tablesByName(
  tables: readonly PhysicalTable[],
): ReadonlyMap<string, readonly PhysicalTable[]> {
  const index = tableIndexes.get(tables) ?? Map.groupBy(tables, ({ table }) => table.toLowerCase());
  tableIndexes.set(tables, index);
  return index;
}

function isKnown(
  dialect: Dialect,
  { side, name, written = '"', field }: ColumnUse & { side: ModelDataset },
  columns: readonly string[],
): boolean {
  const known = findField(side, name, isCaseExact(dialect, written));
  if (known !== undefined && known.name !== field) return true;
  if (dialect.ignoresCase)
    return [...columns, ...systemColumns].some(
      (column) => column.toLowerCase() === name.toLowerCase(),
    );
  return [...columns, ...systemColumns].includes(
    written.startsWith('"') ? name : name.toLowerCase(),
  );
}

function columnUses(model: SemanticModel, dataset: ModelDataset): readonly ColumnUse[] {
  const named = (
    references: readonly ColumnReference[],
    path: ColumnUse['path'],
    field?: string,
  ): readonly ColumnUse[] =>
    references.map(({ parts, written }) => {
      return {
        path,
        side: datasetBehind(model, dataset, parts),
        name: parts.at(-1) ?? '',
        written,
        ...(field !== undefined && { field }),
      };
    });
  const all = (fragment: Fragment | undefined, path: ColumnUse['path']) =>
    named(columnReferences(fragment), path);
  return [
    ...[...dataset.fields.values()]
      .filter(({ measure }) => measure === undefined)
      .flatMap(({ name, expr }, index) =>
        expr === undefined
          ? [{ path: ['fields', index, 'name'], side: dataset, name, field: name }]
          : named(columnReferences(expr), ['fields', index, 'expr'], name),
      ),
    ...[...dataset.segments.values()].flatMap((where, index) =>
      all(where, ['segments', index, 'where']),
    ),
    ...[...dataset.metrics.values()].flatMap(({ where, definition }, index) => [
      ...all(where, ['metrics', index, 'where']),
      ...(definition.kind === 'aggregate' ? all(definition.of, ['metrics', index, 'of']) : []),
      // Outside of aggregates stand metrics.
      ...(definition.kind === 'expression'
        ? named(aggregatedReferences(definition.fragment), ['metrics', index, 'expr'])
        : []),
    ]),
    // A wrong one of these fails in words that are withheld.
    ...(dataset.access ?? []).flatMap(({ where }, index) => all(where, ['access', index, 'where'])),
    ...dataset.relationships.flatMap((relationship, index): readonly ColumnUse[] => {
      const { to, condition, equal } = relationship;
      const path = ['relationships', index, 'on'];
      const sides = { own: dataset, target: model.datasets.get(to), none: undefined };
      if (condition === undefined) {
        return equal.flatMap(({ own = '', target = '' }) => [
          { path, side: dataset, name: own },
          { path: [...path, own], side: sides.target, name: target },
        ]);
      }
      return columnReferences(condition).map(({ parts, written }) => {
        return {
          path,
          side: sides[conditionSide(relationship, parts) ?? 'none'],
          name: parts.at(-1) ?? '',
          written,
        };
      });
    }),
  ];
}

/** None where a lambda brings names of its own. */
function columnReferences(fragment: Fragment | undefined): readonly ColumnReference[] {
  return fragment === undefined || /->|\blambda\b/i.test(fragment.text) ? [] : fragment.references;
}

function aggregatedReferences(fragment: Fragment): readonly ColumnReference[] {
  return columnReferences(fragment).filter((reference) =>
    fragment.aggregates.some((call) => isWithin(reference, call)),
  );
}

/** Whose name it is: bare, or behind roles, which the dataset's own name may lead; undefined for what leads nowhere. */
function datasetBehind(
  model: SemanticModel,
  dataset: ModelDataset,
  parts: readonly string[],
): ModelDataset | undefined {
  const roles = parts.slice(parts[0] === dataset.name && parts.length > 1 ? 1 : 0, -1);
  return roles.reduce<ModelDataset | undefined>((side, role) => {
    return (
      side && model.datasets.get(side.relationships.find(({ name }) => name === role)?.to ?? role)
    );
  }, dataset);
}
