import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { readDates } from '../dates/read-dates.ts';
import type { AnswerToGround, GroundedClaim } from '../ground-answer.ts';
import { findMentions, type Mention } from './mentions.ts';
import { averageWords, changeWords, restWords, totalWords } from '../numbers/number-words.ts';
import { splitStatements, type Statement } from '../statements.ts';

/** The name of an entry of a list or a table. */
interface EntryLabel {
  readonly text: string;
  /** In the answer. */
  readonly start: number;
  /** Where the entry ends. */
  readonly end: number;
}

/**
 * Binds each name in an answer that a row has to its cell. A name that no row has is known where it
 * heads an entry among others that rows name: in a sentence, any word may be a name.
 */
export function groundMembers(
  answer: AnswerToGround,
  numbers: readonly GroundedClaim[],
): readonly GroundedClaim[] {
  const { text, evidence } = answer;
  const statements = splitStatements(text);
  const named = statements.flatMap((statement) =>
    firstMentions(findMentions(statement.text, evidence)).map((mention) => ({
      ...mention,
      start: statement.start + mention.start,
      end: statement.start + mention.end,
    })),
  );
  const claims = named
    .filter(({ cell }) => /\p{L}/u.test(cell) && readDates(cell).length === 0)
    .map((mention) => boundClaim(text.slice(mention.start, mention.end), mention, evidence));
  return [...claims, ...unknownLabels(statements, answer, numbers)];
}

/** A name may stand in several queries: one of them is enough. */
function firstMentions(mentions: readonly Mention[]): readonly Mention[] {
  return mentions.filter(
    ({ start }, index) => mentions.findIndex((mention) => mention.start === start) === index,
  );
}

function boundClaim(
  text: string,
  { query, column, cell, start, end }: Mention,
  evidence: readonly QueryEvidence[],
): GroundedClaim {
  const table = evidence.find(({ id }) => id === query);
  const row = table?.rows.findIndex((cells) => String(cells[column]) === cell);
  const name = table?.columns[column]?.name;
  const cells = [{ query, row, column: name }];
  return { kind: 'member', text, span: [start, end], status: 'cell', evidence: cells };
}

/** The names of entries that no row has, in lists and tables where rows have most. */
function unknownLabels(
  statements: readonly Statement[],
  { question, evidence }: AnswerToGround,
  numbers: readonly GroundedClaim[],
): readonly GroundedClaim[] {
  // What is computed from rows has a name of its own, such as `Gross profit`.
  const isComputed = ({ start, end }: EntryLabel) =>
    numbers.some(({ span, status }) => status === 'derived' && start <= span[0] && span[1] <= end);
  const isKnown = ({ text }: EntryLabel) => findMentions(text, evidence).length > 0;
  const asked = question.toLowerCase();
  const isName = ({ text }: EntryLabel) =>
    /\p{L}/u.test(text) &&
    ![totalWords, restWords, averageWords, changeWords].some((words) => words.test(text)) &&
    readDates(text).length === 0 &&
    !asked.includes(text.toLowerCase());
  return groupsOf(statements).flatMap((labels) => {
    const known = labels.filter(isKnown);
    const unknown = labels.filter(
      (label) => !isKnown(label) && isName(label) && !isComputed(label),
    );
    if (known.length < 2 || unknown.length >= known.length || hasNullName(known, evidence))
      return [];
    return unknown.map(({ text, start }): GroundedClaim => {
      const reason = 'no row of a query has this name';
      const span = [start, start + text.length] as const;
      return { kind: 'member', text, span, status: 'ungrounded', evidence: [], reason };
    });
  });
}

/** True where a row has no name: `unknown` may be its name in the answer. */
function hasNullName(labels: readonly EntryLabel[], evidence: readonly QueryEvidence[]): boolean {
  const mentions = labels.flatMap(({ text }) => findMentions(text, evidence));
  return mentions.some(({ query, column }) =>
    evidence.some(({ id, rows }) => id === query && rows.some((row) => (row[column] ?? '') === '')),
  );
}

/** The names of the entries of each list and table. */
function groupsOf(statements: readonly Statement[]): readonly (readonly EntryLabel[])[] {
  const groups: EntryLabel[][] = [];
  let isOpen = false;
  for (const statement of statements) {
    const label = statement.isEntry ? labelOf(statement) : undefined;
    if (label !== undefined && isOpen) groups.at(-1)?.push(label);
    else if (label !== undefined) groups.push([label]);
    isOpen = statement.isEntry && (isOpen || label !== undefined);
  }
  return groups;
}

/** The first cell of a row, or what stands before the colon or the dash of an item. */
function labelOf(statement: Statement): EntryLabel | undefined {
  const pattern =
    statement.cells.length > 0
      ? /^\s*\|\s*[*_`]*([^|]*?)[*_`]*\s*\|.*\d/u
      : /^\s*(?:[-*•]|\d{1,3}[.)])\s+[*_`]*([^:–—\n]{2,60}?)[*_`]*\s*(?::|\s[–—-]\s).*\d/u;
  const match = /^\s*\|[\s|:-]*$/.test(statement.text) ? undefined : pattern.exec(statement.text);
  const text = match?.[1]?.trim() ?? '';
  if (text === '') return undefined;
  return { text, start: statement.start + statement.text.indexOf(text), end: statement.end };
}
