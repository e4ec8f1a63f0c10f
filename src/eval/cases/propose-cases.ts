import { Document, isSeq, parseDocument } from 'yaml';
import { UserError } from '../../lib/error.ts';
import type { Project } from '../../project/open/open.ts';
import { planQuery } from '../../project/answer/query.ts';
import { readVisibleDatasets, type VisibleDataset } from '../../project/answer/visible-datasets.ts';
import { readWikiSections } from '../../project/answer/wiki.ts';
import { querySchema } from '../../semantic/query/query.ts';
import type { QuestionSetFile } from './question-set-schema.ts';
import { goldenSqlProblem } from './golden-sql.ts';
import { parseQueryFile, type CommentedQuery } from './parse-query-file.ts';

type Proposal = Pick<QuestionSetFile['cases'][number], 'id' | 'tags'> & {
  readonly question: string;
  readonly expect: object;
};

/** The metric that ktx gives every dataset says nothing that a person wants to be asked. */
const plainMetric = 'count';

/** SQL that somebody keeps, with what it answers in the comment above each statement. */
interface QueryFile {
  readonly name: string;
  readonly text: string;
}

interface Proposals {
  readonly cases: readonly Proposal[];
  /** What is no case, and why. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
}

/**
 * Cases that a person then corrects: for each curated metric its value as it is defined now, for each term of the wiki what
 * it means; where there are files, for each of their statements its rows instead. They hold definitions in place; whether
 * those are right is not theirs to say. All golden SQL has run, and found something.
 */
export async function proposeCases(project: Project, from: From): Promise<Proposals> {
  if (from.files.length > 0) return queryCases(project, from);
  const datasets = await readVisibleDatasets(project, from.connection);
  const metrics = await Promise.all(
    datasets.map((dataset) => metricCases(project, from.connection, dataset)),
  );
  const { cases, left } = await tried(project, metrics.flat(), from);
  return { cases: [...cases, ...(await termCases(project))], left };
}

async function queryCases(project: Project, from: From): Promise<Proposals> {
  const asked = from.files.flatMap(({ name, text }) =>
    parseQueryFile(text).map((query) => ({ ...query, place: `${name}:${query.line}` })),
  );
  const unasked = asked
    .filter(({ question }) => question === '')
    .map(({ place }) => ({ what: place, why: 'no comment above it says what it answers' }));
  const { cases, left } = await tried(
    project,
    asked.filter(({ question }) => question !== '').map(queryCase),
    from,
  );
  return { cases, left: [...unasked, ...left] };
}

/** Those whose golden SQL proves something. */
async function tried(
  project: Project,
  all: readonly Tried[],
  { connection, signal }: From,
): Promise<Proposals> {
  const cases: Proposal[] = [];
  const left: Proposals['left'][number][] = [];
  for (const { what, sql, proposal } of all) {
    const why = await goldenSqlProblem(project, { connection, sql }, signal);
    if (why === undefined) cases.push(proposal);
    else left.push({ what, why });
  }
  return { cases, left };
}

interface From {
  readonly connection: string;
  readonly files: readonly QueryFile[];
  readonly signal: AbortSignal;
}

/** Not yet known to run. */
interface Tried {
  readonly what: string;
  readonly sql: string;
  readonly proposal: Proposal;
}

function queryCase({ question, sql, place }: CommentedQuery & { readonly place: string }): Tried {
  return {
    what: place,
    sql,
    proposal: {
      id: slug(question),
      question,
      tags: ['generated', 'query'],
      expect: { result: { golden_sql: sql } },
    },
  };
}

async function metricCases(
  project: Project,
  connection: string,
  { dataset, unqueryable }: VisibleDataset,
): Promise<readonly Tried[]> {
  const metrics = (dataset.metrics ?? []).filter(
    ({ name }) => name !== plainMetric && !unqueryable.has(name),
  );
  const cases = metrics.map(async ({ name, synonyms = [] }): Promise<readonly Tried[]> => {
    const metric = `${dataset.dataset}.${name}`;
    const sql = await sqlOf(project, connection, metric);
    if (sql === undefined) return [];
    const called = synonyms[0] ?? name.replaceAll('_', ' ');
    const expect = { result: { golden_sql: sql }, semantic_layer: { metrics: [metric] } };
    const question = `What is ${called} overall (${dataset.dataset.replaceAll('_', ' ')})?`;
    return [
      {
        what: metric,
        sql,
        proposal: {
          id: slug(`${dataset.dataset}-${name}`),
          question,
          tags: ['generated', 'metric'],
          expect,
        },
      },
    ];
  });
  return (await Promise.all(cases)).flat();
}

/** Undefined where the metric cannot be asked for without more, such as a time. */
async function sqlOf(
  project: Project,
  connection: string,
  metric: string,
): Promise<string | undefined> {
  try {
    return (
      await planQuery(project, { connection, query: querySchema.parse({ metrics: [metric] }) })
    ).sql;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

async function termCases(project: Project): Promise<readonly Proposal[]> {
  const terms = (await readWikiSections(project)).filter(
    ({ subject, isContested }) => subject.startsWith('term:') && !isContested,
  );
  return terms.flatMap(({ title, text }) => {
    const meaning = text
      .replace(/^## .*\n/, '')
      .replaceAll(/^See .*$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
    if (meaning === '') return [];
    const judge = { criteria: `Says in substance: ${meaning.slice(0, 400)}` };
    return [
      {
        id: slug(`term-${title}`),
        question: `What do we mean by “${title}”?`,
        tags: ['generated', 'term'],
        expect: { judge },
      },
    ];
  });
}

interface Added {
  readonly text: string;
  readonly ids: readonly string[];
}

/** The question set with those cases that it does not have; what stands in it stays, comments too. */
export function addCases(
  before: string | undefined,
  proposals: readonly Proposal[],
  { file, connection }: Place,
): Added {
  const document =
    before === undefined
      ? new Document({ version: 1, connection, cases: [] })
      : parseDocument(before);
  const cases = document.get('cases');
  if (document.errors.length > 0 || !isSeq(cases)) {
    throw new UserError('eval_invalid', `${file} is no question set.`, {
      hint: 'correct it, or name another: ktx eval generate <name>',
      exitCode: 2,
    });
  }
  const taken = new Set(
    cases
      .toJSON()
      .map((each: unknown) => (each instanceof Object ? Reflect.get(each, 'id') : undefined)),
  );
  const added = proposals.filter(
    ({ id }, at) => !taken.has(id) && proposals.findIndex((other) => other.id === id) === at,
  );
  cases.flow = false;
  for (const one of added) cases.add(document.createNode(one));
  return { text: document.toString({ lineWidth: 0 }), ids: added.map(({ id }) => id) };
}

interface Place {
  readonly file: string;
  readonly connection: string;
}

function slug(text: string): string {
  const words = text
    .toLowerCase()
    .normalize('NFKD')
    .match(/[a-z0-9]+/g) ?? ['case'];
  return words.join('-').slice(0, 80);
}
