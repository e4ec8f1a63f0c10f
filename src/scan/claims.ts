import type { CatalogTable, KeyFinding, LinkFinding, ScanFindings } from '../context/catalog.ts';
import { subjects, type Claim, type Evidence } from '../context/claim.ts';
import { datasetNames } from '../context/names.ts';
import { canonicalJson, type Json } from '../lib/json.ts';
import { sameTable, tableKey } from '../sql/dialect.ts';

/**
 * What a scan claims, in an order that does not depend on the findings' order. Evidence is coarse: new rows of a day change
 * no byte. Accepted findings only; links in doubt are for `ktx scan` to show.
 */
export function claimsOf(findings: ScanFindings): Claim[] {
  const { catalog } = findings;
  const names = datasetNames(catalog);
  const { connection } = catalog;
  const tables = new Map(catalog.tables.map((table) => [tableKey(table), table]));
  const claims = catalog.tables.flatMap((table) => {
    const dataset = names.dataset(table);
    const about = subjects.dataset(connection, dataset);
    const evidence = (origin: 'catalog' | 'code', extractor: string, more: Partial<Evidence> = {}): readonly Evidence[] => [
      { connection, origin, extractor, item: `sources/${connection}/${table.schema}.jsonl`, location: table.table, confidence: 1, ...more },
    ];
    const structure = evidence('catalog', 'structure@1');
    const field = (column: string): string => names.field(table, column);
    const own = (kind: Claim['kind'], body: Json, because = structure): Claim => ({ subject: about, kind, body, evidence: because });
    const keys = findings.primaryKeys.filter((key) => sameTable(key.table, table) && key.status === 'accepted');
    const links = findings.links.filter((link) => sameTable(link.from.table, table) && link.status === 'accepted');
    const { catalog: database, schema } = table;
    return [
      own('dataset', { source: { ...(database === undefined ? {} : { catalog: database }), schema, table: table.table }, kind: table.kind }),
      ...(table.comment ? [own('description', table.comment)] : []),
      ...table.uniqueKeys.map((key) => own('unique_key', key.map(field))),
      ...keys.map((key) => own('primary_key', key.columns.map(field), evidence(...judged(key, 'keys@1')))),
      ...timeColumns(table).map((column) => own('default_time', field(column))),
      ...fieldClaims(table, (column) => subjects.field(connection, dataset, field(column)), structure),
      { subject: subjects.metric(connection, dataset, countName(table.columns.map(({ name }) => field(name)))), kind: 'metric' as const, body: { agg: 'count' }, evidence: evidence('code', 'count@1') },
      ...links.flatMap((link): Claim[] => {
        const target = tables.get(tableKey(link.to.table));
        if (!target) return [];
        const on = Object.fromEntries(link.from.columns.map((column, index) => [field(column), names.field(target, link.to.columns[index] ?? '')]));
        const body = { to: names.dataset(target), on, ...(link.role === undefined ? {} : { role: link.role }), cardinality: link.cardinality };
        return [{ subject: subjects.relationship(connection, dataset, link.from.columns.map(field)), kind: 'relationship', body, evidence: evidence(...judged(link, 'relationships@1')) }];
      }),
    ];
  });
  return claims.map((claim) => ({ claim, order: canonicalJson(claim) })).sort((a, b) => (a.order < b.order ? -1 : 1)).map(({ claim }) => claim);
}


function fieldClaims(table: CatalogTable, subject: (column: string) => string, structure: readonly Evidence[]): Claim[] {
  return table.columns.flatMap((column, index) => {
    const about = subject(column.name);
    const claim = (kind: Claim['kind'], body: Json): Claim => ({ subject: about, kind, body, evidence: structure });
    return [
      claim('field', { column: column.name, position: index + 1 }),
      claim('type', column.type),
      ...(column.values ? [claim('values', column.values)] : []),
      ...(column.comment ? [claim('description', column.comment)] : []),
    ];
  });
}

/** The one column that can only be meant by "when". */
function timeColumns(table: CatalogTable): string[] {
  const times = table.columns.filter(({ type }) => type === 'date' || type === 'datetime' || type === 'datetime_tz');
  return times.length === 1 ? times.map(({ name }) => name) : [];
}

/** `count`, so that it reads `orders.count`; a dataset with a field of that name counts as `row_count`. */
function countName(fields: readonly string[]): string {
  const taken = new Set(fields.map((name) => name.toLowerCase()));
  const free = ['count', 'row_count', 'rows_count'].find((name) => !taken.has(name));
  return free ?? `count_${fields.length}`;
}

function judged(found: KeyFinding | LinkFinding, extractor: string): ['catalog' | 'code', string, Partial<Evidence>] {
  if (found.origin === 'declared') return ['catalog', extractor, {}];
  const confidence = found.probability >= 0.9 ? 0.9 : found.probability >= 0.7 ? 0.7 : 0.5;
  const { measured, containment, name_similarity: name } = found.evidence;
  if (typeof containment !== 'number' || measured !== true) return ['code', extractor, { confidence }];
  const orphans = containment >= 1 ? 'none' : containment >= 0.98 ? 'under 2% of the values' : 'more than 2% of the values';
  return ['code', extractor, { confidence, measured: { orphans, ...(typeof name === 'number' ? { names: name >= 0.85 ? 'match' : name >= 0.5 ? 'resemble' : 'differ' } : {}) } }];
}
