import { UserError } from '../../lib/error.ts';
import { planQuery } from '../../project/answer/query.ts';
import { readVisibleDatasets, type VisibleDataset } from '../../project/answer/visible-datasets.ts';
import { readWikiSections } from '../../project/answer/wiki.ts';
import type { Project } from '../../project/open/open.ts';
import { parseJson } from '../../lib/json.ts';
import { querySchema, type SemanticQuery } from '../../semantic/query/query.ts';
import { goldenSqlProblem } from './golden-sql.ts';
import { isAskedFor, metricWords } from './question-words.ts';
import { parseQueryFile, type CommentedQuery } from './parse-query-file.ts';
import type { QuestionSetFile } from './question-set-schema.ts';

export type CaseProposal = Pick<QuestionSetFile['cases'][number], 'id' | 'tags'> & {
  readonly question: string;
  readonly expect: object;
};

interface CaseProposals {
  readonly cases: readonly CaseProposal[];
  /** What could not become a case, and why. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
}

interface ProposalOptions {
  readonly connection: string;
  /** SQL files in which a comment above each statement says what it answers. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly signal: AbortSignal;
}

/**
 * Proposes cases for a person to review. Without files: one for each curated metric, expecting its
 * value as it is defined now, one for each query of a BI tool that ktx can ask, and one for each
 * wiki term, expecting its meaning. With files: one
 * for each statement, expecting its rows. The golden SQL of every proposal runs and returns
 * something. The cases notice when a definition changes; they do not prove that it is right.
 */
export async function proposeCases(
  project: Project,
  options: ProposalOptions,
): Promise<CaseProposals> {
  if (options.files.length > 0) return proposeFromFiles(project, options);
  const datasets = await readVisibleDatasets(project, options.connection);
  const names = datasets.flatMap(({ dataset: { metrics: own = [] } }) =>
    own.map(({ name }) => name),
  );
  const shared = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const metrics = await Promise.all(
    datasets.map((dataset) => metricCandidates(project, options.connection, { dataset, shared })),
  );
  const saved = await savedQueryCandidates(project, options.connection);
  const { cases, left } = await keepRunnable(project, [...metrics.flat(), ...saved], options);
  return { cases: [...cases, ...(await termProposals(project))], left };
}

/** A case whose golden SQL has not run yet. */
interface CaseCandidate {
  /** The metric, or the file and line. */
  readonly what: string;
  readonly sql: string;
  readonly proposal: CaseProposal;
}

/** Keeps the candidates whose golden SQL runs and proves something. */
async function keepRunnable(
  project: Project,
  candidates: readonly CaseCandidate[],
  { connection, signal }: ProposalOptions,
): Promise<CaseProposals> {
  const cases: CaseProposal[] = [];
  const left: CaseProposals['left'][number][] = [];
  for (const { what, sql, proposal } of candidates) {
    const why = await goldenSqlProblem(project, { connection, sql }, signal);
    if (why === undefined) cases.push(proposal);
    else left.push({ what, why });
  }
  return { cases, left };
}

async function proposeFromFiles(
  project: Project,
  options: ProposalOptions,
): Promise<CaseProposals> {
  const queries = options.files.flatMap(({ name, text }) =>
    parseQueryFile(text).map((query) => ({ ...query, what: `${name}:${query.line}` })),
  );
  const uncommented = queries
    .filter(({ question }) => question === '')
    .map(({ what }) => ({ what, why: 'no comment above it says what it answers' }));
  const candidates = queries.filter(({ question }) => question !== '').map(queryCandidate);
  const { cases, left } = await keepRunnable(project, candidates, options);
  return { cases, left: [...uncommented, ...left] };
}

function queryCandidate({
  question,
  sql,
  what,
}: CommentedQuery & { readonly what: string }): CaseCandidate {
  const proposal = {
    id: toCaseId(question),
    question,
    tags: ['generated', 'query'],
    expect: { result: { golden_sql: sql } },
  };
  return { what, sql, proposal };
}

/** How a source writes a saved query into the text of a look or a dashboard. */
const savedQuery = /^Query: (\{.*\})$/gm;

/** The saved queries of BI tools, as questions that their titles ask. */
async function savedQueryCandidates(
  project: Project,
  connection: string,
): Promise<readonly CaseCandidate[]> {
  const sections = await readWikiSections(project);
  const found = sections.flatMap(({ title, text }) =>
    [...text.matchAll(savedQuery)].flatMap(([, json = ''], index) => {
      const query = querySchema.safeParse(parseJson(json)).data;
      return query === undefined ? [] : [{ title, index, query }];
    }),
  );
  const candidates = found.map(async ({ title, index, query }): Promise<CaseCandidate[]> => {
    const metrics = query.metrics.filter((metric) => typeof metric === 'string');
    const sql = await planOrNothing(project, connection, query);
    if (sql === undefined || metrics.length === 0) return [];
    const question = title.replace(/ \((?:Looker|Metabase) \w+ [^)]*\)$/, '');
    const proposal = {
      id: toCaseId(index === 0 ? title : `${title}-${index + 1}`),
      question: index === 0 ? question : `${question} (${metrics.join(', ')})`,
      tags: ['generated', 'query'],
      expect: { result: { golden_sql: sql }, semantic_layer: { metrics } },
    };
    return [{ what: title, sql, proposal }];
  });
  return (await Promise.all(candidates)).flat();
}

