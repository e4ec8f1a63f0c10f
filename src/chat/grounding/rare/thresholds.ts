import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { namedRows, type StatementContext } from '../context.ts';
import { fewerThan, moreThan } from '../fits.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import { numberOf } from '../values.ts';

/** The query of which a number tells how many rows are beyond a limit of its statement. */
export function countOfLimit(
  number: WrittenNumber,
  context: StatementContext,
  tables: readonly QueryEvidence[],
): QueryEvidence | undefined {
  const isCount = number.readings.every(({ step }) => step === 1) && !number.isMoney;
  const others = context.numbers.filter((own) => own !== number && !own.isPercent);
  if (!isCount || number.isPercent || number.isYear) return undefined;
  for (const limit of others) {
    const found = limitOfRows(limit, { ...context, numbers: [number] }, tables);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The query of which as many rows are above a limit as a statement says, or exactly those that it
 * names: `Three months were above 46,000: March, April and June`.
 */
export function limitOfRows(
  number: WrittenNumber,
  { statement, numbers }: StatementContext,
  tables: readonly QueryEvidence[],
): QueryEvidence | undefined {
  const before = statement.text.slice(0, number.start - statement.start);
  const isMark = markWords.test(statement.text.slice(number.end - statement.start));
  if (isMark && !number.isPercent) return liesWithin(number, tables);
  const [isOver, isUnder] = [moreThan.test(before), fewerThan.test(before)];
  const limit = number.readings[0]?.value;
  if (isOver === isUnder || limit === undefined || number.isPercent) return undefined;
  const counts = numbers.filter((own) => own !== number).map(({ readings }) => readings[0]?.value);
  return tables.find((query) => {
    const kinds = columnKinds(query);
    const named = namedRows(query, statement.text);
    return query.columns.some((_, column) => {
      if (isLabel(kinds[column])) return false;
      const beyond = query.rows.flatMap((row, index) => {
        const value = numberOf(row[column]);
        const isBeyond = value !== undefined && (isOver ? value > limit : value < limit);
        return isBeyond ? [index] : [];
      });
      if (beyond.length === 0 || beyond.length === query.rows.length) return false;
      const areNamed = named?.size === beyond.length && beyond.every((row) => named.has(row));
      return areNamed || (beyond.length > 1 && counts.includes(beyond.length));
    });
  });
}

/** `beat the $130K mark` */
const markWords =
  /^[-\s](?:mark|threshold|level|line|barrier|marke|schwelle|grenze|seuil|barre|umbral|marca|barrera|soglia|limiar|grens|gränsen)(?!\p{L})|^(?:円|元|원)?の(?:大台|水準)/iu;

/** The query of which some numbers of a column are above a mark and some below. */
function liesWithin(
  { readings }: WrittenNumber,
  tables: readonly QueryEvidence[],
): QueryEvidence | undefined {
  const mark = readings[0]?.value ?? 0;
  return tables.find((query) => {
    const kinds = columnKinds(query);
    return query.columns.some((_, column) => {
      const values = query.rows.flatMap((row) => numberOf(row[column]) ?? []);
      const isBetween = values.some((own) => own < mark) && values.some((own) => own > mark);
      return !isLabel(kinds[column]) && isBetween;
    });
  });
}
