import { join } from 'node:path';
import { fullTableName } from '../../sql/dialect.ts';
import { z } from 'zod';
import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import { describeFilters } from '../../context/usage/usage.ts';
import { findExplanations } from '../../context/compile/explain.ts';
import { formatCount } from '../../lib/format-count.ts';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { readCommitState } from '../../project/open/commit-state.ts';
import { readConflicts, describeConflicts } from '../../project/review/conflicts.ts';
import type { Project } from '../../project/open/open.ts';
import { buildDatasetDocuments } from '../../project/answer/build-dataset-documents.ts';
import { findSteps, isStep, listedFile } from '../../context/catalog/find-steps.ts';
import {
  indexDatasetsByTable,
  renderVisibleDataset,
  readVisibleDatasets,
  type VisibleDataset,
  withoutUnreviewed,
} from '../../project/answer/visible-datasets.ts';
import { readWikiSections } from '../../project/answer/wiki.ts';
import { findSavedQuery } from '../../project/saved/saved-queries.ts';
import { readText } from '../../store/files.ts';
import { carriesNone, type ToolAnswer, type ToolDefinition } from '../tool.ts';
import { narrowToPart } from './dataset-part.ts';

const inputSchema = z.strictObject({
  name: z
    .string()
    .optional()
    .describe('dataset, dataset.metric, dataset.field, schema.table, term:… or another subject.'),
  connection: z.string().optional(),
});

