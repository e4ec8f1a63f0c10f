import { subjects, type Claim, type ClaimKind } from '../../context/claims/claim.ts';
import { slug } from '../../context/catalog/slug.ts';
import type { Json } from '../../lib/json.ts';
import type { Block, Row } from './block.ts';
import { readFormula } from './formula.ts';
import type { NamedDataset, NameIndex } from '../../context/claims/name-index.ts';

type Column = keyof typeof headers;

/** What the columns of a table are called, by what they mean. */
const headers = {
  name: /^(business )?(terms?|names?|concepts?|kpis?|metrics?|measures?|words?|acronyms?|abbreviations?)$/,
  rule: /^(business )?(rules?|polic(y|ies))$/,
  column: /^(columns?|fields?|attributes?)( name)?$/,
  meaning:
    /^(definitions?|meanings?|descriptions?|explanations?|what it means|means|stands for|statement|what it says)$/,
  synonyms: /^(synonyms?|alias(es)?|also( known as| called)?|aka|other names)$/,
  formula:
    /^(formulas?|calculations?|expressions?|sql|computed as|calculated as|how it is (computed|calculated))$/,
  dataset: /^(datasets?|tables?|models?|sources?|based on)$/,
  filter: /^(filters?|where|conditions?|only)$/,
  unit: /^(units?|currency)$/,
} as const;

export interface TableContext {
  readonly names: NameIndex;
  /** The dataset that the headings above name. */
  readonly section: NamedDataset | undefined;
  /** A claim of this document, from that line. */
  readonly claim: (
    about: readonly [subject: string, kind: ClaimKind, body: Json],
    row: Row,
  ) => Claim;
}

export interface TableReading {
  readonly claims: readonly Claim[];
  /** Rows that say something that code does not understand. */
  readonly unread: readonly Row[];
}

/** Undefined where the table is none of terms, metrics, rules or columns. */
export function readTable(
  { header, rows }: Extract<Block, { kind: 'table' }>,
  context: TableContext,
): TableReading | undefined {
  const columns = columnsOf(header);
  const subject = (['column', 'rule', 'name'] as const).find((column) => columns.has(column));
  if (subject === undefined || !(columns.has('meaning') || columns.has('formula')))
    return undefined;
  const readings = rows.map((row): TableReading => {
    const cell = (column: Column) => row.cells[columns.get(column) ?? -1]?.trim() ?? '';
    if (cell(subject) === '') return { claims: [], unread: [] };
    if (subject === 'column') return columnRow(row, cell, context);
    return subject === 'rule' ? ruleRow(row, cell, context) : termRow(row, cell, context);
  });
  return {
    claims: readings.flatMap(({ claims }) => claims),
    unread: readings.flatMap(({ unread }) => unread),
  };
}

function columnsOf(header: readonly string[]): Map<Column, number> {
  const found = new Map<Column, number>();
  for (const [index, title] of header.entries()) {
    const plain = title
      .toLowerCase()
      .replaceAll(/[^a-z ]/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim();
    const column = (Object.keys(headers) as Column[]).find(
      (one) => headers[one].test(plain) && !found.has(one),
    );
    if (column) found.set(column, index);
  }
  return found;
}

type Cell = (column: Column) => string;

/** A column of a dataset, described. */
function columnRow(row: Row, cell: Cell, { names, section, claim }: TableContext): TableReading {
  const owner = cell('dataset') === '' ? section : names.dataset(cell('dataset'));
  const name = cell('column').replaceAll('`', '').toLowerCase();
  const field = owner?.fields.get(name);
  const subject =
    owner && field !== undefined
      ? subjects.field(owner.connection, owner.dataset, field)
      : names.subject(name);
  if (subject === undefined || !subject.startsWith('field:')) return { claims: [], unread: [row] };
  const description = cell('meaning');
  return {
    claims: description === '' ? [] : [claim([subject, 'description', description], row)],
    unread: [],
  };
}

function ruleRow(row: Row, cell: Cell, { names, claim }: TableContext): TableReading {
  const [title, statement] = [cell('rule').replaceAll('`', ''), cell('meaning')];
  if (statement === '') return { claims: [], unread: [] };
  const subject = subjects.rule(title);
  const refs = refsIn([statement, cell('dataset')], names);
  return {
    claims: [
      claim([subject, 'title', title], row),
      claim([subject, 'rule', statement], row),
      ...refs.map((ref) => claim([subject, 'refs', [ref]], row)),
    ],
    unread: [],
  };
}

/** A term; and where its formula is one of a dataset that is known, a metric. */
function termRow(row: Row, cell: Cell, context: TableContext): TableReading {
  const { names, claim } = context;
  const title = cell('name').replaceAll('`', '');
  const meaning = cell('meaning');
  const synonyms = cell('synonyms')
    .split(/[,;/]/)
    .map((one) => one.replaceAll('`', '').trim())
    .filter((one) => !/^[-–—]?$/.test(one));
  const metric = metricOf(title, cell, context);
  const term = subjects.term(title);
  const about: [subject: string, kind: ClaimKind, body: Json][] = [
    [term, 'title', title],
    ...(meaning === '' ? [] : [[term, 'definition', meaning] as [string, ClaimKind, Json]]),
    ...(synonyms.length === 0 ? [] : [[term, 'synonyms', synonyms] as [string, ClaimKind, Json]]),
  ];
  const refs = [...(metric ? [metric.subject] : []), ...refsIn([cell('dataset'), meaning], names)];
  const claims = [
    ...about,
    ...refs.map((ref): (typeof about)[number] => [term, 'refs', [ref]]),
    ...(metric?.claims ?? []),
  ];
  const isUnread = metric === undefined && cell('formula') !== '';
  return { claims: claims.map((one) => claim(one, row)), unread: isUnread ? [row] : [] };
}

function metricOf(title: string, cell: Cell, { names, section }: TableContext) {
  const formula = cell('formula') === '' ? undefined : readFormula(cell('formula'), cell('filter'));
  if (formula === undefined) return undefined;
  const owner =
    formula.dataset === undefined
      ? (names.dataset(cell('dataset')) ?? section)
      : names.dataset(formula.dataset);
  if (owner === undefined) return undefined;
  const name = slug(title);
  const subject = subjects.metric(
    owner.connection,
    owner.dataset,
    /^[0-9]/.test(name) ? `_${name}` : name,
  );
  const claims: [string, ClaimKind, Json][] = [
    [subject, 'metric', formula.body],
    ...(cell('unit') === '' ? [] : [[subject, 'unit', cell('unit')] as [string, ClaimKind, Json]]),
    ...(cell('meaning') === ''
      ? []
      : [[subject, 'description', cell('meaning')] as [string, ClaimKind, Json]]),
  ];
  return { subject, claims };
}

/** What the texts name in code marks, or as a whole. */
function refsIn(texts: readonly string[], names: NameIndex): string[] {
  const spelled = texts.flatMap((text) =>
    [...text.matchAll(/`([^`]+)`/g)]
      .map(([, inner = '']) => inner)
      .concat(/^[\w.]+$/.test(text) ? [text] : []),
  );
  return [...new Set(spelled.flatMap((name) => names.subject(name) ?? []))].sort();
}
