import { join } from 'node:path';
import { z } from 'zod';
import type { CatalogTable } from '../context/catalog/catalog.ts';
import { claimsPath, parseClaims } from '../context/claims/claims-file.ts';
import { findExplanations } from '../context/compile/explain.ts';
import { formatCount } from '../lib/format-count.ts';
import { UserError } from '../lib/error.ts';
import { canonicalJson } from '../lib/json.ts';
import { didYouMean } from '../lib/suggest.ts';
import { commitState } from '../project/open/commit-state.ts';
import { readConflicts, describeConflicts } from '../project/review/conflicts.ts';
import type { Project } from '../project/open/open.ts';
import { datasetDocuments } from '../project/answer/dataset-documents.ts';
import {
  indexDatasetsByTable,
  renderVisibleDataset,
  readVisibleDatasets,
  type VisibleDataset,
} from '../project/answer/visible-datasets.ts';
import { readWikiSections } from '../project/answer/wiki.ts';
import { readText } from '../store/files.ts';
import type { Answer, ToolDefinition } from './tool.ts';

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
    'Reads one dataset in full, with the evidence, or a table without a dataset. Without name: what there is.',
  effect: 'context',
  inputSchema,
  itemsName: 'text',
  async run({ name, connection: wanted }, { project }) {
    if (/^(term|rule|page):/.test(name ?? '')) return readEntry(project, name ?? '');
    const [, subjectConnection, address = name] = /^\w+:([^.]+)\.(.+)$/s.exec(name ?? '') ?? [];
    const connection = project.connection(wanted ?? subjectConnection).name;
    const datasets = await readVisibleDatasets(project, connection);
    if (address === undefined) return overview(project, datasets);
    const named = datasets.find(({ dataset }) => dataset.dataset === address.split(/[.(]/)[0]);
    if (named !== undefined) return readDataset(project, named, address);
    const catalog = await project.catalog(connection);
    const tables = catalog?.tables ?? [];
    const namesOf = ({ schema, table }: CatalogTable) => [`${schema}.${table}`, table];
    const meant = tables.filter((table) =>
      namesOf(table).some((each) => each.toLowerCase() === address.toLowerCase()),
    );
    // The structure of a table would show what its dataset hides.
    const covering =
      catalog &&
      meant.map(indexDatasetsByTable(datasets, catalog)).find((dataset) => dataset !== undefined);
    if (covering !== undefined) return readDataset(project, covering, address);
    const items = meant.flatMap(({ columns, ...table }) =>
      [table, ...columns].map((part) => JSON.stringify(part)),
    );
    if (items.length > 0)
      return { summary: `Structure in ${connection}.`, trust: { status: 'ad_hoc' }, items };
    const names = [...datasets.map(({ dataset }) => dataset.dataset), ...tables.flatMap(namesOf)];
    const hint = didYouMean(address, names) ?? 'search_context finds names.';
    throw new UserError('not_found', `There is no dataset or table ${address} in ${connection}.`, {
      hint,
      exitCode: 2,
    });
  },
};

async function overview({ dir }: Project, datasets: readonly VisibleDataset[]): Promise<Answer> {
  const commit = await commitState(
    dir,
    datasets.map(({ path }) => path),
  );
  const items = datasets.map(
    ({ dataset: { dataset, description, metrics, relationships }, unqueryable }) => {
      const links = relationships?.map(({ to, role }) =>
        role === undefined ? to : `${to} as ${role}`,
      );
      const refused = unqueryable.size === 0 ? {} : { not_yet_queryable: [...unqueryable] };
      return JSON.stringify({
        dataset,
        description,
        metrics: metrics?.map(({ name }) => name),
        ...refused,
        refers_to: links,
      });
    },
  );
  return {
    summary: `${formatCount(items.length, 'dataset')}.`,
    trust: { status: 'curated', ...commit },
    items,
  };
}

/** A term, a rule or another section of the wiki, with what sources say differently. */
async function readEntry(project: Project, name: string): Promise<Answer> {
  const { dir } = project;
  const entries = await readWikiSections(project);
  const found = entries.find(
    ({ subject, alsoNamed }) => subject === name || alsoNamed.includes(name),
  );
  if (found === undefined) {
    const hint =
      didYouMean(
        name,
        entries.map(({ subject }) => subject),
      ) ?? 'search_context finds names.';
    throw new UserError('not_found', `The wiki has no ${name}.`, { hint, exitCode: 2 });
  }
  const conflicts = (await readConflicts(dir)).filter(({ subject }) => subject === found.subject);
  const contested = conflicts.length === 0 ? {} : { contested: [found.subject] };
  const stale = found.stale === undefined ? {} : { stale: [found.subject] };
  const marks = [
    ...describeConflicts(conflicts),
    ...(found.stale === undefined ? [] : [`stale: ${found.stale}`]),
  ];
  return {
    summary: `${found.path}: one section.`,
    trust: {
      status: 'curated',
      files: [found.path],
      ...contested,
      ...stale,
      ...(await commitState(dir, [found.path])),
    },
    items: [...found.text.split('\n'), ...marks],
  };
}

/** The dataset and what justifies it and its metrics and joins; of its fields, what justifies the one that was asked for. */
async function readDataset(
  { dir }: Project,
  found: VisibleDataset,
  address: string,
): Promise<Answer> {
  const { connection, path } = found;
  const { dataset } = found.dataset;
  const claimsFile = claimsPath(connection, dataset);
  const claims = parseClaims(claimsFile, (await readText(join(dir, claimsFile), dir)) ?? '');
  const claimed = new Set(claims.claims.map(({ subject }) => subject));
  const evidence = datasetDocuments(found)
    .filter(
      ({ kind, name, subject }) =>
        claimed.has(subject) && (kind !== 'field' || address === `${dataset}.${name}`),
    )
    .flatMap(({ subject }) =>
      findExplanations(subject, {
        connection,
        datasets: [{ dataset, claims, artifact: undefined }],
      }),
    )
    .flatMap((explanation) => explanation.claims)
    .map(({ subject, kind, body, shown, evidence: reasons }) => {
      const standing = shown ? '' : ' (contradicted)';
      return `${subject} ${kind} ${canonicalJson(body)}${standing}: ${reasons.map(canonicalJson).join('; ')}`;
    });
  const subjects = found.contested.map(({ subject }) => subject);
  const contested = subjects.length === 0 ? {} : { contested: subjects };
  const stale = found.stale.size === 0 ? {} : { stale: [...found.stale.keys()] };
  return {
    summary: `Dataset ${dataset} of ${connection}.`,
    trust: {
      status: 'curated',
      files: [path],
      ...contested,
      ...stale,
      ...(await commitState(dir, [path])),
    },
    items: [...renderVisibleDataset(found).split('\n'), '# Evidence', ...evidence],
  };
}
