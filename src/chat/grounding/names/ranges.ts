import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Mention } from './mentions.ts';

const to =
  '(?:to|through|thru|until|till|bis|à|au|a|al|hasta|até|tot|t/m|till|do|–|—|-|〜|～|~|から|至|到)';
const gap = new RegExp(`^\\s?${to}(?:\\s(?:the|le|la|el|o|de|den))?\\s?$`, 'iu');
/** `KW 18 bis 21`: only the number of the second name is written. */
const shortEnd = new RegExp(`^\\s?${to}\\s?(\\d{1,4})(?![\\d.,]*\\d|\\s?[%€$£])`, 'iu');

/** Two names with `to` between them are all of the rows between them. */
export function withRanges(
  text: string,
  mentions: readonly Mention[],
  evidence: readonly QueryEvidence[],
): readonly Mention[] {
  const own = [
    ...mentions,
    ...boundsIn(text, evidence),
    ...mentions.flatMap((first) => shortEndOf(text, first, evidence)),
  ];
  const merged = own.flatMap((first) => {
    const last = own.find(
      (second) =>
        second.query === first.query &&
        second.column === first.column &&
        second.start >= first.end &&
        (gap.test(text.slice(first.end, second.start)) ||
          (/^\d/.test(text.slice(first.start)) && isBetween.test(text.slice(0, first.start)))),
    );
    const cells = last === undefined ? [] : between(first, last, evidence);
    return last === undefined || cells.length < 2 ? [] : [{ first, last, cells }];
  });
  if (merged.length === 0) return mentions;
  const isMerged = (mention: Mention) =>
    merged.some(
      ({ first, last }) =>
        first.start <= mention.start && mention.end <= last.end && first.query === mention.query,
    );
  return [
    ...own.filter((mention) => !isMerged(mention)),
    ...merged.flatMap(({ first, last, cells }) =>
      cells.map((cell) => ({ ...first, cell, end: last.end })),
    ),
  ].toSorted((a, b) => a.start - b.start || a.column - b.column);
}

const isBetween = /(?:between|zwischen|entre|tra|fra|tussen|mellan|między)\s$/iu;
const bounds =
  /(?<![\d.,])(\d{1,4})\s?(?:-|–|to|and|bis|und|à|et|a|y|e|en)\s?(\d{1,4})(?![\d.,]*\d|\s?[%€$£])/giu;

/** `between 25 and 44`, where rows are called 25-34 and 35-44. */
function boundsIn(text: string, evidence: readonly QueryEvidence[]): readonly Mention[] {
  return [...text.matchAll(bounds)].flatMap(({ 0: whole, 1: low, 2: high = '', index }) =>
    evidence.flatMap(({ id, columns, rows }) =>
      columns.flatMap((_, column): readonly Mention[] => {
        const names = rows.map((row) => (typeof row[column] === 'string' ? row[column] : ''));
        const ends = names.map((name) => /^(\d+)\s?[-–]\s?(\d+)(?!\d)/.exec(name));
        const first = names[ends.findIndex((own) => own?.[1] === low)];
        const last = names[ends.findIndex((own) => own?.[2] === high)];
        if (first === undefined || last === undefined || first === last) return [];
        const place = { query: id, column };
        const [end, middle] = [index + whole.length, index + whole.length - high.length];
        return [
          { ...place, cell: first, start: index, end: index + (low?.length ?? 0) },
          { ...place, cell: last, start: middle, end },
        ];
      }),
    ),
  );
}

function shortEndOf(
  text: string,
  first: Mention,
  evidence: readonly QueryEvidence[],
): readonly Mention[] {
  const found = shortEnd.exec(text.slice(first.end));
  const [, head, digits = ''] = /^(.*?)(\d+)$/u.exec(first.cell) ?? [];
  const end = found?.[1];
  if (found === null || end === undefined || head === undefined || head === '') return [];
  const cell = head + end.padStart(digits.length, '0');
  const rows = evidence.find(({ id }) => id === first.query)?.rows ?? [];
  if (!rows.some((row) => String(row[first.column]) === cell)) return [];
  const stop = first.end + found[0].length;
  return [{ ...first, cell, start: stop - end.length, end: stop }];
}

const joined =
  /^(?:[,\s]|(?<!\p{L})(?:and|or|und|oder|sowie|et|ou|y|o|e|en|of|och|eller|i|lub|plus|the|the)(?!\p{L})|[+&、和と])+$/iu;

/** Names of one column with nothing but `and` or `or` between them. */
export function namedTogether(
  text: string,
  mentions: readonly Mention[],
): readonly (readonly Mention[])[] {
  const groups: Mention[][] = [];
  for (const mention of mentions) {
    const last = groups.at(-1)?.at(-1);
    const isNext =
      last !== undefined &&
      last.column === mention.column &&
      (last.start === mention.start || joined.test(text.slice(last.end, mention.start)));
    if (isNext) groups.at(-1)?.push(mention);
    else groups.push([mention]);
  }
  return groups.filter((group) => new Set(group.map(({ cell }) => cell)).size > 1);
}

/** The names of a column from one row to another. */
function between(
  first: Mention,
  last: Mention,
  evidence: readonly QueryEvidence[],
): readonly string[] {
  const rows = evidence.find(({ id }) => id === first.query)?.rows ?? [];
  const names = rows.map((row) => String(row[first.column]));
  const ends = [names.indexOf(first.cell), names.lastIndexOf(last.cell)];
  const [from, until] = [Math.min(...ends), Math.max(...ends)];
  return from < 0 ? [] : [...new Set(names.slice(from, until + 1))];
}
