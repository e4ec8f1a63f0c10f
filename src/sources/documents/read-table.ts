import { slug } from '../../context/catalog/slug.ts';
import { subjects, type ClaimKind } from '../../context/claims/claim.ts';
import type { NamedDataset, NameIndex } from '../../context/claims/name-index.ts';
import type { Json } from '../../lib/json.ts';
import type { TableBlock, TableRow } from './document-block.ts';
import { parseTableFormula, type UnreadFormula } from './parse-table-formula.ts';
import { columnPositions, type ColumnRole, readRowStatus } from './table-words.ts';

interface TableContext {
  readonly names: NameIndex;
  /** The dataset that the headings above the table name. */
  readonly section: NamedDataset | undefined;
}

/** What a row claims. */
export interface RowClaim {
  readonly subject: string;
  readonly kind: ClaimKind;
  readonly body: Json;
  readonly row: TableRow;
  /** True if the table says that the row is not settled. */
  readonly isDraft?: boolean;
  /** True for a metric that answers as unreviewed until a person accepts it. */
  readonly isUnreviewed?: boolean;
}

interface TableReading {
  readonly claims: readonly RowClaim[];
  /** Rows that code does not understand, at least in part. */
  readonly unread: readonly TableRow[];
  /** Rows that the table itself calls out of use. */
  readonly retired?: readonly TableRow[];
  /** Formulas that code does not read, with the reason. */
  readonly formulas?: readonly LeftFormula[];
}

interface LeftFormula {
  readonly row: TableRow;
  readonly name: string;
  readonly reason: string;
}

/** Reads a table of terms, metrics, rules or columns; undefined for any other table. */
export function readClaimTable(table: TableBlock, context: TableContext): TableReading | undefined {
  const positions = columnPositions(table.header);
  const subject = (['column', 'rule', 'name'] as const).find((role) => positions.has(role));
  const isRead = positions.has('meaning') || positions.has('formula');
  if (subject === undefined || !isRead) return undefined;
  const readings = table.rows.map((row): TableReading => {
    const cell: CellOf = (role) => row.cells[positions.get(role) ?? -1]?.trim() ?? '';
    if (cell(subject) === '') return nothingRead;
    const status = readRowStatus(cell('status'));
    if (status === 'out of use') return { ...nothingRead, retired: [row] };
    const reading = rowReaders[subject]({ row, cell }, context);
    if (status === undefined) return reading;
    return { ...reading, claims: reading.claims.map((claim) => ({ ...claim, isDraft: true })) };
  });
  return {
    claims: readings.flatMap(({ claims }) => claims),
    unread: readings.flatMap(({ unread }) => unread),
    retired: readings.flatMap(({ retired = [] }) => retired),
    formulas: readings.flatMap(({ formulas = [] }) => formulas),
  };
}

/** The text of a row in the column of a role; empty where the table has no such column. */
type CellOf = (role: ColumnRole) => string;

interface ReadableRow {
  readonly row: TableRow;
  readonly cell: CellOf;
}

const nothingRead: TableReading = { claims: [], unread: [] };
const rowReaders = { column: readColumnRow, rule: readRuleRow, name: readTermRow } as const;

/** A row that describes a column of a dataset. */
function readColumnRow({ row, cell }: ReadableRow, { names, section }: TableContext): TableReading {
  const owner = cell('dataset') === '' ? section : names.dataset(cell('dataset'));
  const name = cell('column').replaceAll('`', '').toLowerCase();
  const field = owner?.fields.get(name);
  const subject =
    owner !== undefined && field !== undefined
      ? subjects.field(owner.connection, owner.dataset, field)
      : names.subject(name);
  if (subject === undefined || !subject.startsWith('field:')) return { claims: [], unread: [row] };
  const description = cell('meaning');
  if (description === '') return nothingRead;
  return { claims: [{ subject, kind: 'description', body: description, row }], unread: [] };
}

