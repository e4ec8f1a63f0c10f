import { z } from 'zod';
import {
  catalogPath,
  type Catalog,
  type CatalogTable,
  type DatasetNames,
  type KeyFinding,
  type LinkFinding,
  type ScanFindings,
} from '../context/catalog/catalog.ts';
import { subjects, type Claim, type Evidence } from '../context/claims/claim.ts';
import { datasetNames } from '../context/catalog/dataset-names.ts';
import { parseSubject } from '../context/claims/subject.ts';
import { canonicalJson, type Json } from '../lib/json.ts';
import { tableKey } from '../sql/dialect.ts';

/** On claims of links that a model decided; raise it when the prompt or the form of the answer changes. */
export const linkJudge = 'link-judge@1';

const joinSchema = z.object({ to: z.string(), on: z.record(z.string(), z.string()) });

/** The links that a model decided in earlier runs, as claims have them: whoever clones a project has them too. */
export function judgedLinks(
  claims: readonly Claim[],
  catalog: Catalog,
): Pick<LinkFinding, 'from' | 'to'>[] {
  const names = datasetNames(catalog);
  const tables = new Map(catalog.tables.map((table) => [names.dataset(table), table]));
  const end = (dataset: string, fields: readonly string[]): LinkFinding['from'][] => {
    const table = tables.get(dataset);
    const columns = fields.flatMap(
      (field) => table?.columns.find(({ name }) => names.field(table, name) === field)?.name ?? [],
    );
    return table === undefined || columns.length < fields.length ? [] : [{ table, columns }];
  };
  return claims.flatMap(({ subject, kind, body, evidence }) => {
    const join = joinSchema.safeParse(body).data;
    if (
      kind !== 'relationship' ||
      join === undefined ||
      !evidence.some(({ extractor }) => extractor === linkJudge)
    )
      return [];
    const [from] = end(parseSubject(subject)?.dataset ?? '', Object.keys(join.on));
    const [to] = end(join.to, Object.values(join.on));
    return from && to ? [{ from, to }] : [];
  });
}

/**
 * What a scan claims, in an order that does not depend on the findings' order. Evidence is coarse: new rows of a day change
 * no byte. Accepted findings only; links in doubt are for `ktx scan` to show.
 */
export function scanClaims(findings: ScanFindings): Claim[] {
  const names = datasetNames(findings.catalog);
  const isAccepted = ({ status }: KeyFinding | LinkFinding): boolean => status === 'accepted';
  const keys = Map.groupBy(findings.primaryKeys.filter(isAccepted), ({ table }) => tableKey(table));
  const accepted = findings.links.filter(isAccepted);
  const links = Map.groupBy(accepted, ({ from }) => tableKey(from.table));
  const referred = Map.groupBy(accepted, ({ to }) => tableKey(to.table));
  const claims = findings.catalog.tables.flatMap((table) => {
    const at = tableKey(table);
    const found = {
      names,
      keys: keys.get(at) ?? [],
      links: links.get(at) ?? [],
      referred: referred.get(at) ?? [],
    };
    return tableClaims(table, findings.catalog.connection, found);
  });
  return sortedBy(claims, ({ subject, kind, body }) => [subject, kind, body]);
}

function sortedBy<T>(values: readonly T[], read: (value: T) => unknown): T[] {
  const keyed = values.map((value) => ({ value, key: canonicalJson(read(value)) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ value }) => value);
}

/** A claim of the catalog where no evidence stands, and none where there is nothing to say. */
type Draft = readonly [
  subject: string,
  kind: Claim['kind'],
  body: Json | undefined,
  evidence?: Evidence,
];

interface Found {
  readonly names: DatasetNames;
  readonly keys: readonly KeyFinding[];
  readonly links: readonly LinkFinding[];
  /** Links that end here. */
  readonly referred: readonly LinkFinding[];
}

/**
 * What inferred links refer to beside the keys that are known: without duplicates, as the scan found, and a query refuses to join
 * what no file calls unique. A declared link proves nothing of the kind: some engines take any column.
 */
function referredKeys(
  { columns, uniqueKeys }: CatalogTable,
  { keys, referred }: Found,
): readonly (readonly string[])[] {
  const inOrder = (names: readonly string[]) =>
    columns.flatMap(({ name }) => (names.includes(name) ? [name] : []));
  const known = new Set(
    [...uniqueKeys, ...keys.map((key) => key.columns)].map((names) =>
      canonicalJson(inOrder(names)),
    ),
  );
  const inferred = referred.flatMap(({ origin, to }) =>
    origin === 'inferred' ? [inOrder(to.columns)] : [],
  );
  const others = new Map(inferred.map((names) => [canonicalJson(names), names]));
  return [...others].flatMap(([key, names]) => (known.has(key) ? [] : [names]));
}

