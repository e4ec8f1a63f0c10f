import { subjects } from '../../src/context/claims/claim.ts';
import type { NameIndex } from '../../src/context/claims/name-index.ts';
import type { TableUsage } from '../../src/context/usage/usage.ts';
import { buildDatasetDocuments } from '../../src/project/answer/build-dataset-documents.ts';
import { buildPassages } from '../../src/project/answer/passages.ts';
import type { SearchDocument } from '../../src/search/documents.ts';
import type { Dataset } from '../../src/semantic/model/dataset.ts';
import type { Concept } from './concept.ts';
import { hashNumber } from './hash-number.ts';
import type { SystemObject, WholeCompany } from './read-company.ts';

/** A page of the handbook, and the tables that it names. */
interface HandbookPage {
  readonly key: string;
  readonly body: string;
  readonly tables: readonly string[];
}

/** The things of a company that a search has to choose from. */
export interface BuiltCompany {
  readonly datasets: readonly Dataset[];
  readonly pages: readonly HandbookPage[];
  readonly documents: readonly SearchDocument[];
}

export function buildCompany(company: WholeCompany): BuiltCompany {
  const datasets = [...company.concepts.flatMap(datasetsOf), ...otherDatasets(company)];
  const known = new Set(datasets.map(({ dataset }) => dataset));
  const names: NameIndex = {
    dataset: () => undefined,
    subject: (name) => (known.has(name) ? subjects.dataset('w', name) : undefined),
  };
  const things = datasets.flatMap((dataset) =>
    buildDatasetDocuments({
      connection: 'w',
      path: `semantic-layer/w/${dataset.dataset}.yaml`,
      dataset,
      hidden: 0,
      contested: [],
      stale: new Map(),
      unqueryable: new Set(),
      // Two of the companies have no query history.
      usage: company.name === 'software' ? usageOf(dataset) : undefined,
    }),
  );
  const pages = pagesOf(company);
  const passages = pages.flatMap(({ key, body }) =>
    buildPassages({ path: `sources/handbook/${key}`, key, body }, names),
  );
  return { datasets, pages, documents: [...things, ...passages] };
}

/** True for about so many of a hundred. */
function isAmong(percent: number, text: string): boolean {
  return hashNumber(text) % 100 < percent;
}

/** A mart, the staging model that it is built on, and the raw table of a system. */
function datasetsOf({ table, description, columns, metrics: own = [] }: Concept): Dataset[] {
  const thing = table.replace(/^(?:fct|dim|agg|fakt)_/, '');
  const fields = columns.map(nameAndText);
  const metrics = [
    { name: 'count', agg: 'count' as const },
    ...own.map((metric) => ({ ...nameAndText(metric), agg: 'sum' as const, expr: '1' })),
  ];
  const count = metrics.slice(0, 1);
  const plain = fields.map(({ name }) => ({ name }));
  const staging = `stg_${thing}`;
  return [
    {
      dataset: table,
      source: `marts.${table}`,
      ...(isAmong(80, table) && { description }),
      fields,
      metrics,
    },
    {
      dataset: staging,
      source: `staging.${staging}`,
      ...(isAmong(60, staging) && { description: `${description} Cleaned.` }),
      fields,
      metrics: count,
    },
    {
      dataset: `int_${thing}_joined`,
      source: `intermediate.int_${thing}_joined`,
      fields,
      metrics: count,
    },
    { dataset: `raw__${thing}`, source: `raw.${thing}`, fields: plain, metrics: count },
  ];
}

function nameAndText(line: string): { readonly name: string; readonly description?: string } {
  const [name = '', description] = line.split(': ');
  return { name, ...(description !== undefined && { description }) };
}

/** Tables that nobody asks for, with the words of all the others. */
function otherDatasets({ systems, objects, concepts }: WholeCompany): Dataset[] {
  const columns = concepts.flatMap((concept) =>
    concept.columns.map((line) => nameAndText(line).name),
  );
  return systems.flatMap((system, row) =>
    objects.flatMap(({ name: object, description }, column): Dataset[] => {
      const fields = Array.from({ length: 8 }, (_, index) => ({
        name: columns[(row * 31 + column * 17 + index * 7) % columns.length] ?? 'id',
      }));
      const unique = [...new Map([{ name: 'id' }, ...fields].map((f) => [f.name, f])).values()];
      const [raw, staging] = [`raw__${system}__${object}`, `stg_${system}__${object}`];
      const described = (table: string, percent: number) =>
        isAmong(percent, table) && { description: `${description} From ${system}.` };
      return [
        {
          dataset: raw,
          source: `raw.${system}__${object}`,
          ...described(raw, 25),
          fields: unique,
        },
        {
          dataset: staging,
          source: `staging.${staging}`,
          ...described(staging, 75),
          fields: unique,
        },
      ];
    }),
  );
}

/** What people run: most on marts, but a few work on raw tables all day. */
function usageOf({ dataset, source = '' }: Dataset): TableUsage | undefined {
  const [schema = '', table = ''] = source.split('.');
  const isMart = schema === 'marts';
  if (!isMart && !isAmong(20, dataset)) return undefined;
  const steps = isMart
    ? (['10+', '100+', '1k+', '10k+'] as const)
    : (['1+', '10+', '1k+'] as const);
  const runs = steps[hashNumber(dataset) % steps.length] ?? '1+';
  return { schema, table, runs, columns: {}, filters: [] };
}

/** Pages about marts, pages about two tables of systems each, and pages about no table. */
function pagesOf({ concepts, objects, systems, pages }: WholeCompany): readonly HandbookPage[] {
  return [
    ...concepts.flatMap(({ table, page }) =>
      page === undefined
        ? []
        : [{ key: `${table}.md`, body: page.replace('{table}', `\`${table}\``), tables: [table] }],
    ),
    ...objects.flatMap((object, row) =>
      [0, 5].map((step) => objectPage(object, systems[(row + step) % systems.length] ?? '')),
    ),
    ...pages.map((body, index) => ({ key: `page-${index}.md`, body, tables: [] })),
  ];
}

function objectPage({ name, page }: SystemObject, system: string): HandbookPage {
  const table = `stg_${system}__${name}`;
  const body = `${page} Those of ${system} are in \`${table}\`.`;
  return { key: `${system}-${name}.md`, body, tables: [table] };
}
