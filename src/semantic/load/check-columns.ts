import { didYouMean } from '../../lib/suggest.ts';
import { isWithin } from '../../sql/analyzer.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import { type Dialect, foldedName, type TableRef } from '../../sql/dialect.ts';
import type { Fragment } from '../../sql/fragment.ts';
import {
  conditionSide,
  findField,
  isCaseExact,
  type ModelDataset,
  type ModelRelationship,
  type SemanticModel,
} from '../model/model.ts';
import type { DatasetCheck, YamlPath } from './dataset-check.ts';
import { findTable } from './find-table.ts';

/** A table of the catalog. */
export interface PhysicalTable extends TableRef {
  readonly columns: readonly { readonly name: string }[];
}

/** A name that has to be a field or a column of `side`. */
interface ColumnUse {
  readonly path: YamlPath;
  /** Undefined if the name's dataset is unknown; then it is not checked. */
  readonly side: ModelDataset | undefined;
  readonly name: string;
  /** As written, with its quotes; undefined for a name that ktx quotes itself. */
  readonly written?: string;
  /**
   * The field in whose expression it stands. There, that field's name means the physical column.
   */
  readonly field?: string;
}

/** Hidden columns that engines give every table. */
const systemColumns = ['rowid', '_rowid_', 'oid', 'ctid', 'xmin', 'xmax', 'tableoid'];

/**
 * Warns of tables and columns that the catalog does not have; without a catalog, of names that look
 * like a misspelled field. These are not errors: the warehouse may have changed since the scan.
 */
export function checkColumns(
  model: SemanticModel,
  check: DatasetCheck,
  tables: readonly PhysicalTable[] | undefined,
): void {
  const { dialect } = model;
  if (tables !== undefined) checkTable(dialect, check, tables);
  for (const use of columnUses(model, check.dataset)) {
    const { side, name, path } = use;
    if (side === undefined) continue;
    const fields = [...side.fields.keys()];
    const columns =
      tables === undefined
        ? columnsWithoutCatalog(use, fields)
        : findTable(dialect, side.relation, tables)?.columns.map((column) => column.name);
    if (columns === undefined || isKnown(dialect, { ...use, side }, columns)) continue;
    const fault = tables === undefined ? 'declares no field' : 'has neither a field nor a column';
    const candidates = [...columns, ...fields].filter((candidate) => candidate !== name);
    check.warn(path, 'unknown_name', {
      message: `${side.name} ${fault} named ${name}`,
      hint: hintFor(name, candidates),
    });
  }
}

function checkTable(
  dialect: Dialect,
  { dataset: { relation }, warn }: DatasetCheck,
  tables: readonly PhysicalTable[],
): void {
  if (relation.kind !== 'table' || findTable(dialect, relation, tables) !== undefined) return;
  const name = relation.parts.join('.');
  const candidates = tables.flatMap(({ schema, table }) =>
    relation.parts.length === 1 ? [table] : [`${schema}.${table}`],
  );
  warn(['source'], 'unknown_name', {
    message: `The catalog has no table ${name}`,
    hint: hintFor(name, candidates),
  });
}

/**
 * Without a catalog, a joined column need not be a field. Empty (so that it counts as unknown) for
 * a name that looks like a misspelled field; undefined for others, which are not checked.
 */
function columnsWithoutCatalog(
  { written, field, name }: ColumnUse,
  fields: readonly string[],
): readonly string[] | undefined {
  if (written !== undefined || field !== undefined) return undefined;
  const similar = fields.filter((candidate) => Math.abs(candidate.length - name.length) <= 2);
  return didYouMean(name, similar) === undefined ? undefined : [];
}

function hintFor(name: string, candidates: readonly string[]): string {
  return didYouMean(name, candidates) ?? 'If it is new in the warehouse, `ktx ingest` reads it.';
}

function isKnown(
  dialect: Dialect,
  { side, name, written = '"', field }: ColumnUse & { side: ModelDataset },
  columns: readonly string[],
): boolean {
  const named = findField(side, name, isCaseExact(dialect, written));
  if (named !== undefined && named.name !== field) return true;
  const all = [...columns, ...systemColumns];
  if (dialect.ignoresCase) return all.some((column) => column.toLowerCase() === name.toLowerCase());
  return all.includes(written.startsWith('"') ? name : foldedName(name, dialect));
}

