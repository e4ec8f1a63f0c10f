import { subjects } from '../../context/claims/claim.ts';
import { findBodyError } from '../../context/compile/compile.ts';
import type { Json } from '../../lib/json.ts';
import type { ClaimCollector, ItemPlace } from '../claim-collector.ts';
import { claimSemanticModels, type SemanticModelSource } from '../claim-semantic-models.ts';
import type { TimeSpineSource } from '../claim-time-spines.ts';
import type { FindTable, KnownTable } from '../table-finder.ts';
import type {
  DbtExposure,
  DbtOwner,
  DbtProject,
  DbtRelation,
  DbtSemanticModel,
  DbtTest,
  DbtTestTarget,
} from './dbt-project.ts';

/** Claims what the project says about tables that a warehouse has. */
export function claimProject(
  project: DbtProject,
  findTable: FindTable,
  collector: ClaimCollector,
): void {
  for (const { place, reason } of project.faults) collector.addProblem(place, reason);
  for (const { place, ...statement } of project.leftOut) collector.leaveOut(place, statement);
  const tables = matchTables(project, findTable, collector);
  for (const relation of project.relations.values()) {
    const table = tables.get(relation.id);
    if (relation.isEphemeral) claimEphemeral(relation, tables, collector);
    else if (table === undefined) leaveOutRelation(relation, collector);
    else claimRelation(relation, table, { tables, collector });
  }
  const models = project.semanticModels.map((model): SemanticModelSource => {
    return { ...model, table: tables.get(model.model ?? '') ?? noTable(model, project) };
  });
  const { metrics, savedQueries } = project;
  const timeSpines = [...project.relations.values()].flatMap((relation) =>
    timeSpineOf(relation, tables.get(relation.id)),
  );
  const metricSubjects = claimSemanticModels(
    { models, metrics, savedQueries, timeSpines },
    collector,
  );
  for (const exposure of project.exposures)
    claimExposure(exposure, { tables, metricSubjects }, collector);
}

/** Before version 1.9, dbt knew the time spine by the name of its model. */
const earlierTimeSpine = { model: 'metricflow_time_spine', column: 'date_day', grain: 'day' };

/** The time spine that the relation is, if it is one. */
function timeSpineOf(
  { kind, name, timeSpine, isVirtual, place }: DbtRelation,
  table: KnownTable | undefined,
): readonly TimeSpineSource[] {
  const missing = isVirtual
    ? 'its model is ephemeral or disabled'
    : 'its model has no table in the warehouse';
  if (timeSpine !== undefined) return [{ ...timeSpine, name, table: table ?? { missing } }];
  const { model, column, grain } = earlierTimeSpine;
  if (kind !== 'model' || name !== model || table?.field(column) === undefined) return [];
  return [{ name, table, column, grain, customGranularities: [], place }];
}

function noTable({ model, raw }: DbtSemanticModel, { relations }: DbtProject) {
  if (relations.has(model ?? '')) return { missing: 'its model has no table in the warehouse' };
  return { missing: `there is no model ${JSON.stringify(raw['model'] ?? raw['name'])}` };
}

/** Tables by the unique id of their relation. */
type TablesById = ReadonlyMap<string, KnownTable>;

/**
 * Finds the table of each relation. Tables of sources come first: no model can then have the table
 * of a source, whatever it is called. A seed can: projects load a table from a file and read it as
 * a source.
 */
