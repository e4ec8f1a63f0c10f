import { UserError } from '../../../lib/error.ts';
import {
  stableId,
  type ImportedQuestion,
  type LeftOutQuestion,
  type ReadQuestions,
} from './imported-question.ts';
import { readTurtle, type TurtleGraph } from './read-turtle.ts';

/** Tags for how the title of a query begins: how hard the question and the schema are. */
const difficulties: Readonly<Record<string, readonly string[]>> = {
  LQLS: ['low-question', 'low-schema'],
  LQHS: ['low-question', 'high-schema'],
  HQLS: ['high-question', 'low-schema'],
  HQHS: ['high-question', 'high-schema'],
};

/**
 * The questions of the benchmark that dbt Labs publishes for its semantic layer
 * (`benchmark_questions.ttl`): inquiries with a prompt, each expecting a query in SQL. Throws
 * `import_invalid` if there are none.
 */
export function readInquiries(file: string, text: string): ReadQuestions {
  const graph = readTurtle(text);
  const inquiries = [...graph].filter(([, predicates]) => has(predicates, 'Inquiry'));
  if (inquiries.length === 0)
    throw new UserError('import_invalid', `${file} has no inquiries.`, {
      hint: 'dbt Labs publishes benchmark_questions.ttl, with QandA:prompt and QandA:expects',
      exitCode: 2,
    });
  const read = inquiries.map(([name, predicates]) => toQuestion(graph, name, predicates));
  return {
    questions: read.flatMap((each) => ('sql' in each ? [each] : [])),
    left: read.flatMap((each) => ('sql' in each ? [] : [each])),
  };
}

type Predicates = ReadonlyMap<string, readonly string[]>;

/** Prefixes differ from file to file, so the last part counts. */
function valuesOf(predicates: Predicates | undefined, name: string): readonly string[] {
  return [...(predicates ?? [])].flatMap(([key, values]) =>
    key === name || key.endsWith(`:${name}`) || key.endsWith(`#${name}`) ? values : [],
  );
}

function has(predicates: Predicates | undefined, type: string): boolean {
  return [...valuesOf(predicates, 'type'), ...valuesOf(predicates, 'a')].some((value) =>
    value.endsWith(type),
  );
}

function toQuestion(
  graph: TurtleGraph,
  name: string,
  predicates: Predicates,
): ImportedQuestion | LeftOutQuestion {
  const [question = ''] = valuesOf(predicates, 'prompt');
  const query = valuesOf(predicates, 'expects')
    .map((each) => graph.get(each))
    .find((each) => has(each, 'SqlQuery'));
  const [sql = ''] = valuesOf(query, 'queryText');
  if (question.trim() === '') return { what: name, why: 'no question' };
  if (sql.trim() === '') return { what: question, why: 'no SQL' };
  const [title = ''] = valuesOf(query, 'title');
  return {
    id: stableId(undefined, [question.trim(), sql.trim()]),
    question: question.trim(),
    sql: sql.trim(),
    database: undefined,
    evidence: undefined,
    tags: [...(difficulties[title.split(':')[0]?.trim() ?? ''] ?? [])],
  };
}
