import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable } from '../candidates.ts';
import { type NumberPlace, placeNumber, type StatementContext } from '../context.ts';
import { totalWords } from '../numbers/number-words.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import { hintedColumn } from './hinted-column.ts';

interface PlacedNumber {
  readonly number: WrittenNumber;
  readonly context: StatementContext;
  readonly place: NumberPlace;
  readonly tables: readonly QueryEvidence[];
  readonly answer: { readonly contexts: readonly StatementContext[] };
}

/** Results of more rows have something for any small number. */
const fewRows = 12;

/** A cell of the column that the words name, and of a row that the statement can mean. */
export function isMeantCell(
  { cells: [cell], column, value }: Derivable,
  search: PlacedNumber,
): boolean {
  const { number, context, place, tables } = search;
  const query = tables.find(({ id }) => id === cell?.query);
  if (query === undefined || cell?.row === undefined || column === undefined) return true;
  const hint = hintedColumn(context, number, { query, header: place.header });
  if (hint !== undefined && hint !== column) return false;
  if (place.named(query.id) !== undefined || query.rows.length <= fewRows) return true;
  const isEnd = cell.row === 0 || cell.row === query.rows.length - 1;
  return isEnd || number.text.replaceAll(/\D/g, '').length >= 5 || isExtreme(query, column, value);
}

function isExtreme({ rows }: QueryEvidence, column: number, value: number): boolean {
  const values = rows.map((row) => Number(row[column]));
  return values.every((cell) => cell <= value) || values.every((cell) => cell >= value);
}

/** An entry beside others that name rows, and it names none: what it says is of no row. */
export function namesNoRow({ context, place, tables, answer }: PlacedNumber): boolean {
  const { statement } = context;
  if (!statement.isEntry || place.hasNames || totalWords.test(statement.text)) return false;
  const last = answer.contexts.findLast((entry) => entry.statement.cells.length > 0);
  if (periodName.test(statement.text)) return false;
  // The last row of a table is often its sum.
  if (last === context) return false;
  if (tables.every(({ rows }) => rows.length < 2)) return false;
  const entries = answer.contexts.filter((entry) => entry.statement.isEntry && entry !== context);
  return entries.some((entry) =>
    entry.numbers.some((number) => placeNumber(entry, number, tables).hasNames),
  );
}

/** An entry of a quarter or a half, where rows are its months. */
const periodName =
  /^\s*(?:[-*•|]|\d{1,2}[.)])?\s*[*_]*(?:(?:Q|T|K)[1-4]|[HS][12]|[1-4]\.\s?Quartal|[12]\.\s?Halbjahr|第[1-4]四半期|第[一二三四]季度|[1-4]분기)(?![\p{L}\d])/iu;