function matchTables(
  { relations }: DbtProject,
  findTable: FindTable,
  collector: ClaimCollector,
): TablesById {
  const tables = new Map<string, KnownTable>();
  const ofSources = new Set<KnownTable>();
  const missing: DbtRelation[] = [];
  const sourcesFirst = [...relations.values()].toSorted(
    (a, b) => Number(b.kind === 'source') - Number(a.kind === 'source'),
  );
  for (const relation of sourcesFirst.filter(({ isVirtual }) => !isVirtual)) {
    const match = findTable(
      relation,
      relation.isExact || relation.kind === 'seed' ? new Set() : ofSources,
    );
    if (match.kind === 'ambiguous') {
      const candidates = match.candidates.join(' or ');
      const reason = `${relation.kind} ${relation.name} could be ${candidates}; set warehouse or target_schema in ktx.yaml`;
      collector.addProblem(relation.place, reason);
    } else if (match.kind === 'missing') {
      // The warehouse connection does not read that schema.
      if (!match.isOutside) missing.push(relation);
    } else {
      tables.set(relation.id, match.table);
      if (relation.kind === 'source') ofSources.add(match.table);
    }
  }
  for (const group of Map.groupBy(missing, ({ place }) => place.key).values()) {
    const [first] = group;
    const names = group.map(({ name }) => name).join(', ');
    if (first) collector.addProblem(first.place, `no table in the warehouse for ${names}`);
  }
  return tables;
}

/**
 * An ephemeral model has no table: what is said about it becomes a term, which leads to the
 * datasets that its SQL is part of.
 */
function claimEphemeral(
  { name, description, columns, tests, readers = [], owner }: DbtRelation,
  tables: TablesById,
  collector: ClaimCollector,
): void {
  for (const { place } of tests)
    collector.leaveOut(place, { what: 'test of an ephemeral model', name });
  const described = columns.filter((column) => column.description !== undefined);
  const place = description?.place ?? described[0]?.description?.place;
  if (place === undefined) return;
  const title = `${name} (ephemeral model)`;
  const subject = subjects.term(title);
  const lines = described.map((column) => `- \`${column.name}\`: ${column.description?.text}`);
  const text = [...(description ? [description.text] : []), ...lines.slice(0, 1)].join('\n\n');
  const body = [text, ...lines.slice(1)].join('\n');
  collector.addClaim(place, { subject, kind: 'title', body: title });
  collector.addClaim(place, { subject, kind: 'page', body: 'ephemeral_models' });
  collector.addClaim(place, { subject, kind: 'description', body });
  for (const column of described) if (column.description) collector.count(column.description.place);
  const refs = readers.flatMap((id) => {
    const table = tables.get(id);
    return table === undefined ? [] : [subjects.dataset(table.connection, table.dataset)];
  });
  if (refs.length > 0) collector.addClaim(place, { subject, kind: 'refs', body: refs.toSorted() });
  if (owner) claimOwner(subject, owner, collector);
}

/** What is said about a relation without a table stays unread. */
function leaveOutRelation(relation: DbtRelation, collector: ClaimCollector): void {
  const { name, isVirtual, isUnresolved, description, columns, tests } = relation;
  const disabled = isVirtual ? 'a disabled relation' : 'a relation without a table';
  const owner = isUnresolved === true ? 'a relation whose table is not resolved' : disabled;
  const descriptions = [description, ...columns.map((column) => column.description)];
  for (const described of descriptions)
    if (described) collector.leaveOut(described.place, { what: `description of ${owner}`, name });
  for (const { place } of tests) collector.leaveOut(place, { what: `test of ${owner}`, name });
}

interface ClaimContext {
  readonly tables: TablesById;
  readonly collector: ClaimCollector;
}

