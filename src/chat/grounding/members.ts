import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { numberOf, type RowFilter } from './candidates.ts';

/** A text or a date of a row that a statement names. */
export interface NamedMember {
  /** The cell, as text. */
  readonly cell: string;
  /** Its place in the statement. */
  readonly start: number;
}

/** What a statement names, in its order. A longer name hides a shorter one within it. */
export function findMembers(
  statement: string,
  evidence: readonly QueryEvidence[],
): readonly NamedMember[] {
  const lower = statement.toLowerCase();
  const names = evidence.flatMap(namesOf).filter(({ spelling }) => lower.includes(spelling));
  const taken: { readonly start: number; readonly end: number }[] = [];
  const found: NamedMember[] = [];
  for (const { cell, spelling } of names.toSorted((a, b) => b.spelling.length - a.spelling.length))
    for (const start of placesOf(lower, spelling)) {
      const end = start + spelling.length;
      if (taken.some((span) => span.start < end && start < span.end)) continue;
      taken.push({ start, end });
      found.push({ cell, start });
    }
  return found.toSorted((a, b) => a.start - b.start);
}

interface Name {
  readonly cell: string;
  /** In lower case. */
  readonly spelling: string;
}

const namesOfQueries = new WeakMap<QueryEvidence, readonly Name[]>();

/** What statements may call the rows of a query. */
function namesOf(query: QueryEvidence): readonly Name[] {
  const known = namesOfQueries.get(query);
  if (known !== undefined) return known;
  const names = [...membersOf([query])].flatMap((cell) =>
    spellings(cell).map((spelling) => ({ cell, spelling: spelling.toLowerCase() })),
  );
  namesOfQueries.set(query, names);
  return names;
}

/** The rows that have one of the members; in a result that has none of them, all rows. */
export function rowsOf(
  members: readonly NamedMember[],
  evidence: readonly QueryEvidence[],
): RowFilter {
  const named = new Set(members.map(({ cell }) => cell));
  const rows = new Map(
    evidence.map(({ id, rows: all }) => [
      id,
      new Set(
        all.flatMap((row, index) => (row.some((cell) => named.has(String(cell))) ? [index] : [])),
      ),
    ]),
  );
  return (query, row) => {
    const own = rows.get(query);
    return own === undefined || own.size === 0 || own.has(row);
  };
}

/** The text with blanks for names that have digits in them, such as `Plan 365`. */
export function withoutMembers(text: string, evidence: readonly QueryEvidence[]): string {
  const names = [...membersOf(evidence)].filter(
    (name) => /\d/.test(name) && /\p{L}/u.test(name) && !isoDate.test(name),
  );
  return names
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, name) => rest.replaceAll(name, ' '.repeat(name.length)), text);
}

/** The texts and dates of all rows. */
function membersOf(evidence: readonly QueryEvidence[]): ReadonlySet<string> {
  return new Set(
    evidence.flatMap(({ rows }) =>
      rows.flatMap((row) =>
        row.flatMap((cell) =>
          typeof cell === 'string' && cell.length > 1 && numberOf(cell) === undefined ? [cell] : [],
        ),
      ),
    ),
  );
}

const isoDate = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ]|$)/;
const locales = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'pl'];

/** For the first of a month, and for other days. */
const formats = locales.flatMap((locale) =>
  (['long', 'short'] as const).map((month) => {
    const format = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month, ...options });
    return {
      months: [format({ year: 'numeric' }), format({})],
      days: [format({ day: 'numeric', year: 'numeric' }), format({ day: 'numeric' })],
    };
  }),
);
const knownSpellings = new Map<string, readonly string[]>();
const mostKnown = 10_000;

/** A date as people write it; any other text as it is. */
function spellings(cell: string): readonly string[] {
  const [, year = '', month = '', day = '01'] = isoDate.exec(cell) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (year === '' || Number.isNaN(date.getTime())) return [cell];
  const known = knownSpellings.get(cell);
  if (known !== undefined) return known;
  const written = formats
    .flatMap(({ months, days }) => (day === '01' ? months : days))
    .map((format) => format.format(date));
  const quarter = `Q${Math.ceil(Number(month) / 3)}`;
  const isQuarter = day === '01' && Number(month) % 3 === 1;
  const numbers = [
    ...(day === '01' ? [`${year}-${month}`, `${month}/${year}`] : []),
    ...(isQuarter ? [`${quarter} ${year}`, `${year}-${quarter}`, `${quarter}/${year}`] : []),
  ];
  const all = [cell, `${year}-${month}-${day}`, ...numbers, ...written];
  const found = [...new Set(all)].filter((spelling) => spelling.length > 2);
  if (knownSpellings.size >= mostKnown) knownSpellings.clear();
  knownSpellings.set(cell, found);
  return found;
}

function placesOf(text: string, name: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + name.length])) places.push(at);
  return places;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
