import {
  catalogPath,
  type CatalogTable,
  type DatasetNames,
  type KeyFinding,
  type LinkFinding,
  tableLocation,
} from '../context/catalog/catalog.ts';
import { subjects, type Claim, type Evidence } from '../context/claims/claim.ts';
import { canonicalJson, type Json } from '../lib/json.ts';
import { linkJudge } from './describe/ask-link-judge.ts';
import { sortByKey } from './sort-by-key.ts';

/** What a scan found about one table. */
interface TableFindings {
  readonly names: DatasetNames;
  readonly keys: readonly KeyFinding[];
  readonly linksFrom: readonly LinkFinding[];
  readonly linksTo: readonly LinkFinding[];
  /** Likely links from the table that only a person can accept. */
  readonly linksInDoubt: readonly LinkFinding[];
  /** The table with the types that its values have, where those that are declared say less. */
  readonly typed: CatalogTable;
}

/**
 * A claim with one piece of evidence: the catalog, if it is left out. Without a body there is
 * nothing to claim.
 */
type ClaimDraft = readonly [
  subject: string,
  kind: Claim['kind'],
  body: Json | undefined,
  evidence?: Evidence,
];

/** What the claims of one table share. */
interface TableClaimContext {
  readonly table: CatalogTable;
  readonly connection: string;
  readonly dataset: string;
  readonly findings: TableFindings;
  readonly fieldName: (column: string) => string;
  /** Where the evidence is. */
  readonly location: Pick<Evidence, 'connection' | 'item' | 'location'>;
}

export function tableClaims(
  table: CatalogTable,
  connection: string,
  findings: TableFindings,
): Claim[] {
  const { names } = findings;
  const location = {
    connection,
    item: catalogPath(connection, table.schema),
    location: tableLocation(table),
  };
  const context: TableClaimContext = {
    table,
    connection,
    dataset: names.dataset(table),
    findings,
    fieldName: (column) => names.field(table, column),
    location,
  };
  const structure: Evidence = {
    ...location,
    origin: 'catalog',
    extractor: 'structure@1',
    confidence: 1,
  };
  const drafts = [
    ...datasetDrafts(context, structure),
    ...keyDrafts(context),
    ...fieldDrafts(context),
    ...relationshipDrafts(context),
    ...possibleRelationshipDrafts(context),
  ];
  return drafts.flatMap(([subject, kind, body, evidence = structure]) =>
    body === undefined ? [] : [{ subject, kind, body, evidence: [evidence] }],
  );
}

function datasetDrafts(
  { table, connection, dataset, findings: { typed }, fieldName }: TableClaimContext,
  structure: Evidence,
): ClaimDraft[] {
  const subject = subjects.dataset(connection, dataset);
  const fields = table.columns.map(({ name }) => fieldName(name));
  const source = {
    ...(table.catalog === undefined ? {} : { catalog: table.catalog }),
    schema: table.schema,
    table: table.table,
  };
  const timeColumns = typed.columns.filter(
    ({ type }) => type === 'date' || type === 'datetime' || type === 'datetime_tz',
  );
  const onlyTime = timeColumns.length === 1 ? timeColumns[0] : undefined;
  const countEvidence: Evidence = { ...structure, origin: 'code', extractor: 'count@1' };
  return [
    [subject, 'dataset', { source, kind: table.kind }],
    [subject, 'description', table.comment || undefined],
    [subject, 'default_time', onlyTime && fieldName(onlyTime.name)],
    [
      subjects.metric(connection, dataset, countMetricName(fields)),
      'metric',
      { agg: 'count' },
      countEvidence,
    ],
  ];
}

/**
 * `count`, so that it reads `orders.count`; another name if the dataset has a field of that name.
 */
function countMetricName(fields: readonly string[]): string {
  const taken = new Set(fields.map((name) => name.toLowerCase()));
  return (
    ['count', 'row_count', 'rows_count'].find((name) => !taken.has(name)) ??
    `count_of_${fields.length}_fields`
  );
}

function keyDrafts(context: TableClaimContext): ClaimDraft[] {
  const { table, connection, dataset, findings, fieldName, location } = context;
  const subject = subjects.dataset(connection, dataset);
  const extractor = 'keys@1';
  return [
    ...table.uniqueKeys.map((columns): ClaimDraft => [
      subject,
      'unique_key',
      columns.map(fieldName),
    ]),
    ...keysOfLinks(table, findings).map((columns): ClaimDraft => {
      const evidence: Evidence = { ...location, origin: 'code', extractor, confidence: 0.7 };
      return [subject, 'unique_key', columns.map(fieldName), evidence];
    }),
    ...findings.keys.map((key): ClaimDraft => {
      const evidence = { ...location, extractor, ...coarseEvidence(key) };
      return [subject, 'primary_key', key.columns.map(fieldName), evidence];
    }),
  ];
}

/**
 * Columns that inferred links refer to and that are no known key. The scan found no duplicates in
 * them, and a query refuses to join to columns that no file calls unique. Declared links prove
 * nothing: some engines let them refer to any column.
 */