function tableClaims(table: CatalogTable, connection: string, found: Found): Claim[] {
  const { names, keys, links } = found;
  const dataset = names.dataset(table);
  const field = (column: string): string => names.field(table, column);
  const place = { connection, item: catalogPath(connection, table.schema), location: table.table };
  const structure: Evidence = {
    ...place,
    origin: 'catalog',
    extractor: 'structure@1',
    confidence: 1,
  };
  const about = subjects.dataset(connection, dataset);
  const count = subjects.metric(
    connection,
    dataset,
    countName(table.columns.map(({ name }) => field(name))),
  );
  const source = {
    ...(table.catalog === undefined ? {} : { catalog: table.catalog }),
    schema: table.schema,
    table: table.table,
  };
  const [time, ...times] = table.columns.filter(
    ({ type }) => type === 'date' || type === 'datetime' || type === 'datetime_tz',
  );
  const bySubject = Map.groupBy(links, ({ from }) =>
    subjects.relationship(connection, dataset, from.columns.map(field)),
  );
  const joins = [...bySubject].map(([subject, same]) => ({
    subject,
    links: sortedBy(same, ({ origin, to }) => [origin, to]),
  }));
  const drafts: Draft[] = [
    [about, 'dataset', { source, kind: table.kind }],
    [about, 'description', table.comment || undefined],
    [about, 'default_time', time && times.length === 0 ? field(time.name) : undefined],
    [count, 'metric', { agg: 'count' }, { ...structure, origin: 'code', extractor: 'count@1' }],
    ...table.uniqueKeys.map((columns): Draft => [about, 'unique_key', columns.map(field)]),
    ...referredKeys(table, found).map((columns): Draft => [
      about,
      'unique_key',
      columns.map(field),
      { ...place, origin: 'code', extractor: 'keys@1', confidence: 0.7 },
    ]),
    ...keys.map((key): Draft => [
      about,
      'primary_key',
      key.columns.map(field),
      { ...place, extractor: 'keys@1', ...judgement(key) },
    ]),
    ...table.columns.flatMap(({ name, type, values, comment }, index): Draft[] => {
      const subject = subjects.field(connection, dataset, field(name));
      return [
        [subject, 'field', { column: name, position: index + 1 }],
        [subject, 'type', type],
        [subject, 'values', values && [...values]],
        [subject, 'description', comment || undefined],
      ];
    }),
    ...joins.flatMap(({ subject, links: [link, ...others] }): Draft[] => {
      if (!link) return [];
      const { from, to, role, cardinality } = link;
      const on = Object.fromEntries(
        from.columns.map((column, index) => [
          field(column),
          names.field(to.table, to.columns[index] ?? ''),
        ]),
      );
      const body = {
        to: names.dataset(to.table),
        on,
        ...(role === undefined ? {} : { role }),
        cardinality,
      };
      const extractor = link.origin === 'judged' ? linkJudge : 'relationships@1';
      const evidence = { ...place, extractor, ...judgement(link) };
      const also = others.map(
        (other) => `${names.dataset(other.to.table)}(${other.to.columns.join(', ')})`,
      );
      return [
        [
          subject,
          'relationship',
          body,
          also.length === 0 ? evidence : { ...evidence, measured: { also_refers_to: also } },
        ],
      ];
    }),
  ];
  return drafts.flatMap(([subject, kind, body, evidence = structure]) =>
    body === undefined ? [] : [{ subject, kind, body, evidence: [evidence] }],
  );
}

/** `count`, so that it reads `orders.count`; a dataset with a field of that name counts as `row_count`. */
function countName(fields: readonly string[]): string {
  const taken = new Set(fields.map((name) => name.toLowerCase()));
  return (
    ['count', 'row_count', 'rows_count'].find((name) => !taken.has(name)) ??
    `count_of_${fields.length}_fields`
  );
}

/** Three steps of confidence, and words in place of numbers. */
function judgement({
  origin,
  probability,
  evidence,
}: KeyFinding | LinkFinding): Pick<Evidence, 'origin' | 'confidence' | 'measured'> {
  if (origin === 'declared') return { origin: 'catalog', confidence: 1 };
  const confidence = [0.9, 0.7].find((step) => probability >= step) ?? 0.5;
  if (origin === 'judged') return { origin: 'model', confidence };
  const { measured, containment, name_similarity: similarity = 1 } = evidence;
  if (typeof containment !== 'number' || measured !== true) return { origin: 'code', confidence };
  const orphans =
    containment >= 1 ? 'none' : `${containment >= 0.98 ? 'under' : 'over'} 2% of the values`;
  const likeness = Number(similarity) >= 0.5 ? 'resemble' : 'differ';
  return {
    origin: 'code',
    confidence,
    measured: { orphans, names: Number(similarity) >= 0.85 ? 'match' : likeness },
  };
}