export const readContext: ToolDefinition<typeof inputSchema> = {
  name: 'read_context',
  description:
    'Reads a dataset, one metric or field, a table or a term, with evidence. ' +
    'Without name: lists datasets.',
  effect: 'context',
  inputSchema,
  itemsName: 'text',
  async run({ name, connection: requested }, { project, isReviewedOnly }) {
    if (/^(term|rule|page):/.test(name ?? '')) return readWikiSection(project, name ?? '');
    if (name?.startsWith('query:') === true) return readSavedQuery(project, name, requested);
    const [, subjectConnection, address = name] = /^\w+:([^.]+)\.(.+)$/s.exec(name ?? '') ?? [];
    const connection = project.connection(requested ?? subjectConnection).name;
    const visible = await readVisibleDatasets(project, connection);
    const datasets = isReviewedOnly ? visible.map(withoutUnreviewed) : visible;
    if (address === undefined) return listDatasets(project, datasets);
    const dataset = datasets.find((each) => each.dataset.dataset === address.split(/[.(]/)[0]);
    return dataset === undefined
      ? readTable(project, { connection, datasets, address })
      : readDataset(project, dataset, address);
  },
};

interface TableAddress {
  readonly connection: string;
  readonly datasets: readonly VisibleDataset[];
  /** `table` or `schema.table`, in any case. */
  readonly address: string;
}

/** The structure of a table; of a table with a dataset, the dataset, since it may hide columns. */
async function readTable(
  project: Project,
  { connection, datasets, address }: TableAddress,
): Promise<ToolAnswer> {
  const catalog = await project.catalog(connection);
  const tables = catalog?.tables ?? [];
  const namesOf = (table: CatalogTable) => [fullTableName(table), table.table];
  const matches = tables.filter((table) =>
    namesOf(table).some((name) => name.toLowerCase() === address.toLowerCase()),
  );
  const dataset =
    catalog &&
    matches.map(indexDatasetsByTable(datasets, catalog)).find((each) => each !== undefined);
  if (dataset !== undefined) return readDataset(project, dataset, address);
  const items = matches.flatMap(({ columns, ...table }) =>
    [table, ...columns].map((part) => JSON.stringify(part)),
  );
  if (items.length > 0)
    return {
      summary: `Structure in ${connection}.`,
      trust: { status: 'ad_hoc' },
      items,
      values: carriesNone,
    };
  const names = [...datasets.map((each) => each.dataset.dataset), ...tables.flatMap(namesOf)];
  const message = `There is no dataset or table ${address} in ${connection}.`;
  throw notFoundError(message, didYouMean(address, names));
}

function notFoundError(message: string, suggestion: string | undefined): UserError {
  const hint = suggestion ?? 'Use search_context to find names.';
  return new UserError('not_found', message, { hint, exitCode: 2 });
}

/** The datasets that people ask; what leads to them is counted. */
async function listDatasets(
  { dir }: Project,
  datasets: readonly VisibleDataset[],
): Promise<ToolAnswer> {
  const steps = findSteps(datasets.map(({ dataset }) => listedFile(dataset)));
  const listed = datasets.filter(({ dataset }) => !steps.has(dataset.dataset));
  // A list that is too long loses its end.
  const rank = ({ dataset }: VisibleDataset) => Number(isStep(listedFile(dataset)));
  const sorted = listed.toSorted((a, b) => rank(a) - rank(b));
  const items = sorted.map(({ dataset: file, unqueryable }) => {
    const { dataset, layer, description, metrics, relationships } = file;
    const notQueryable = unqueryable.size === 0 ? {} : { not_yet_queryable: [...unqueryable] };
    return JSON.stringify({
      dataset,
      layer: layer === 'mart' ? undefined : layer,
      description,
      metrics: metrics?.map(({ name }) => name),
      ...notQueryable,
      refers_to: relationships?.map(({ to, role }) =>
        role === undefined ? to : `${to} as ${role}`,
      ),
    });
  });
  const paths = listed.map(({ path }) => path);
  const summary = `${formatCount(items.length, 'dataset')}.`;
  return {
    summary: steps.size === 0 ? summary : `${summary} ${describeSteps(steps.size)}`,
    trust: { status: 'curated', ...(await readCommitState(dir, paths)) },
    items,
    values: carriesNone,
  };
}

function describeSteps(count: number): string {
  const noun = 'raw, staging or intermediate dataset';
  return `Not listed: ${formatCount(count, noun)} behind them; search_context finds them.`;
}

async function readSavedQuery(
  project: Project,
  name: string,
  connection: string | undefined,
): Promise<ToolAnswer> {
  const { file } = await findSavedQuery(project, name, connection);
  const text = (await readText(join(project.dir, file), project.dir)) ?? '';
  return {
    summary: `A saved query: query_metrics runs it with saved: ${name}.`,
    trust: { status: 'curated', files: [file], ...(await readCommitState(project.dir, [file])) },
    items: text.trimEnd().split('\n'),
    values: carriesNone,
  };
}

/** A term, a rule or another section of the wiki, with its conflicts. */
async function readWikiSection(project: Project, name: string): Promise<ToolAnswer> {
  const { dir } = project;
  const sections = await readWikiSections(project);
  const section = sections.find(
    ({ subject, alsoNamed }) => subject === name || alsoNamed.includes(name),
  );
  if (section === undefined) {
    const subjects = sections.map(({ subject }) => subject);
    throw notFoundError(`The wiki has no ${name}.`, didYouMean(name, subjects));
  }
  const { subject, path, text, stale } = section;
  const conflicts = (await readConflicts(dir)).filter((conflict) => conflict.subject === subject);
  const marks = [
    ...describeConflicts(conflicts),
    ...(stale === undefined ? [] : [`stale: ${stale}`]),
  ];
  return {
    summary: `${path}: one section.`,
    trust: {
      status: 'curated',
      files: [path],
      ...(conflicts.length === 0 ? {} : { contested: [subject] }),
      ...(stale === undefined ? {} : { stale: [subject] }),
      ...(await readCommitState(dir, [path])),
    },
    items: [...text.split('\n'), ...marks],
    values: carriesNone,
  };
}

/**
 * The dataset with the evidence for itself, its metrics and joins. If `address` names a part of it,
 * only this part, what it uses, and its evidence.
 */
async function readDataset(
  project: Project,
  visible: VisibleDataset,
  address: string,
): Promise<ToolAnswer> {
  const { dir } = project;
  const { connection, path } = visible;
  const { dataset } = visible.dataset;
  const partName = address.startsWith(`${dataset}.`) ? address.slice(dataset.length + 1) : '';
  const part = narrowToPart(visible, partName);
  const shown = part ?? visible;
  const { contested, stale } = shown;
  const claimsFile = claimsPath(connection, dataset);
  const claims = parseClaims(claimsFile, (await readText(join(dir, claimsFile), dir)) ?? '');
  const claimedSubjects = new Set(claims.claims.map(({ subject }) => subject));
  const provenance = { connection, datasets: [{ dataset, claims, artifact: undefined }] };
  const evidenceLines = buildDatasetDocuments(visible)
    .filter(({ kind, name }) => (part === undefined ? kind !== 'field' : name === partName))
    .filter(({ subject }) => claimedSubjects.has(subject))
    .flatMap(({ subject }) => findExplanations(subject, provenance))
    .flatMap((explanation) => explanation.claims)
    .map(({ subject, kind, body, shown: isShown, evidence }) => {
      const mark = isShown ? '' : ' (contradicted)';
      const reasons = evidence.map(canonicalJson).join('; ');
      return `${subject} ${kind} ${canonicalJson(body)}${mark}: ${reasons}`;
    });
  return {
    summary: summaryOf(visible, { partName, isThere: part !== undefined }),
    trust: {
      status: 'curated',
      files: [path],
      ...(contested.length === 0 ? {} : { contested: contested.map(({ subject }) => subject) }),
      ...(stale.size === 0 ? {} : { stale: [...stale.keys()] }),
      ...(await readCommitState(dir, [path])),
    },
    items: [
      ...renderVisibleDataset(shown).split('\n'),
      ...usageLines(shown),
      ...(await groupingLines(project, visible, address)),
      '# Evidence',
      ...evidenceLines,
    ],
    values: carriesNone,
  };
}

/** Names no part that was asked for: it may be hidden. */
function summaryOf(
  { connection, dataset: { dataset } }: VisibleDataset,
  { partName, isThere }: { readonly partName: string; readonly isThere: boolean },
): string {
  if (isThere)
    return `${dataset}.${partName} of ${connection}. read_context ${dataset} has the rest.`;
  const whole = `Dataset ${dataset} of ${connection}.`;
  return partName === '' ? whole : `${whole} It has no part of the name that was asked for.`;
}

/** More names than this fill the context of a model without helping it. */
const mostGroupings = 80;

/** What the metric that `address` names can be grouped by; empty for anything else. */
async function groupingLines(
  project: Project,
  { connection, dataset: { dataset, metrics = [] } }: VisibleDataset,
  address: string,
): Promise<readonly string[]> {
  if (!metrics.some(({ name }) => address === `${dataset}.${name}`)) return [];
  const [{ model }, { withTrialPlans }, { findGroupings }] = await Promise.all([
    project.model(connection),
    import('../../project/answer/query.ts'),
    import('../../semantic/query/groupings.ts'),
  ]);
  try {
    const { groupings, needs, isComplete } = await withTrialPlans(model, (plans) =>
      findGroupings(model, [address], { plans, most: mostGroupings }),
    );
    const shown = groupings
      .map(({ dimension, isToMany }) => (isToMany ? `${dimension} (to many)` : dimension))
      .join(', ');
    const rest = isComplete ? '' : ', and fields further away';
    const always = needs.length === 0 ? '' : ` (always with a period like ${needs.join(', ')})`;
    return [`# ${address} can be grouped by${always}: ${shown}${rest}`];
  } catch (error) {
    // A metric that cannot be queried yet says so above.
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** What queries of people say: how often they use the table, and what they filter it by. */
function usageLines({ usage }: VisibleDataset): readonly string[] {
  if (usage === undefined) return [];
  const filters = describeFilters(usage);
  const often = `# People have queried it ${usage.runs} times`;
  return filters === undefined
    ? [often]
    : [often, `# Queries with aggregates filter by ${filters}`];
}
