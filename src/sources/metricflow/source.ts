import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMapping } from '../../context/merge/yaml-text.ts';
import { UserError } from '../../lib/error.ts';
import { readLocatedYaml } from '../../lib/located-yaml.ts';
import { fileCounter, filesBelow, readFileItem } from '../folder-files.ts';
import {
  tableOfModel,
  semanticModelSchema,
} from '../../semantic/formats/metricflow/spec/semantic-model-schema.ts';
import { openFindings, type Findings } from '../findings.ts';
import { claimSemantics, type Stated, type StatedModel } from '../semantic-models.ts';
import type { ExtractContext, Extraction, FetchContext, Fetched, Item, Source } from '../source.ts';
import { type FindTable, openTables } from '../tables.ts';
import type { MetricflowConfig } from './config.ts';

const extractor = 'metricflow@1';

export const metricflow: Source<MetricflowConfig> = { extractor, fetch, extract };

async function* fetch({
  config,
  projectDir,
  signal,
}: FetchContext<MetricflowConfig>): AsyncIterable<Fetched> {
  const folder = resolve(projectDir, config.path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    const hint = 'Set `path` to the folder with the YAML files.';
    throw new UserError('metricflow_folder_missing', `${folder} is no folder.`, {
      hint,
      exitCode: 2,
    });
  }
  const problems: string[] = [];
  const keys = await filesBelow(
    { folder, wanted: /\.ya?ml$/, problems, found: fileCounter(folder) },
    '',
  );
  for (const key of keys.sort()) {
    signal.throwIfAborted();
    yield await readFileItem(folder, key);
  }
  const [reason] = problems;
  yield {
    kind: 'end',
    listingComplete: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
  };
}

function extract(
  items: readonly Item[],
  { connection, config, catalogs }: ExtractContext<MetricflowConfig>,
): readonly Extraction[] {
  const findings = openFindings(items, { connection, extractor });
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const files = sorted.map((item) => readItem(item, findings));
  const tableOf = openTables(catalogs, config.warehouse);
  const models = files
    .flatMap((one) => one.models)
    .map((model): StatedModel => ({ ...model, table: modelTable(model.raw, tableOf) }));
  claimSemantics(
    models,
    files.flatMap((one) => one.metrics),
    findings,
  );
  return findings.extractions();
}

type Found = { readonly models: Omit<StatedModel, 'table'>[]; readonly metrics: Stated[] };

/** Lists of both, or one a document, as MetricFlow itself writes them. */
function readItem({ key, body }: Item, findings: Findings): Found {
  const read = readLocatedYaml(body);
  if ('broken' in read) {
    findings.problem({ key, line: read.broken.line }, `not YAML: ${read.broken.reason}`);
    return { models: [], metrics: [] };
  }
  const place = (holder: unknown, name?: string) => {
    const { line, text: quote } = read.locate(holder, name);
    return { key, line, quote };
  };
  const tops = read.documents.filter(isMapping);
  const named = (list: string, one: string) =>
    tops.flatMap((top) => [top[list], top[one]].flat()).filter(isMapping);
  return {
    models: named('semantic_models', 'semantic_model').map((raw) => ({
      raw,
      place: (name) => place(raw, name),
      memberPlace: (list, name) =>
        place([raw[list]].flat().find((one) => isMapping(one) && one['name'] === name) ?? raw),
    })),
    metrics: named('metrics', 'metric').map((raw) => ({ raw, place: (name) => place(raw, name) })),
  };
}

function modelTable(raw: unknown, tableOf: FindTable): StatedModel['table'] {
  const { data } = semanticModelSchema.pick({ node_relation: true, model: true }).safeParse(raw);
  const { table, schema, database } = tableOfModel(data ?? { model: undefined });
  if (table === undefined) return { missing: 'it names no table' };
  const match = tableOf({
    table,
    schemas: schema === undefined ? [] : [schema],
    database,
    isExact: schema !== undefined,
  });
  if ('table' in match) return match.table;
  return {
    missing:
      'none' in match
        ? `the warehouse has no table ${table}`
        : `${table} could be ${match.among.join(' or ')}`,
  };
}
