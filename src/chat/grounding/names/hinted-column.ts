import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { canHaveUnit, columnKinds, lastNamedColumn, namedColumn } from '../columns.ts';
import type { StatementContext } from '../context.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';

/** The column that the words beside a number name; undefined if they name none. */
export function hintedColumn(
  { statement, numbers }: StatementContext,
  number: WrittenNumber,
  { query, header }: { readonly query: QueryEvidence; readonly header: string },
): number | undefined {
  if (header !== '') return namedColumn(query, header);
  const text = statement.text;
  const end = number.end - statement.start;
  const unit = wordsBehind(text.slice(end));
  const before = text.slice(0, number.start - statement.start);
  const full = fullyNamed(query, number, [before, text.slice(end, end + 50)]);
  if (full !== undefined) return full;
  // `Customers: 12 of 40 are new`: the words of one of the two may be those of the other.
  const isPart = partBehind.test(text.slice(end));
  const isWhole = partBefore.test(before);
  const hinted =
    (isWhole ? undefined : namedColumn(query, unit)) ??
    (isPart
      ? undefined
      : lastNamedColumn(query, wordsBefore(text, { statement, numbers, number })));
  if (hinted !== undefined && !canHaveUnit(query, hinted, unit)) return undefined;
  const kind = hinted === undefined ? undefined : columnKinds(query)[hinted];
  // `Donors gave $351,791`: a number with a currency counts nothing.
  if (number.isMoney && kind === 'count') return undefined;
  return number.isPercent && kind !== 'share' ? undefined : hinted;
}

/** `174 orders in delay` is of a column `in_delay`, whatever else is called orders. */
function fullyNamed(
  { columns }: QueryEvidence,
  { isPercent, isMoney }: WrittenNumber,
  [before, behind]: readonly [before: string, behind: string],
): number | undefined {
  if (isPercent || isMoney || ofBefore.test(before)) return undefined;
  const own = (/^[^\d,;.:|()]*/.exec(behind)?.[0] ?? '').toLowerCase();
  const named = columns.flatMap(({ name }, index) => {
    const words = name.toLowerCase().replaceAll('_', ' ');
    const at = words.includes(' ') ? `${own.trim()} `.indexOf(`${words} `) : -1;
    return at >= 0 && /^(?:\p{L}+ )?$/u.test(own.trim().slice(0, at)) ? [index] : [];
  });
  return named.length === 1 ? named[0] : undefined;
}

const ofBefore =
  /(?<!\p{L})(?:of|von|sur|de|di|su|van|av|af|z|ze|из)\s(?:the |all |los |las |les |den |insgesamt )?[*_]*$/iu;

const ofLink =
  '(?:out of|of|von|sur|de|di|su|van|av|af|z|ze)\\s(?:the |all |insgesamt |den |les )?';
const partBehind = new RegExp(`^\\s${ofLink}[€$£]?\\d`, 'iu');
const partBefore = new RegExp(
  `\\d\\s(?:\\p{L}+\\s)?(?:out of|of|von|sur|de|di|su|van|av|af|z|ze)\\s(?:the |all |insgesamt |den |les )?[€$£]?$`,
  'iu',
);

/** The unit of a number: the one or two words behind it. */
function wordsBehind(text: string): string {
  const words =
    /^(?:\s?[-–]\s?\d[\d.,]*)?(?:\s?\([^()]{1,12}\))?[^\p{L}\d,.;:|()[\]]*(?:(?:EUR|USD|GBP|CHF)(?!\p{L}))?[^\p{L}\d,.;:|()[\]]*(\p{L}+(?:\s\p{L}+)?)?/u.exec(
      text,
    )?.[1] ?? '';
  return linkWords.test(words) ? '' : words;
}

/** Behind these words stands what the next number is of: `5 EUR on revenue of 9 EUR`. */
const linkWords =
  /^(?:and|und|et|y|e|och|or|oder|ou|on|from|against|with|at|vs|versus|compared|bei|auf|gegenüber|gegen|mit|aus|sur|contre|avec|sobre|contra|con|su|contro|op|tegen|met|przy|wobec)(?!\p{L})/iu;

/** `9 kg per head`, `9 EUR on average`: what still belongs to the number before. */
const ofNumberBefore =
  /^\s*(?:on average|im (?:schnitt|durchschnitt|mittel)|en moyenne|de media|en promedio|in media|em média|gemiddeld|i genomsnitt|i snitt|średnio|(?:(?:per|pro|je|par|por|för|na|each|a|an)\s)?\p{L}+(?=,))(?!\p{L})/iu;

/** What stands between the unit of the number before and this one. */
function wordsBefore(
  text: string,
  {
    statement,
    numbers,
    number,
  }: Pick<StatementContext, 'statement' | 'numbers'> & { readonly number: WrittenNumber },
): string {
  const previous = numbers.findLast(({ start }) => start < number.start);
  const from = previous === undefined ? 0 : previous.end - statement.start;
  const between = text.slice(from, number.start - statement.start);
  // A bracket or a semicolon ends what is said of the number before.
  const gap = previous === undefined ? between : (/[^;()]*$/u.exec(between)?.[0] ?? between);
  const unit = previous === undefined ? '' : wordsBehind(gap);
  const rest = gap.slice(gap.indexOf(unit) + unit.length);
  return (previous === undefined ? rest : rest.replace(ofNumberBefore, '')).slice(-60);
}
