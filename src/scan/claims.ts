import type { CatalogTable, DatasetNames, KeyFinding, LinkFinding, ScanFindings } from '../context/catalog.ts';
import { subjects, type Claim, type Evidence } from '../context/claim.ts';
import { datasetNames } from '../context/names.ts';
import { canonicalJson, type Json } from '../lib/json.ts';
import { sameTable } from '../sql/dialect.ts';

/**
 * What a scan claims, in an order that does not depend on the findings' order. Evidence is coarse: new rows of a day change
 * no byte. Accepted findings only; links in doubt are for `ktx scan` to show.
 */
export function claimsOf(findings: ScanFindings): Claim[] {
  const names = datasetNames(findings.catalog);
  const claims = findings.catalog.tables.flatMap((table) => tableClaims(table, names, findings));
  const ordered = claims.map((claim) => ({ claim, order: canonicalJson(claim) }));
  return ordered.sort((a, b) => (a.order < b.order ? -1 : 1)).map(({ claim }) => claim);
}

function tableClaims(table: CatalogTable, names: DatasetNames, { catalog: { connection }, primaryKeys, links }: ScanFindings): Claim[] {
  const dataset = names.dataset(table);
  const field = (column: string): string => names.field(table, column);
  const place = { connection, item: `sources/${connection}/${table.schema}.jsonl`, location: table.table };
  const structure: Evidence = { ...place, origin: 'catalog', extractor: 'structure@1', confidence: 1 };
  const claim = (about: Pick<Claim, 'subject' | 'kind'>, body: Json, evidence = structure): Claim => ({
    ...about,
    body,
    evidence: [evidence],
  });
  const of = (subject: string, kind: Claim['kind']) => ({ subject, kind });
  const about = subjects.dataset(connection, dataset);
  const count = subjects.metric(connection, dataset, countName(table.columns.map(({ name }) => field(name))));
  const source = { ...(table.catalog === undefined ? {} : { catalog: table.catalog }), schema: table.schema, table: table.table };
  const times = table.columns.filter(({ type }) => type === 'date' || type === 'datetime' || type === 'datetime_tz');
  const key = primaryKeys.filter((found) => found.status === 'accepted' && sameTable(found.table, table));
  const outgoing = links.filter((link) => link.status === 'accepted' && sameTable(link.from.table, table));
  return [
    claim(of(about, 'dataset'), { source, kind: table.kind }),
    ...(table.comment ? [claim(of(about, 'description'), table.comment)] : []),
    ...table.uniqueKeys.map((columns) => claim(of(about, 'unique_key'), columns.map(field))),
    ...key.map((found) => claim(of(about, 'primary_key'), found.columns.map(field), { ...place, ...judgement(found, 'keys@1') })),
    ...(times.length === 1 ? times.map(({ name }) => claim(of(about, 'default_time'), field(name))) : []),
    claim(of(count, 'metric'), { agg: 'count' }, { ...structure, origin: 'code', extractor: 'count@1' }),
    ...table.columns.flatMap((column, index) => {
      const subject = subjects.field(connection, dataset, field(column.name));
      return [
        claim(of(subject, 'field'), { column: column.name, position: index + 1 }),
        claim(of(subject, 'type'), column.type),
        ...(column.values ? [claim(of(subject, 'values'), column.values)] : []),
        ...(column.comment ? [claim(of(subject, 'description'), column.comment)] : []),
      ];
    }),
    ...outgoing.map((link) => {
      const { from, to, role, cardinality } = link;
      const on = Object.fromEntries(from.columns.map((column, index) => [field(column), names.field(to.table, to.columns[index] ?? '')]));
      const body = { to: names.dataset(to.table), on, ...(role === undefined ? {} : { role }), cardinality };
      const subject = subjects.relationship(connection, dataset, from.columns.map(field));
      return claim(of(subject, 'relationship'), body, { ...place, ...judgement(link, 'relationships@1') });
    }),
  ]; // prettier-ignore
}

/** `count`, so that it reads `orders.count`; a dataset with a field of that name counts as `row_count`. */
function countName(fields: readonly string[]): string {
  const taken = new Set(fields.map((name) => name.toLowerCase()));
  return ['count', 'row_count', 'rows_count'].find((name) => !taken.has(name)) ?? `count_of_${fields.length}_fields`;
}

/** Three steps of confidence and words instead of numbers. */
function judgement(found: KeyFinding | LinkFinding, extractor: string): Pick<Evidence, 'origin' | 'extractor' | 'confidence' | 'measured'> {
  if (found.origin === 'declared') return { origin: 'catalog', extractor, confidence: 1 };
  const confidence = found.probability >= 0.9 ? 0.9 : found.probability >= 0.7 ? 0.7 : 0.5;
  if (found.origin === 'judged') return { origin: 'model', extractor: 'link-judge@1', confidence };
  const { measured, containment, name_similarity: similarity } = found.evidence;
  if (typeof containment !== 'number' || measured !== true) return { origin: 'code', extractor, confidence };
  const orphans = containment >= 1 ? 'none' : containment >= 0.98 ? 'under 2% of the values' : 'over 2% of the values';
  const names = typeof similarity !== 'number' ? 'match' : similarity >= 0.85 ? 'match' : similarity >= 0.5 ? 'resemble' : 'differ';
  return { origin: 'code', extractor, confidence, measured: { orphans, names } };
}
