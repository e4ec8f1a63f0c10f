import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { GroundedClaim } from '../ground-answer.ts';
import type { Statement } from '../statements.ts';
import { isWindow } from './windows.ts';
import { namesThing } from './named-things.ts';
import { nextWords } from '../rare/from-stated.ts';
import { isOffered } from './offers.ts';

/** A whole number or a year: what people offer and set limits with. */
const plain = /^(?:\d{1,3}|(?:19|20)\d\d|\p{L}+)$/u;
const percent = /^\d{1,3}\s?[%％]$/u;
const limit =
  /(?:threshold|cut-?off|limit|schwelle|grenze|seuil|umbral|límite|limiar|soglia|drempel)\p{L}*(?:\s\p{L}{1,3})?\s$/iu;

interface AnswerAround {
  readonly text: string;
  readonly statements: readonly Statement[];
  readonly evidence: readonly QueryEvidence[];
}

/**
 * False for a number or a date that no row could give and that says nothing of them: what an answer
 * offers (`shall I list the top 20?`), and what has digits in its name (`ISO 8601`).
 */
export function speaksOfRows(
  { kind, status, text, span: [start, end] }: GroundedClaim,
  { text: answer, statements, evidence }: AnswerAround,
): boolean {
  if (status !== 'ungrounded' || (kind !== 'number' && kind !== 'date')) return true;
  const statement = statements.find((own) => own.start <= start && end <= own.end);
  if (statement === undefined) return true;
  const before = answer.slice(Math.max(statement.start, start - 60), start);
  const isPlain = kind === 'date' || plain.test(text) || (percent.test(text) && limit.test(before));
  if (isPlain && isOffered(statement, start) && !namesRow(statement, evidence)) return false;
  if (/^20\d\d$/.test(text) && isYetToCome(text, statement, evidence)) return false;
  if (kind === 'date') return true;
  const behind = answer.slice(end, end + 60);
  if (isWindow(text, before, { behind, evidence })) return false;
  return !namesThing({ before, behind, isShort: /^(?:\d{1,3}|\p{L}+)$/u.test(text) }, evidence);
}

/** True for `did you know that APAC has 12?`: a question, and yet it says something of a row. */
function namesRow({ text }: Statement, evidence: readonly QueryEvidence[]): boolean {
  const said = text.toLowerCase();
  return evidence.some(({ rows }) =>
    rows
      .flat()
      .some(
        (cell) =>
          typeof cell === 'string' && /\p{L}{2}/u.test(cell) && said.includes(cell.toLowerCase()),
      ),
  );
}

/** A year that no query reaches, in a sentence about what will be. */
function isYetToCome(
  year: string,
  { text }: Statement,
  evidence: readonly QueryEvidence[],
): boolean {
  const years = evidence.flatMap(({ sql = '', rows }) => [
    ...`${sql} ${rows.flat().map(String).join(' ')}`.matchAll(/\b(20\d\d)(?:-\d\d)*\b/g),
  ]);
  return nextWords.test(text) && years.every(([, own]) => Number(own) < Number(year));
}
