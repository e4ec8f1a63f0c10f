import { UserError } from '../../../lib/error.ts';
import { requirePlan } from '../../../project/answer/query.ts';
import { searchProject } from '../../../project/answer/search.ts';
import { findValues } from '../../../project/answer/values.ts';
import type { Project } from '../../../project/open/open.ts';
import type { ModelRelationship, SemanticModel } from '../../../semantic/model/model.ts';
import { querySchema } from '../../../semantic/query/query.ts';
import { type RateInterval, wilsonInterval } from '../../report/statistics.ts';
import type { GoldQuestion, GoldSet } from './gold-set.ts';

/** How many hits of a search are looked at. */
const tableDepths = [5, 10, 20] as const;
const fieldDepths = [10, 20] as const;
/** How many matches of a value are looked at. */
const valueDepth = 5;

/** The share of what questions need that ktx finds without a model. */
interface RetrievalFigure {
  readonly name: string;
  /** Mean over the questions that need such a thing. */
  readonly recall: RateInterval;
  readonly questions: number;
}

interface RetrievalMiss {
  readonly question: string;
  readonly name: string;
  readonly missing: readonly string[];
}

interface RetrievalFinding {
  readonly name: string;
  readonly wanted: readonly string[];
  readonly found: ReadonlySet<string>;
}

export interface RetrievalResult {
  readonly questions: number;
  readonly figures: readonly RetrievalFigure[];
  /** What was not found, by question. */
  readonly misses: readonly RetrievalMiss[];
}

interface Measuring {
  readonly signal: AbortSignal;
  readonly onQuestion: (done: number) => void;
}

/** Asks no model, sends nothing: search compares words only. */
export async function measureRetrieval(
  project: Project,
  { connection: given, questions }: GoldSet,
  { signal, onQuestion }: Measuring,
): Promise<RetrievalResult> {
  const connection = project.connection(given).name;
  const { model } = await project.model(connection);
  requireKnown(model, questions);
  const findings = new Map<GoldQuestion, readonly RetrievalFinding[]>();
  for (const gold of questions) {
    signal.throwIfAborted();
    findings.set(gold, [
      ...(await searchFindings(project, gold, { connection, signal })),
      await joinFinding(project, gold, { connection, model }),
      await valueFinding(project, gold, connection),
    ]);
    onQuestion(findings.size);
  }
  const all = [...findings.values()].flat().filter(({ wanted }) => wanted.length > 0);
  const names = [...new Set(all.map(({ name }) => name))];
  return {
    questions: questions.length,
    figures: names.flatMap((name) => {
      const shares = all.filter((finding) => finding.name === name).map(foundShare);
      const found = shares.reduce((sum, share) => sum + share, 0);
      const recall = wilsonInterval(found, shares.length);
      return recall === undefined ? [] : [{ name, recall, questions: shares.length }];
    }),
    misses: [...findings].flatMap(([{ question }, own]) =>
      own.flatMap(({ name, wanted, found }) => {
        const missing = wanted.filter((each) => !found.has(each));
        return missing.length === 0 ? [] : [{ question, name, missing }];
      }),
    ),
  };
}

function foundShare({ wanted, found }: RetrievalFinding): number {
  return wanted.filter((each) => found.has(each)).length / wanted.length;
}

/** A misspelt name would count as never found. */
function requireKnown(model: SemanticModel, questions: readonly GoldQuestion[]): void {
  const named = questions.flatMap(({ columns, joins, values }) => [
    ...columns,
    ...joins.flatMap(({ from, to }) => [from, to]),
    ...values.map(({ field }) => field),
  ]);
  const unknown = named.find((name) => {
    const [dataset = '', field = ''] = name.split('.');
    return model.datasets.get(dataset)?.fields.has(field) !== true;
  });
  if (unknown === undefined) return;
  throw new UserError('gold_unknown', `The semantic layer has no field ${unknown}.`, {
    hint: 'ktx sl list shows the datasets; correct the file of gold questions',
    exitCode: 2,
  });
}

