import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { columnKinds, isLabel } from '../columns.ts';
import type { GroundedClaim } from '../ground-answer.ts';
import { findMentions } from '../names/mentions.ts';
import type { Statement } from '../statements.ts';
import { numberOf } from '../values.ts';
import { isDoubtful } from './direction-words.ts';

const most =
  'most|highest|largest|biggest|meisten|höchsten?|größten?|le plus (?:de|élevée?|grande?)|mayor|más alt[oa]|maggior|più alt[oa]|maior|mais alt[oa]|grootste|hoogste|meeste|najwięcej|största|högsta';
const least =
  'fewest|lowest|smallest|least|wenigsten|niedrigsten?|kleinsten?|le moins de|menor|más baj[oa]|minor|più bass[oa]|mais baix[oa]|kleinste|laagste|minste|najmniej|minsta|lägsta';
const superlative = new RegExp(`(?<![\\p{L}-])(?:(${most})|(${least}))(?![\\p{L}-])`, 'giu');

/** What is the largest of some rows need not be that of all. */
const ofSome =
  /(?<!\p{L})(?:second|third|fourth|next|other|others|rest|remaining|among|except|besides|after|behind|average|per|rate|share|change|growth|rise|drop|increase|decrease|at most|at least|mostly|almost|zweit\p{L}*|dritt\p{L}*|nächst\p{L}*|ander\p{L}*|übrig\p{L}*|außer|nach|hinter|mindestens|höchstens|pro|je|deuxième|autres?|après|sauf|segund[oa]|tercer[oa]?|otr[oa]s?|excepto|altr[ie]|dopo|secondo|outr[oa]s?|andere|tweede|na)(?!\p{L})/iu;

/**
 * `Mons has the most orders`, where the only numbers of the rows say that another has. Silent with
 * a second name, a number or a word for a part in the same clause.
 */
export function wrongSuperlatives(
  { text, start }: Statement,
  evidence: readonly QueryEvidence[],
): readonly GroundedClaim[] {
  if (isDoubtful(text) || ofSome.test(text)) return [];
  const found = [...text.matchAll(superlative)];
  const [word] = found;
  if (word === undefined || found.length > 1) return [];
  const from =
    Math.max(...[',', '(', '|', '–'].map((mark) => text.lastIndexOf(mark, word.index))) + 1;
  const clause = /^[^,()|–]*/u.exec(text.slice(from))?.[0] ?? '';
  if (/\d/.test(clause.replaceAll(/\[q\d+\]/g, ''))) return [];
  return evidence.flatMap((query): readonly GroundedClaim[] => {
    const [mention, ...others] = findMentions(clause, [query]);
    const column = onlyNumbers(query);
    if (mention === undefined || others.length > 0 || column === undefined) return [];
    const values = query.rows.map((row) => numberOf(row[column]) ?? Number.NaN);
    const rows = query.rows.flatMap((row, index) =>
      String(row[mention.column]) === mention.cell ? [index] : [],
    );
    const [row] = rows;
    const wanted = word[1] === undefined ? Math.min(...values) : Math.max(...values);
    if (row === undefined || rows.length > 1 || values.some(Number.isNaN)) return [];
    if (values[row] === wanted) return [];
    const at = values.indexOf(wanted) + 1;
    return [
      {
        kind: 'direction',
        text: word[0],
        span: [start + word.index, start + word.index + word[0].length],
        status: 'ungrounded',
        evidence: [{ query: query.id, row, column: query.columns[column]?.name }],
        reason: `the rows say that another is: ${wanted} (${query.id}, row ${at})`,
      },
    ];
  });
}

/** The only column with numbers that are no labels, of a result that has all of its rows. */
function onlyNumbers(query: QueryEvidence): number | undefined {
  const kinds = columnKinds(query);
  const columns = [...query.columns.keys()].filter(
    (column) =>
      !isLabel(kinds[column]) && query.rows.some((row) => numberOf(row[column]) !== undefined),
  );
  return query.truncated || query.rows.length < 2 || columns.length > 1 ? undefined : columns[0];
}