function claimRelation(relation: DbtRelation, table: KnownTable, context: ClaimContext): void {
  const { collector } = context;
  const subject = subjects.dataset(table.connection, table.dataset);
  const { description, tags, layer, owner } = relation;
  if (description)
    collector.addClaim(description.place, { subject, kind: 'description', body: description.text });
  const [firstTag] = tags;
  if (firstTag) {
    const body = [...new Set(tags.map(({ name }) => name))].sort();
    collector.addClaim(firstTag.place, { subject, kind: 'tags', body });
  }
  if (owner) claimOwner(subject, owner, collector);
  if (layer) {
    // A source of one project can be the mart of another.
    const confidence = relation.kind === 'source' ? 0.5 : 1;
    const claim = { subject, kind: 'layer', body: layer, confidence, isDerived: true } as const;
    collector.addClaim(relation.place, claim);
  }
  claimColumns(relation, table, collector);
  const tests = relation.tests.filter(
    ({ name, columns }) =>
      (columns.length > 0 || name === 'constraint') &&
      columns.every((column) => table.field(column)),
  );
  reportUnknownColumns(relation, table, collector);
  claimKeys(tests, table, collector);
  for (const test of tests) {
    if (test.name === 'accepted_values') claimValues(test, table, collector);
    if (test.target !== undefined) claimRelationship(test, test.target, { ...context, table });
    if (test.condition !== undefined)
      collector.addClaim(test.place, { subject, kind: 'constraint', body: test.condition });
  }
  for (const { written, place } of relation.tests)
    if (written !== undefined)
      collector.leaveOut(place, { what: `test ${written}`, name: relation.name });
}

function claimColumns(
  { columns }: DbtRelation,
  { connection, dataset, field }: KnownTable,
  collector: ClaimCollector,
): void {
  for (const { name, description } of columns) {
    const own = field(name);
    if (own === undefined || description === undefined) continue;
    const subject = subjects.field(connection, dataset, own);
    collector.addClaim(description.place, { subject, kind: 'description', body: description.text });
  }
}

/**
 * One problem for a relation, at the first place that names a column which its table does not have.
 */
function reportUnknownColumns(
  { name: relation, columns, tests, place }: DbtRelation,
  table: KnownTable,
  collector: ClaimCollector,
): void {
  const named = [
    ...columns.map(({ name, description }) => ({ name, place: description?.place ?? place })),
    ...tests.flatMap((test) => test.columns.map((name) => ({ name, place: test.place }))),
  ];
  const places = new Map<string, ItemPlace>();
  for (const column of named)
    if (table.field(column.name) === undefined) places.set(column.name, column.place);
  const [firstPlace] = places.values();
  const names = [...places.keys()].join(', ');
  if (firstPlace) collector.addProblem(firstPlace, `${relation}: the table has no column ${names}`);
}

/** Columns as fields, joined to compare two keys. */
function fieldsOf({ columns }: DbtTest, table: KnownTable): string[] {
  return columns.map((column) => table.field(column) ?? column);
}

/**
 * Claims primary and unique keys. A declared primary key is the primary one. Without it, a unique
 * key that is never null is primary, provided that it is the only one.
 */
function claimKeys(tests: readonly DbtTest[], table: KnownTable, collector: ClaimCollector): void {
  const subject = subjects.dataset(table.connection, table.dataset);
  const keyOf = (test: DbtTest) => fieldsOf(test, table).join();
  const named = (name: string) => tests.filter((test) => test.name === name);
  const notNull = new Set(named('not_null').flatMap((test) => fieldsOf(test, table)));
  const unique = [...new Map(named('unique').map((test) => [keyOf(test), test])).values()];
  const neverNull = unique.filter((test) =>
    fieldsOf(test, table).every((field) => notNull.has(field)),
  );
  const declared = named('primary_key').slice(0, 1);
  const onlyOne = neverNull.length === 1 ? neverNull : [];
  const primary = declared.length > 0 ? declared : onlyOne;
  const claimKey = (test: DbtTest, kind: 'primary_key' | 'unique_key') =>
    collector.addClaim(test.place, { subject, kind, body: fieldsOf(test, table) });
  for (const test of primary) claimKey(test, 'primary_key');
  const primaryKeys = new Set(primary.map(keyOf));
  for (const test of unique) if (!primaryKeys.has(keyOf(test))) claimKey(test, 'unique_key');
  const inPrimaryKey = new Set(primary.flatMap((test) => fieldsOf(test, table)));
  for (const test of named('not_null'))
    for (const field of fieldsOf(test, table))
      if (inPrimaryKey.has(field)) collector.count(test.place);
      else
        collector.addClaim(test.place, {
          subject,
          kind: 'constraint',
          body: `${field} is not null`,
        });
}

