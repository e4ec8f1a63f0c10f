import type { NameIndex } from '../../src/context/claims/name-index.ts';
import { subjects } from '../../src/context/claims/claim.ts';
import { buildDatasetDocuments } from '../../src/project/answer/build-dataset-documents.ts';
import { buildPassages } from '../../src/project/answer/passages.ts';
import type { SearchDocument } from '../../src/search/documents.ts';
import type { Dataset } from '../../src/semantic/model/dataset.ts';
import type { Company, Concept } from './concept.ts';

/** The things of a company that a search has to choose from. */
export interface BuiltCompany {
  readonly datasets: readonly Dataset[];
  readonly documents: readonly SearchDocument[];
}

export function buildCompany(company: Company): BuiltCompany {
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
    }),
  );
  const pages = company.concepts.flatMap(({ table, page }) =>
    buildPassages(
      {
        path: `sources/handbook/${table}.md`,
        key: `${table}.md`,
        body: page.replace('{table}', `\`${table}\``),
      },
      names,
    ),
  );
  return { datasets, documents: [...things, ...pages] };
}

/** A mart, the staging model that it is built on, and the raw table of a system. */
function datasetsOf({ table, description, columns }: Concept): Dataset[] {
  const thing = table.replace(/^(?:fct|dim)_/, '');
  const fields = columns.map((column) => {
    const [name = '', text] = column.split(': ');
    return { name, ...(text !== undefined && { description: text }) };
  });
  const metrics = [{ name: 'count', agg: 'count' as const }];
  const plain = fields.map(({ name }) => ({ name }));
  return [
    { dataset: table, source: `marts.${table}`, description, fields, metrics },
    {
      dataset: `stg_${thing}`,
      source: `staging.stg_${thing}`,
      description: `${description} Cleaned.`,
      fields,
      metrics,
    },
    { dataset: `int_${thing}_joined`, source: `intermediate.int_${thing}_joined`, fields, metrics },
    { dataset: `raw__${thing}`, source: `raw.${thing}`, fields: plain, metrics },
  ];
}

/** Tables that nobody asks for, with the words of all the others. */
function otherDatasets({ systems, objects, concepts }: Company): Dataset[] {
  const columns = concepts.flatMap((concept) =>
    concept.columns.map((one) => one.split(':')[0] ?? ''),
  );
  return systems.flatMap((system, row) =>
    objects.flatMap((object, column): Dataset[] => {
      const fields = Array.from({ length: 8 }, (_, index) => ({
        name: columns[(row * 31 + column * 17 + index * 7) % columns.length] ?? 'id',
      }));
      const unique = [
        ...new Map([{ name: 'id' }, ...fields].map((one) => [one.name, one])).values(),
      ];
      const name = `${system}__${object}`;
      return [
        { dataset: `raw__${name}`, source: `raw.${name}`, fields: unique },
        {
          dataset: `stg_${name}`,
          source: `staging.stg_${name}`,
          description: `${object} of ${system}.`,
          fields: unique,
        },
      ];
    }),
  );
}
