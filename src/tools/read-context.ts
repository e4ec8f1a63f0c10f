import { join } from 'node:path';
import { z } from 'zod';
import { type ClaimKind, type Evidence } from '../context/claim.ts';
import { claimsPath, parseClaims } from '../context/claims-file.ts';
import { UserError } from '../lib/error.ts';
import { nearest } from '../lib/suggest.ts';
import { commitState } from '../project/commit.ts';
import type { Project } from '../project/project.ts';
import { datasetSchema } from '../semantic/dataset.ts';
import { readText } from '../store/files.ts';
import { datasetFiles, readYaml } from './model-files.ts';
import type { Answer, ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  name: z.string().optional().describe('dataset, dataset.metric, dataset.field, schema.table or a subject; without it: the list of datasets.'),
  connection: z.string().optional(),
}); // prettier-ignore

export const readContext: ToolDefinition<typeof inputSchema> = {
  name: 'read_context',
  description:
    'Reads one dataset in full: fields, metrics, relationships with roles, and the evidence for them; or a table not covered by a dataset. Without name: what there is.',
  effect: 'context',
  inputSchema,
  itemsName: 'lines',
  async run({ name, connection: wanted }, { project }) {
    const [, subjectConnection, address = name] = /^\w+:([^.]+)\.(.+)$/s.exec(name ?? '') ?? [];
    const connection = project.warehouseName(wanted ?? subjectConnection);
    const files = await datasetFiles(project.dir, connection);
    if (address === undefined) return overview(project, connection, files.map(({ path }) => path)); // prettier-ignore
    const [dataset = '', member] = address.split(/[.(]/);
    const file = files.find(({ path }) => path === `semantic-layer/${connection}/${dataset}.yaml`);
    if (file !== undefined) return readFile(project, { connection, dataset, member, path: file.path });
    return readTable(project, { connection, address, datasets: files.map(({ path }) => datasetOf(path)) });
  },
};

async function overview(project: Project, connection: string, paths: readonly string[]): Promise<Answer> {
  const datasets = await Promise.all(paths.map((path) => readYaml(project.dir, path, datasetSchema)));
  const lines = datasets.flatMap((dataset) => {
    if (dataset === undefined) return [];
    const metrics = (dataset.metrics ?? []).filter(({ hidden }) => hidden !== true).map((metric) => metric.name);
    const links = (dataset.relationships ?? []).map(({ to, role }) => (role === undefined ? to : `${to} as ${role}`));
    const parts = [
      dataset.description ?? '',
      metrics.length === 0 ? '' : `metrics ${metrics.join(', ')}`,
      links.length === 0 ? '' : `refers to ${links.join(', ')}`,
    ];
    return [`${dataset.dataset}: ${parts.filter((part) => part !== '').join('; ')}`];
  });
  const trust = { status: 'curated', ...(await commitState(project.dir, paths)) } as const;
  return { summary: `${lines.length} datasets of ${connection}.`, trust, items: lines };
}

interface Wanted {
  readonly connection: string;
  readonly dataset: string;
  readonly member: string | undefined;
  readonly path: string;
}

async function readFile(project: Project, { connection, dataset, member, path }: Wanted): Promise<Answer> {
  const text = (await readText(join(project.dir, path), project.dir)) ?? '';
  const claimsFile = claimsPath(connection, dataset);
  const { claims } = parseClaims(claimsFile, (await readText(join(project.dir, claimsFile), project.dir)) ?? '');
  const evidence = claims
    .filter(({ subject, kind }) => explained.has(kind) || (member !== undefined && subject.endsWith(`.${member}`)))
    .map(({ subject, kind, body, evidence: all }) => `${subject} ${kind} ${JSON.stringify(body)}: ${all.map(inWords).join('; ')}`);
  return {
    summary: `Dataset ${dataset} of ${connection}.`,
    trust: { status: 'curated', files: [path], ...(await commitState(project.dir, [path])) },
    items: [...text.trimEnd().split('\n'), ...(evidence.length === 0 ? [] : ['', '# Evidence']), ...evidence],
  };
}

/** What a reader wants justified even where only the dataset was asked for. */
const explained: ReadonlySet<ClaimKind> = new Set(['primary_key', 'relationship', 'metric', 'edit'] as const);

function inWords({ origin, extractor, item, confidence, measured }: Evidence): string {
  const numbers = measured === undefined ? '' : ` measured ${JSON.stringify(measured)}`;
  return `${origin}, ${extractor}${item === undefined ? '' : `, ${item}`}, confidence ${confidence}${numbers}`;
}

async function readTable(
  project: Project,
  { connection, address, datasets }: { connection: string; address: string; datasets: readonly string[] },
): Promise<Answer> {
  const tables = (await project.catalog(connection))?.tables ?? [];
  const fold = (text: string) => text.toLowerCase();
  const nameOf = (table: (typeof tables)[number]) => `${table.schema}.${table.table}`;
  const found = tables.filter((table) => [nameOf(table), table.table].map(fold).includes(fold(address)));
  if (found.length === 0) {
    const near = nearest(address, [...datasets, ...tables.map(nameOf), ...tables.map(({ table }) => table)]);
    throw new UserError('not_found', `There is no dataset or table ${address} in ${connection}.`, {
      hint: near.length === 0 ? 'search_context finds names.' : `Did you mean ${near.join(', ')}?`,
      exitCode: 2,
    });
  }
  const lines = found.flatMap((table) => [
    `${table.kind} ${nameOf(table)}${table.comment === undefined ? '' : `: ${table.comment}`}`,
    ...(table.primaryKey === undefined ? [] : [`primary key (${table.primaryKey.join(', ')})`]),
    ...table.foreignKeys.map(({ columns, to }) => `foreign key (${columns.join(', ')}) to ${to.table.schema}.${to.table.table} (${to.columns.join(', ')})`), // prettier-ignore
    ...table.columns.map((column) => `- ${column.name} ${column.nativeType}${column.nullable ? '' : ' not null'}${column.comment === undefined ? '' : `: ${column.comment}`}`), // prettier-ignore
  ]);
  return { summary: `Structure of ${found.length} table${found.length === 1 ? '' : 's'} of ${connection}.`, trust: { status: 'ad_hoc' }, items: lines }; // prettier-ignore
}

function datasetOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.ya?ml$/, '');
}