function claimValues(test: DbtTest, table: KnownTable, collector: ClaimCollector): void {
  const [field] = fieldsOf(test, table);
  const values = (test.values ?? []).filter(
    (value): value is string | number | boolean =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
  );
  if (field === undefined || values.length === 0) return;
  const subject = subjects.field(table.connection, table.dataset, field);
  collector.addClaim(test.place, { subject, kind: 'values', body: values });
}

function claimRelationship(
  test: DbtTest,
  target: DbtTestTarget,
  { table, tables, collector }: ClaimContext & { readonly table: KnownTable },
): void {
  const { connection, dataset } = table;
  const fields = fieldsOf(test, table);
  const targetTable = tables.get(target.id ?? '');
  const targetFields = target.columns.flatMap((column) => targetTable?.field(column) ?? []);
  const fault = targetFault(target, targetTable, { connection, count: fields.length });
  if (targetTable === undefined || fault !== undefined) {
    const written = `${dataset}.${fields.join(', ')} refers to ${target.written}`;
    return collector.addProblem(test.place, `${written}, which ${fault}`);
  }
  const on = Object.fromEntries(
    fields.map((own, index): [string, Json] => [own, targetFields[index] ?? own]),
  );
  collector.addClaim(test.place, {
    subject: subjects.relationship(connection, dataset, fields),
    kind: 'relationship',
    body: { to: targetTable.dataset, on, cardinality: 'many_to_one' },
  });
}

/** Why there can be no join to the target; `count` is how many columns the join needs. */
function targetFault(
  { id, columns }: DbtTestTarget,
  table: KnownTable | undefined,
  { connection, count }: { readonly connection: string; readonly count: number },
): string | undefined {
  if (id === undefined) return 'the project does not have';
  if (table === undefined) return 'has no table in the warehouse';
  if (table.connection !== connection) return `is in the warehouse ${table.connection}`;
  const hasColumns = columns.length === count && columns.every((column) => table.field(column));
  return hasColumns ? undefined : `has no ${columns.join(', ') || 'field named'}`;
}

/** Each exposure becomes a term on a wiki page of its own, which names the datasets behind it. */
function claimExposure(
  { title, type, description, place, dependsOn, metrics, owner, url, maturity }: DbtExposure,
  {
    tables,
    metricSubjects,
  }: Pick<ClaimContext, 'tables'> & { readonly metricSubjects: ReadonlyMap<string, string> },
  collector: ClaimCollector,
): void {
  const name = `${title} (${type})`;
  const subject = subjects.term(name);
  const datasets = dependsOn
    .flatMap((id) => tables.get(id) ?? [])
    .map(({ connection, dataset }) => subjects.dataset(connection, dataset));
  collector.addClaim(place, { subject, kind: 'title', body: name });
  collector.addClaim(place, { subject, kind: 'page', body: 'exposures' });
  if (description !== '')
    collector.addClaim(place, { subject, kind: 'description', body: description });
  const used = [...datasets, ...metrics.flatMap((metric) => metricSubjects.get(metric) ?? [])];
  if (used.length > 0)
    collector.addClaim(place, { subject, kind: 'refs', body: [...new Set(used)].sort() });
  if (owner) claimOwner(subject, owner, collector);
  if (url && findBodyError({ kind: 'url', body: url.address }) === undefined)
    collector.addClaim(url.place, { subject, kind: 'url', body: url.address });
  else if (url) collector.leaveOut(url.place, { what: 'url that is no web address', name: title });
  if (maturity) {
    const body = [`maturity ${maturity.level}`];
    collector.addClaim(maturity.place, { subject, kind: 'tags', body });
  }
}

function claimOwner(
  subject: string,
  { text, place, confidence }: DbtOwner,
  collector: ClaimCollector,
): void {
  collector.addClaim(place, { subject, kind: 'owner', body: text, confidence });
}