interface SearchPlace {
  readonly connection: string;
  readonly signal: AbortSignal;
}

async function searchFindings(
  project: Project,
  { question, columns }: GoldQuestion,
  { connection, signal }: SearchPlace,
): Promise<readonly RetrievalFinding[]> {
  const options = { connection, embeddings: false, signal, limit: 20 };
  const [things, fields] = await Promise.all([
    searchProject(project, question, options),
    searchProject(project, question, { ...options, kinds: ['field'] }),
  ]);
  const tables = [...new Set(columns.map((name) => name.split('.')[0] ?? ''))];
  return [
    ...tableDepths.map((depth) => ({
      name: `tables, first ${depth} hits`,
      wanted: tables,
      found: new Set(things.hits.slice(0, depth).map(({ parent }) => parent)),
    })),
    ...fieldDepths.map((depth) => ({
      name: `columns, first ${depth} fields`,
      wanted: columns,
      found: new Set(fields.hits.slice(0, depth).map(({ parent, name }) => `${parent}.${name}`)),
    })),
  ];
}

/** Found: the semantic layer has each join, and plans a query over all of them from one fact. */
async function joinFinding(
  project: Project,
  { joins }: GoldQuestion,
  { connection, model }: { connection: string; model: SemanticModel },
): Promise<RetrievalFinding> {
  const chains = chainsOf(joins);
  const planned = await Promise.all(
    chains.map(async (chain) =>
      (await isPlanned(project, chain, { connection, model })) ? chain : [],
    ),
  );
  return {
    name: 'joins',
    wanted: joins.map(joinText),
    found: new Set(planned.flat().map(joinText)),
  };
}

type GoldJoin = GoldQuestion['joins'][number];

function joinText({ from, to }: GoldJoin): string {
  return `${from} = ${to}`;
}

/** Joins that continue each other are one path from its fact. */
function chainsOf(joins: readonly GoldJoin[]): readonly (readonly GoldJoin[])[] {
  const chains: GoldJoin[][] = [];
  for (const join of joins) {
    const [dataset] = join.from.split('.');
    const before = chains.find((chain) => chain.at(-1)?.to.split('.')[0] === dataset);
    if (before === undefined) chains.push([join]);
    else before.push(join);
  }
  return chains;
}

async function isPlanned(
  project: Project,
  chain: readonly GoldJoin[],
  { connection, model }: { connection: string; model: SemanticModel },
): Promise<boolean> {
  const [fact = '', key = ''] = chain[0]?.from.split('.') ?? [];
  const roles: string[] = [];
  for (const { from, to } of chain) {
    const [dataset = '', own = ''] = from.split('.');
    const found = model.datasets
      .get(dataset)
      ?.relationships.find((relationship) => joinsOver(relationship, own, to));
    if (found === undefined) return false;
    roles.push(found.name);
  }
  const target = chain.at(-1)?.to.split('.')[1] ?? '';
  const query = querySchema.parse({
    metrics: [{ name: 'n', expr: `count(${fact}.${key})` }],
    dimensions: [[fact, ...roles, target].join('.')],
  });
  try {
    await requirePlan(project, { connection, query });
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function joinsOver(
  { to, equal }: Pick<ModelRelationship, 'to' | 'equal'>,
  column: string,
  target: string,
): boolean {
  const [dataset, field] = target.split('.');
  return (
    to === dataset && equal.length === 1 && equal[0]?.own === column && equal[0].target === field
  );
}

async function valueFinding(
  project: Project,
  { values }: GoldQuestion,
  connection: string,
): Promise<RetrievalFinding> {
  const linked = await Promise.all(
    values.map(async ({ text, field }) => {
      const hits = (await findValues(project, text, connection)).slice(0, valueDepth);
      return hits.some((hit) => `${hit.dataset}.${hit.field}` === field)
        ? [`${field} = ${text}`]
        : [];
    }),
  );
  return {
    name: `values, first ${valueDepth} matches`,
    wanted: values.map(({ text, field }) => `${field} = ${text}`),
    found: new Set(linked.flat()),
  };
}
