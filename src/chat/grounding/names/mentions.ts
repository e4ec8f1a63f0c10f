import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { spellings } from '../numbers/spellings.ts';
import { numberOf } from '../values.ts';

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
  const lower = statement.toLowerCase();
  const names = evidence.flatMap(namesOf).filter(({ spelling }) => lower.includes(spelling));
  const taken: { readonly start: number; readonly end: number; readonly spelling: string }[] = [];
  const found: Mention[] = [];
  for (const { spelling, places } of names.toSorted(
    (a, b) => b.spelling.length - a.spelling.length,
  ))
    for (const start of placesOf(lower, spelling)) {
      const end = start + spelling.length;
      const isHidden = (span: (typeof taken)[number]) =>
        span.start < end && start < span.end && span.spelling !== spelling;
      if (taken.some(isHidden)) continue;
      taken.push({ start, end, spelling });
      found.push(...places.map((place) => ({ ...place, start, end })));
    }
  return found.toSorted((a, b) => a.start - b.start || a.column - b.column);
}

/** What statements may call the rows of a query. */
function namesOf(query: QueryEvidence): readonly Name[] {
  const known = namesOfQueries.get(query);
  if (known !== undefined) return known;
  const kinds = columnKinds(query);
  const bySpelling = new Map<string, Map<string, Name['places'][number]>>();
  for (const row of query.rows)
    row.forEach((value, column) => {
      const cell = nameIn(value, isLabel(kinds[column]));
      if (cell === undefined) return;
      for (const spelling of spellings(cell)) {
        const places = bySpelling.get(spelling.toLowerCase()) ?? new Map();
        bySpelling.set(spelling.toLowerCase(), places);
        places.set(`${column} ${cell}`, { query: query.id, column, cell });
      }
    });
  const names = [...bySpelling].map(([spelling, places]) => {
    return { spelling, places: [...places.values()] };
  });
  namesOfQueries.set(query, names);
  return names;
}

function nameIn(value: unknown, isNumber: boolean): string | undefined {
  if (isNumber && (typeof value === 'number' || typeof value === 'string')) return String(value);
  const isName = typeof value === 'string' && value.length > 1 && numberOf(value) === undefined;
  return isName ? value : undefined;
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
    .reduce((rest, name) => rest.replaceAll(name, ' '.repeat(name.length)), text);
}

function placesOf(text: string, name: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + name.length])) places.push(at);
  return places;
}

/** Scripts without spaces begin a word behind any name: `DACHが`. */
function isLetter(character: string | undefined): boolean {
  return (
    character !== undefined &&
    /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u.test(character)
  );
}
