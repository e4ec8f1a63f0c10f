import { dirname, extname, join } from 'node:path';
import type { ReadQuestions } from '../../../eval/cases/import/imported-question.ts';
import { UserError } from '../../../lib/error.ts';
import { readText } from '../../../store/files.ts';

export const importFormats = ['bird', 'spider', 'spider2', 'dbt', 'csv'] as const;
type ImportFormat = (typeof importFormats)[number];

const formatOfEnding: Readonly<Record<string, ImportFormat>> = {
  '.csv': 'csv',
  '.jsonl': 'spider2',
  '.ttl': 'dbt',
};

/** The questions of the file, in the format that is given or that it shows. */
export async function readQuestionFile(
  path: string,
  shownPath: string,
  given: ImportFormat | undefined,
): Promise<ReadQuestions> {
  const text = await readText(path);
  if (text === undefined)
    throw new UserError('file_not_found', `File not found: ${shownPath}.`, {
      hint: 'give a path relative to the current folder',
      exitCode: 2,
    });
  const format = given ?? formatOfEnding[extname(path).toLowerCase()];
  switch (format) {
    case 'csv': {
      const reader = await import('../../../eval/cases/import/read-csv-questions.ts');
      return reader.readCsvQuestions(shownPath, text);
    }
    case 'dbt': {
      const { readInquiries } = await import('../../../eval/cases/import/read-inquiries.ts');
      return readInquiries(shownPath, text);
    }
    case 'spider2':
      return readSpider2File(path, shownPath, text);
    case 'bird':
    case 'spider':
    case undefined:
      return readJsonFile(shownPath, text, format);
  }
  return format satisfies never;
}

/** Golden SQL and documents stand beside the questions, where the benchmark has them. */
async function readSpider2File(
  path: string,
  shownPath: string,
  text: string,
): Promise<ReadQuestions> {
  const { isSpider2, readSpider2 } = await import('../../../eval/cases/import/read-spider2.ts');
  if (!isSpider2(text)) throw unknownFormat(shownPath);
  const folder = dirname(path);
  const read = (...parts: readonly string[]) => readText(join(folder, ...parts), folder);
  return readSpider2(text, {
    goldSql: (id) => read('evaluation_suite', 'gold', 'sql', `${id}.sql`),
    document: (name) => read('resource', 'documents', name),
  });
}

async function readJsonFile(
  shownPath: string,
  text: string,
  format: 'bird' | 'spider' | undefined,
): Promise<ReadQuestions> {
  const { formatOfBenchmark, parseBenchmark, readBenchmark } =
    await import('../../../eval/cases/import/read-benchmark.ts');
  const entries = parseBenchmark(shownPath, text);
  const found = format ?? formatOfBenchmark(entries);
  if (found === undefined) throw unknownFormat(shownPath);
  return readBenchmark(entries, found);
}

function unknownFormat(shownPath: string): UserError {
  return new UserError('import_invalid', `${shownPath} is of no benchmark that ktx knows.`, {
    hint:
      'Questions of BIRD have db_id, question and SQL, those of Spider db_id, question and query, ' +
      'those of Spider 2 instance_id, db and question.',
    exitCode: 2,
  });
}
