import { z } from 'zod';
import { UserError } from '../../../lib/error.ts';
import { parseJson } from '../../../lib/json.ts';
import { stableId, toId, type ImportedQuestion, type ReadQuestions } from './imported-question.ts';

const text = z.string().trim().min(1);

/** An entry of `dev.json` of BIRD. Its `evidence` is what the model may know. */
const birdSchema = z.looseObject({
  question_id: z.union([z.int(), text]).optional(),
  db_id: text,
  question: text,
  SQL: text,
  evidence: z.string().optional(),
  difficulty: z.string().optional(),
});
/** An entry of `dev.json` of Spider. It has no id. */
const spiderSchema = z.looseObject({ db_id: text, question: text, query: text });

export type BenchmarkFormat = 'bird' | 'spider';

/** `bird` or `spider`, by the keys of the first entry; undefined if it is neither. */
export function formatOfBenchmark(entries: unknown): BenchmarkFormat | undefined {
  const [first] = Array.isArray(entries) ? (entries as readonly unknown[]) : [];
  if (birdSchema.safeParse(first).success) return 'bird';
  return spiderSchema.safeParse(first).success ? 'spider' : undefined;
}

/** The entries of a JSON file of questions. Throws `import_invalid` if it is no list. */
export function parseBenchmark(file: string, json: string): readonly unknown[] {
  const parsed = parseJson(json);
  if (Array.isArray(parsed)) return parsed as readonly unknown[];
  const problem = parsed === undefined ? 'is not JSON' : 'is not a list of questions';
  throw new UserError('import_invalid', `${file} ${problem}.`, {
    hint: 'BIRD and Spider publish one as dev.json.',
    exitCode: 2,
  });
}

/** The questions of BIRD or Spider. Entries that lack something are left out by their number. */
export function readBenchmark(entries: readonly unknown[], format: BenchmarkFormat): ReadQuestions {
  const read = entries.map((entry, index) => {
    const { data, error } =
      format === 'bird' ? readBird(entry) : mapData(spiderSchema.safeParse(entry), fromSpider);
    const why = error?.issues
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join('; ');
    return { data, left: { what: `question ${index + 1}`, why: why ?? '' } };
  });
  return {
    questions: read.flatMap(({ data }) => data ?? []),
    left: read.flatMap(({ data, left }) => (data === undefined ? [left] : [])),
  };
}

function readBird(entry: unknown) {
  return mapData(birdSchema.safeParse(entry), fromBird);
}

/** The result of a parse, with its data in another form. */
function mapData<From, To>(result: z.ZodSafeParseResult<From>, map: (data: From) => To) {
  return result.success
    ? { data: map(result.data), error: undefined }
    : { data: undefined, error: result.error };
}

function fromBird(entry: z.infer<typeof birdSchema>): ImportedQuestion {
  const { question_id: number, db_id: database, question, SQL: sql, difficulty = '' } = entry;
  const evidence = entry.evidence?.trim();
  const id =
    number === undefined ? stableId(database, [question, sql]) : toId(database, String(number));
  const tags = difficulty.trim() === '' ? [] : [toId(difficulty)];
  return { id, question, sql, database, evidence: evidence === '' ? undefined : evidence, tags };
}

function fromSpider({
  db_id: database,
  question,
  query: sql,
}: z.infer<typeof spiderSchema>): ImportedQuestion {
  const id = stableId(database, [question, sql]);
  return { id, question, sql, database, evidence: undefined, tags: [] };
}
