import { CsvError, parse } from 'csv-parse/sync';
import { slug } from '../../../context/catalog/slug.ts';
import { UserError } from '../../../lib/error.ts';
import {
  stableId,
  toId,
  type ImportedQuestion,
  type LeftOutQuestion,
  type ReadQuestions,
} from './imported-question.ts';

/** What a column is called, whatever its case. */
const columnNames = {
  question: ['question', 'prompt', 'natural_language'],
  sql: ['sql', 'query', 'golden_sql', 'gold_sql', 'expected_sql'],
  id: ['id', 'question_id', 'name'],
  database: ['db_id', 'database', 'connection', 'db'],
  evidence: ['evidence', 'hint', 'context'],
  tags: ['tags', 'tag', 'difficulty', 'category'],
} as const;

type Column = keyof typeof columnNames;

/**
 * The questions of a CSV file (RFC 4180, with a header) that has at least `question` and `sql`.
 * Throws `import_invalid` with the line if it is no such file.
 */
export function readCsvQuestions(file: string, text: string): ReadQuestions {
  const [header = [], ...rows] = parseRows(file, text);
  const at = new Map(
    Object.entries(columnNames).map(([column, names]) => [
      column as Column,
      header.findIndex((name) => (names as readonly string[]).includes(slug(name))),
    ]),
  );
  const missing = (['question', 'sql'] as const).find((column) => at.get(column) === -1);
  if (missing !== undefined)
    throw invalid(`${file} has no column ${missing}; it has ${header.join(', ') || 'none'}.`);
  const read = rows.map((row, index): ImportedQuestion | LeftOutQuestion => {
    const cell = (column: Column) => row[at.get(column) ?? -1]?.trim() ?? '';
    const optional = (column: Column) => (cell(column) === '' ? undefined : cell(column));
    const [question, sql, id] = [cell('question'), cell('sql'), cell('id')];
    if (question === '' || sql === '')
      return { what: `row ${index + 2}`, why: `no ${question === '' ? 'question' : 'SQL'}` };
    const database = optional('database');
    const tags = cell('tags').split(/[,;|\s]+/);
    return {
      id: id === '' ? stableId(database, [question, sql]) : toId(id),
      question,
      sql,
      database,
      evidence: optional('evidence'),
      tags: tags.filter((tag) => tag !== '').map((tag) => toId(tag)),
    };
  });
  return {
    questions: read.flatMap((entry) => ('sql' in entry ? [entry] : [])),
    left: read.flatMap((entry) => ('sql' in entry ? [] : [entry])),
  };
}

function parseRows(file: string, text: string): readonly (readonly string[])[] {
  try {
    return parse(text, { bom: true, skip_empty_lines: true, relax_column_count: true });
  } catch (error) {
    if (error instanceof CsvError) throw invalid(`${file} is not CSV: ${error.message}.`);
    throw error;
  }
}

function invalid(message: string): UserError {
  return new UserError('import_invalid', message, {
    hint: 'The first row names the columns: question, sql, and if you like id, database, evidence, tags.',
    exitCode: 2,
  });
}
