import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { foldDashes, shortQuarters, spellings, weekdaysOf } from '../numbers/spellings.ts';
import { numberOf } from '../values.ts';
import { withRanges } from './ranges.ts';

/** A text, a date or a year of some rows that a statement names. */
export interface Mention {
  readonly query: string;
  readonly column: number;
  /** The cell, as text. */
  readonly cell: string;
  /** Its place in the statement. */
  readonly start: number;
  readonly end: number;
}

interface Name {
  /** In lower case. */
  readonly spelling: string;
  readonly places: readonly Pick<Mention, 'query' | 'column' | 'cell'>[];
}

const namesOfQueries = new WeakMap<QueryEvidence, readonly Name[]>();

/** What a statement names, in its order. A longer name hides a shorter one within it. */
export function findMentions(
  statement: string,
  evidence: readonly QueryEvidence[],
): readonly Mention[] {
  const lower = foldDashes(statement.toLowerCase());
  const names = evidence.flatMap(namesOf).filter(({ spelling }) => lower.includes(spelling));
  const taken: { readonly start: number; readonly end: number; readonly spelling: string }[] = [];
  const found: Mention[] = [];
  for (const { spelling, places } of names.toSorted(
    (a, b) => b.spelling.length - a.spelling.length,
  ))
    for (const start of placesOf(lower, spelling)) {
      const stem = start + spelling.length;
      const end = stem + (inflection.exec(lower.slice(stem, stem + 4))?.[0].length ?? 0);
      const isHidden = (span: (typeof taken)[number]) =>
        span.start < end && start < span.end && span.spelling !== spelling;
      if (taken.some(isHidden)) continue;
      taken.push({ start, end, spelling });
      found.push(...places.map((place) => ({ ...place, start, end })));
    }
  const sorted = found.toSorted((a, b) => a.start - b.start || a.column - b.column);
  return withRanges(statement, sorted, evidence);
}

/** What statements may call the rows of a query. */
function namesOf(query: QueryEvidence): readonly Name[] {
  const known = namesOfQueries.get(query);
  if (known !== undefined) return known;
  const kinds = columnKinds(query);
  const bySpelling = new Map<string, Map<string, Name['places'][number]>>();
  const areNames = query.columns.map((_, column) =>
    query.rows.some((row) => typeof row[column] === 'string' && /\p{L}/u.test(row[column])),
  );
  const areQuarters = query.columns.map((_, column) => {
    const cells = new Set(query.rows.map((row) => String(row[column])));
    return cells.size > 1 && [...cells].every((cell) => shortQuarters(cell).length > 0);
  });
  const areWeekdays = query.columns.map((_, column) => {
    const days = [...new Set(query.rows.map((row) => String(row[column])))].map(
      (cell) => weekdaysOf(cell)[0],
    );
    return days.length > 1 && days.length <= 7 && !days.includes(undefined) && areDistinct(days);
  });
  for (const row of query.rows)
    row.forEach((value, column) => {
      const isNull = areNames[column] === true && (value === null || value === '');
      const cell = isNull ? String(value) : nameIn(value, isLabel(kinds[column]));
      if (cell === undefined) return;
      const short = areQuarters[column] === true ? shortQuarters(cell) : [];
      const days = areWeekdays[column] === true ? weekdaysOf(cell) : [];
      for (const spelling of isNull ? nullNames : [...spellings(cell), ...short, ...days]) {
        const folded = foldDashes(spelling.toLowerCase());
        const places = bySpelling.get(folded) ?? new Map();
        bySpelling.set(folded, places);
        places.set(`${column} ${cell}`, { query: query.id, column, cell });
      }
    });
  const names = [...bySpelling].map(([spelling, places]) => {
    return { spelling, places: [...places.values()] };
  });
  namesOfQueries.set(query, names);
  return names;
}

const areDistinct = (days: readonly unknown[]): boolean => new Set(days).size === days.length;

/** What people call a row without a name. */
const nullNames = [
  'unknown|(none)|none|no source|not set|unassigned|unspecified|missing|blank|n/a|null|empty',
  'unbekannt|ohne angabe|keine angabe|inconnu|non renseigné|desconocido|sin datos|sconosciuto',
  'have no|has no|had no|haben kein|haben keine|hat keine|ont pas de|no tienen|não têm|non hanno|hebben geen',
  'onbekend|desconhecido|nieznane|okänd|不明|未知',
]
  .join('|')
  .split('|');

function nameIn(value: unknown, isNumber: boolean): string | undefined {
  if (isNumber && (typeof value === 'number' || typeof value === 'string')) return String(value);
  if (typeof value !== 'string' || numberOf(value) !== undefined) return undefined;
  return value.length > 1 || oneCharacter.test(value) ? value : undefined;
}

/** The text with blanks for names that have digits in them, such as `Plan 365`. */
export function withoutNames(text: string, evidence: readonly QueryEvidence[]): string {
  const names = evidence.flatMap(({ rows }) =>
    rows.flatMap((row) =>
      row.flatMap((cell) =>
        typeof cell === 'string' &&
        /\d/.test(cell) &&
        /\p{L}/u.test(cell) &&
        !/^\d{4}-\d{2}/.test(cell)
          ? spellings(cell)
          : [],
      ),
    ),
  );
  return [...new Set(names)]
    .filter((name) => /\d/.test(name))
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, name) => withoutName(rest, foldDashes(name)), text);
}

function withoutName(text: string, name: string): string {
  const folded = foldDashes(text);
  let rest = text;
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + name.length))
    // In `3.24 stars`, nobody names the row `4 stars`.
    if (!/[\d.,]$/.test(folded.slice(0, at)))
      rest = rest.slice(0, at) + ' '.repeat(name.length) + rest.slice(at + name.length);
  return rest;
}

function placesOf(text: string, name: string): readonly number[] {
  const places: number[] = [];
  const isPart = name.length === 1 ? isAnyLetter : isLetter;
  const canInflect = name.length > 2 && /\p{Script=Latin}$/u.test(name);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const isWhole = !isPart(text[end]) || (canInflect && inflection.test(text.slice(end, end + 4)));
    if (!isPart(text[at - 1]) && isWhole) places.push(at);
  }
  return places;
}

/** A plural, or the name of what belongs to it: `shops` for the channel `shop`. */
const inflection = /^(?:['’]s|e?s)(?!\p{L})/u;

/** A word of a script that writes some with one character. */
const oneCharacter = /^[\p{Script=Han}\p{Script=Hangul}]$/u;

const isAnyLetter = (character: string | undefined): boolean =>
  character !== undefined && /\p{L}/u.test(character);

/** Scripts without spaces begin a word behind any name: `DACHが`. */
function isLetter(character: string | undefined): boolean {
  return (
    character !== undefined &&
    /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u.test(character)
  );
}