async function metricCandidates(
  project: Project,
  connection: string,
  {
    dataset: { dataset: file, unqueryable },
    shared,
  }: { readonly dataset: VisibleDataset; readonly shared: ReadonlySet<string> },
): Promise<readonly CaseCandidate[]> {
  const { dataset, metrics = [] } = file;
  const candidates = metrics
    .filter((own) => isAskedFor(own, file) && !unqueryable.has(own.name))
    .map(async (own): Promise<readonly CaseCandidate[]> => {
      const { name } = own;
      const metric = `${dataset}.${name}`;
      const sql = await metricSql(project, connection, metric);
      if (sql === undefined) return [];
      const words = metricWords(own, { dataset, isAmbiguous: shared.has(name) });
      const proposal = {
        id: toCaseId(`${dataset}-${name}`),
        question: `What is ${words}?`,
        tags: ['generated', 'metric'],
        expect: { result: { golden_sql: sql }, semantic_layer: { metrics: [metric] } },
      };
      return [{ what: metric, sql, proposal }];
    });
  return (await Promise.all(candidates)).flat();
}

/** The SQL of the metric's overall value; undefined if the metric needs more, such as a time. */
async function metricSql(
  project: Project,
  connection: string,
  metric: string,
): Promise<string | undefined> {
  return planOrNothing(project, connection, querySchema.parse({ metrics: [metric] }));
}

async function planOrNothing(
  project: Project,
  connection: string,
  query: SemanticQuery,
): Promise<string | undefined> {
  try {
    return (await planQuery(project, { connection, query })).sql;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Nobody asks what a dashboard means. */
const nameOfReport = / \((?:dashboard|look|explore|(?:Looker|Metabase) [^)]*)\)$/i;

async function termProposals(project: Project): Promise<readonly CaseProposal[]> {
  const terms = (await readWikiSections(project)).filter(
    ({ subject, title, isContested }) =>
      subject.startsWith('term:') && !isContested && !nameOfReport.test(title),
  );
  return terms.flatMap(({ title, text }) => {
    const meaning = text
      .replace(/^## .*\n/, '')
      .replaceAll(/^See .*$/gm, '')
      .replaceAll(savedQuery, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
    if (meaning === '') return [];
    return [
      {
        id: toCaseId(`term-${title}`),
        question: `What do we mean by “${title}”?`,
        tags: ['generated', 'term'],
        expect: { judge: { criteria: `Says in substance: ${meaning.slice(0, 400)}` } },
      },
    ];
  });
}

function toCaseId(text: string): string {
  const words = text
    .toLowerCase()
    .normalize('NFKD')
    .match(/[a-z0-9]+/g) ?? ['case'];
  return words.join('-').slice(0, 80);
}