function keysOfLinks(
  { columns, uniqueKeys }: CatalogTable,
  { keys, linksTo }: TableFindings,
): readonly (readonly string[])[] {
  const inTableOrder = (names: readonly string[]) =>
    columns.flatMap(({ name }) => (names.includes(name) ? [name] : []));
  const keyOf = (names: readonly string[]): string => canonicalJson(inTableOrder(names));
  const known = new Set([...uniqueKeys, ...keys.map((key) => key.columns)].map(keyOf));
  const referredTo = linksTo.flatMap(({ origin, to }) =>
    origin === 'inferred' ? [inTableOrder(to.columns)] : [],
  );
  const distinct = new Map(referredTo.map((names) => [canonicalJson(names), names]));
  return [...distinct].flatMap(([key, names]) => (known.has(key) ? [] : [names]));
}

function fieldDrafts(context: TableClaimContext): ClaimDraft[] {
  const { table, connection, dataset, findings, fieldName, location } = context;
  const measured: Evidence = {
    ...location,
    origin: 'code',
    extractor: 'times@1',
    confidence: 0.9,
    measured: { texts: 'all are times' },
  };
  return table.columns.flatMap(({ name, type, values, comment }, index): ClaimDraft[] => {
    const subject = subjects.field(connection, dataset, fieldName(name));
    const found = findings.typed.columns[index]?.type ?? type;
    return [
      [subject, 'field', { column: name, position: index + 1 }],
      found === type ? [subject, 'type', type] : [subject, 'type', found, measured],
      [subject, 'values', values && [...values]],
      [subject, 'description', comment || undefined],
    ];
  });
}

/** One claim per set of columns; further links of the same columns are part of its evidence. */
function relationshipDrafts(context: TableClaimContext): ClaimDraft[] {
  const { connection, dataset, findings, fieldName } = context;
  const bySubject = Map.groupBy(findings.linksFrom, ({ from }) =>
    subjects.relationship(connection, dataset, from.columns.map(fieldName)),
  );
  return [...bySubject].flatMap(([subject, links]): ClaimDraft[] => {
    const [link, ...others] = sortByKey(links, ({ origin, to }) => [origin, to]);
    return link ? [relationshipDraft(subject, [link, ...others], context)] : [];
  });
}

function relationshipDraft(
  subject: string,
  [link, ...others]: readonly [LinkFinding, ...LinkFinding[]],
  { findings: { names }, fieldName, location }: TableClaimContext,
): ClaimDraft {
  const { to, role, cardinality } = link;
  const on = joinedFields(link, { names, fieldName });
  const body = {
    to: names.dataset(to.table),
    on,
    ...(role === undefined ? {} : { role }),
    cardinality,
  };
  const extractor = link.origin === 'judged' ? linkJudge : 'relationships@1';
  const evidence = { ...location, extractor, ...coarseEvidence(link) };
  const alsoRefersTo = others.map(
    ({ to: target }) => `${names.dataset(target.table)}(${target.columns.join(', ')})`,
  );
  return alsoRefersTo.length === 0
    ? [subject, 'relationship', body, evidence]
    : [subject, 'relationship', body, { ...evidence, measured: { also_refers_to: alsoRefersTo } }];
}

/** Own field names to those of the other dataset. */
function joinedFields(
  { from, to }: LinkFinding,
  { names, fieldName }: Pick<TableFindings, 'names'> & Pick<TableClaimContext, 'fieldName'>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    from.columns.map((column, index) => [
      fieldName(column),
      names.field(to.table, to.columns[index] ?? ''),
    ]),
  );
}

/** The joins that a person should decide. The claim says why ktx does not use them. */
function possibleRelationshipDrafts(context: TableClaimContext): ClaimDraft[] {
  const { connection, dataset, findings, fieldName, location } = context;
  return findings.linksInDoubt.map((link): ClaimDraft => {
    const { from, to, evidence } = link;
    const subject = subjects.relationship(connection, dataset, from.columns.map(fieldName));
    const body = {
      to: findings.names.dataset(to.table),
      on: joinedFields(link, { names: findings.names, fieldName }),
    };
    const why =
      link.origin === 'judged'
        ? 'a model says yes, but the values do not bear it out'
        : evidence['why'];
    const { measured, ...coarse } = coarseEvidence(link);
    const reason = typeof why === 'string' ? { measured: { why } } : measured ? { measured } : {};
    const extractor = 'relationships@1';
    return [
      subject,
      'possible_relationship',
      body,
      { ...location, extractor, ...coarse, ...reason },
    ];
  });
}

/**
 * Evidence that stays the same from day to day: three steps of confidence, and words for numbers.
 */
function coarseEvidence({
  origin,
  probability,
  evidence,
}: KeyFinding | LinkFinding): Pick<Evidence, 'origin' | 'confidence' | 'measured'> {
  if (origin === 'declared') return { origin: 'catalog', confidence: 1 };
  const confidence = [0.9, 0.7].find((step) => probability >= step) ?? 0.5;
  if (origin === 'judged') return { origin: 'model', confidence };
  const { measured, containment, name_similarity: similarity = 1 } = evidence;
  if (typeof containment !== 'number' || measured !== true) return { origin: 'code', confidence };
  const names = nameSimilarityWord(Number(similarity));
  return { origin: 'code', confidence, measured: { orphans: orphansWord(containment), names } };
}

function orphansWord(containment: number): string {
  if (containment >= 1) return 'none';
  return `${containment >= 0.98 ? 'under' : 'over'} 2% of the values`;
}

function nameSimilarityWord(similarity: number): string {
  if (similarity >= 0.85) return 'match';
  return similarity >= 0.5 ? 'resemble' : 'differ';
}