function readRuleRow({ row, cell }: ReadableRow, { names }: TableContext): TableReading {
  const [title, statement] = [cell('rule').replaceAll('`', ''), cell('meaning')];
  if (statement === '') return nothingRead;
  const subject = subjects.rule(title);
  const refs = subjectsNamedIn([statement, cell('dataset')], names);
  return {
    claims: [
      { subject, kind: 'title', body: title, row },
      { subject, kind: 'rule', body: statement, row },
      ...refs.map((ref): RowClaim => ({ subject, kind: 'refs', body: [ref], row })),
    ],
    unread: [],
  };
}

/** A row that defines a term, and a metric too where it has a formula over a known dataset. */
function readTermRow(readable: ReadableRow, context: TableContext): TableReading {
  const { row, cell } = readable;
  const title = cell('name').replaceAll('`', '');
  const subject = subjects.term(title);
  const meaning = cell('meaning');
  const synonyms = splitSynonyms(cell('synonyms'));
  const reading = readMetricRow(title, readable, context);
  const metric = 'reason' in reading ? undefined : reading;
  const refs = [
    ...(metric === undefined ? [] : [metric.subject]),
    ...subjectsNamedIn([cell('dataset'), meaning], context.names),
  ];
  const claims: RowClaim[] = [{ subject, kind: 'title', body: title, row }];
  if (meaning !== '') claims.push({ subject, kind: 'definition', body: meaning, row });
  if (synonyms.length > 0) claims.push({ subject, kind: 'synonyms', body: synonyms, row });
  claims.push(...refs.map((ref): RowClaim => ({ subject, kind: 'refs', body: [ref], row })));
  claims.push(...(metric?.claims ?? []));
  if (metric !== undefined && synonyms.length > 0)
    claims.push({ subject: metric.subject, kind: 'synonyms', body: synonyms, row });
  if (!('reason' in reading) || noFormula.test(cell('formula'))) return { claims, unread: [] };
  const name = `${title}: ${cell('formula').replaceAll('`', '')}`;
  return { claims, unread: [row], formulas: [{ row, name, reason: reading.reason }] };
}

const noFormula = /^[-–—]?$/;

function splitSynonyms(text: string): string[] {
  return text
    .split(/[,;/]/)
    .map((synonym) => synonym.replaceAll('`', '').trim())
    .filter((synonym) => !/^[-–—]?$/.test(synonym));
}

function readMetricRow(
  title: string,
  { row, cell }: ReadableRow,
  { names, section }: TableContext,
): { readonly subject: string; readonly claims: readonly RowClaim[] } | UnreadFormula {
  const formula = parseTableFormula(cell('formula'), cell('filter'));
  if ('reason' in formula) return formula;
  const owner =
    formula.dataset === undefined
      ? (names.dataset(cell('dataset')) ?? section)
      : names.dataset(formula.dataset);
  if (owner === undefined) return { reason: 'formula over no table that ktx knows' };
  const name = slug(title);
  const metric = /^[0-9]/.test(name) ? `_${name}` : name;
  const subject = subjects.metric(owner.connection, owner.dataset, metric);
  const { body, isArithmetic: isUnreviewed } = formula;
  const claims: RowClaim[] = [{ subject, kind: 'metric', body, row, isUnreviewed }];
  if (cell('unit') !== '') claims.push({ subject, kind: 'unit', body: cell('unit'), row });
  const description = cell('meaning');
  if (description !== '') claims.push({ subject, kind: 'description', body: description, row });
  return { subject, claims };
}

/** The subjects that a text names in code marks, or by being nothing but a name. */
function subjectsNamedIn(texts: readonly string[], names: NameIndex): string[] {
  const spelled = texts.flatMap((text) => {
    const codeNames = [...text.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner);
    return /^[\w.]+$/.test(text) ? [...codeNames, text] : codeNames;
  });
  return [...new Set(spelled.flatMap((name) => names.subject(name) ?? []))].sort();
}