function columnUses(model: SemanticModel, dataset: ModelDataset): readonly ColumnUse[] {
  const usesIn = (
    references: readonly ColumnReference[],
    path: YamlPath,
    field?: string,
  ): readonly ColumnUse[] =>
    references.map(({ parts, written }) => ({
      path,
      side: datasetBehind(model, dataset, parts),
      name: parts.at(-1) ?? '',
      written,
      ...(field !== undefined && { field }),
    }));
  const fieldUses = [...dataset.fields.values()]
    .filter(({ rowMetric }) => rowMetric === undefined)
    .flatMap(({ name, expr }, index): readonly ColumnUse[] =>
      expr === undefined
        ? [{ path: ['fields', index, 'name'], side: dataset, name, field: name }]
        : usesIn(columnReferences(expr), ['fields', index, 'expr'], name),
    );
  const segmentUses = [...dataset.segments.values()].flatMap((where, index) =>
    usesIn(columnReferences(where), ['segments', index, 'where']),
  );
  const metricUses = [...dataset.metrics.values()].flatMap(({ where, definition }, index) => {
    const path = ['metrics', index];
    const whereUses = usesIn(columnReferences(where), [...path, 'where']);
    if (definition.kind === 'aggregate')
      return [...whereUses, ...usesIn(columnReferences(definition.of), [...path, 'of'])];
    // Names outside of aggregates are metrics.
    if (definition.kind === 'expression')
      return [
        ...whereUses,
        ...usesIn(aggregatedReferences(definition.fragment), [...path, 'expr']),
      ];
    return whereUses;
  });
  // Queries do not show the errors of row rules, so a wrong name in one must be found here.
  const accessUses = (dataset.access ?? []).flatMap(({ where }, index) =>
    usesIn(columnReferences(where), ['access', index, 'where']),
  );
  const joinUses = dataset.relationships.flatMap((relationship, index) =>
    joinColumnUses(model, dataset, { relationship, path: ['relationships', index, 'on'] }),
  );
  return [...fieldUses, ...segmentUses, ...metricUses, ...accessUses, ...joinUses];
}

function joinColumnUses(
  model: SemanticModel,
  dataset: ModelDataset,
  { relationship, path }: { readonly relationship: ModelRelationship; readonly path: YamlPath },
): readonly ColumnUse[] {
  const { to, condition, equal } = relationship;
  const sides = { own: dataset, target: model.datasets.get(to), none: undefined };
  if (condition === undefined) {
    return equal.flatMap(({ own = '', target = '' }) => [
      { path, side: dataset, name: own },
      { path: [...path, own], side: sides.target, name: target },
    ]);
  }
  return columnReferences(condition).map(({ parts, written }) => ({
    path,
    side: sides[conditionSide(relationship, parts) ?? 'none'],
    name: parts.at(-1) ?? '',
    written,
  }));
}

/** The references of a fragment. Empty if it has a lambda, because a lambda declares names. */
function columnReferences(fragment: Fragment | undefined): readonly ColumnReference[] {
  return fragment === undefined || /->|\blambda\b/i.test(fragment.text) ? [] : fragment.references;
}

function aggregatedReferences(fragment: Fragment): readonly ColumnReference[] {
  return columnReferences(fragment).filter((reference) =>
    fragment.aggregates.some((call) => isWithin(reference, call)),
  );
}

/**
 * The dataset that a name belongs to: bare names to `dataset`, others to the end of their roles.
 * Undefined if there is none.
 */
function datasetBehind(
  model: SemanticModel,
  dataset: ModelDataset,
  parts: readonly string[],
): ModelDataset | undefined {
  const startsWithOwnName = parts[0] === dataset.name && parts.length > 1;
  const roles = parts.slice(startsWithOwnName ? 1 : 0, -1);
  return roles.reduce<ModelDataset | undefined>((side, role) => {
    if (side === undefined) return undefined;
    const target = side.relationships.find(({ name }) => name === role)?.to ?? role;
    return model.datasets.get(target);
  }, dataset);
}
