import { stat } from 'node:fs/promises';
import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import { readLocatedYaml } from '../../lib/yaml/located-yaml.ts';
import { listTimeSpines } from '../../semantic/formats/metricflow/spec/read-time-spines.ts';
import {
  semanticModelSchema,
  tableOfModel,
} from '../../semantic/formats/metricflow/spec/semantic-model-schema.ts';
import { resolveConfiguredPath } from '../../store/confined-file.ts';
import { openClaimCollector, type ClaimCollector, type ItemPlace } from '../claim-collector.ts';
import { claimSemanticModels, type SemanticModelSource } from '../claim-semantic-models.ts';
import type { TimeSpineSource } from '../claim-time-spines.ts';
import { findFiles, isGeneratedFolder, listingEnd, readFileItem } from '../folder-files.ts';
import type {
  ExtractContext,
  Extraction,
  FetchContext,
  FetchEvent,
  Item,
  Source,
} from '../source.ts';
import type { MetricSource } from '../parse-or-report.ts';
import { type FindTable, tableFinder } from '../table-finder.ts';
import type { MetricflowConfig } from './config.ts';

const metricflowExtractor = 'metricflow@1';

/** A folder of YAML files in MetricFlow's format. */
export const metricflow: Source<MetricflowConfig> = {
  extractor: metricflowExtractor,
  fetch: fetchYamlFiles,
  extract: extractSemantics,
};

async function* fetchYamlFiles({
  config,
  projectDir,
  signal,
}: FetchContext<MetricflowConfig>): AsyncIterable<FetchEvent> {
  const folder = await resolveConfiguredPath(projectDir, config.path);
  if (folder === undefined || !(await stat(folder)).isDirectory()) {
    throw new UserError('metricflow_folder_missing', `${config.path} is not a folder.`, {
      hint: 'Set `path` to the folder with the YAML files.',
      exitCode: 2,
    });
  }
  const search = { folder, pattern: /\.ya?ml$/, isSkipped: isGeneratedFolder, signal };
  const found = await findFiles(search, ['']);
  yield* found.failed;
  for (const key of found.keys) {
    signal.throwIfAborted();
    yield await readFileItem(key, { folder, signal });
  }
  yield listingEnd(found.problems);
}

function extractSemantics(
  items: readonly Item[],
  { connection, config, catalogs }: ExtractContext<MetricflowConfig>,
): readonly Extraction[] {
  const collector = openClaimCollector(items, { connection, extractor: metricflowExtractor });
  const findTable = tableFinder(catalogs, config.warehouse);
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const files = sorted.map((item) => readYamlItem(item, { collector, findTable }));
  const semantics = {
    models: files.flatMap(({ models }) => models),
    metrics: files.flatMap(({ metrics }) => metrics),
    savedQueries: files.flatMap(({ savedQueries }) => savedQueries),
    timeSpines: files.flatMap(({ timeSpines }) => timeSpines),
  };
  claimSemanticModels(semantics, collector);
  return collector.extractions();
}

interface SemanticFile {
  readonly models: readonly SemanticModelSource[];
  readonly metrics: readonly MetricSource[];
  readonly savedQueries: readonly MetricSource[];
  readonly timeSpines: readonly TimeSpineSource[];
}

/**
 * A file has lists of models and metrics, or one model or metric in each document, as MetricFlow
 * itself writes them.
 */
function readYamlItem(
  { key, body }: Item,
  { collector, findTable }: { readonly collector: ClaimCollector; readonly findTable: FindTable },
): SemanticFile {
  const yaml = readLocatedYaml(body);
  if ('broken' in yaml) {
    const { line, reason } = yaml.broken;
    collector.addProblem({ key, line }, `not YAML: ${reason}`);
    return { models: [], metrics: [], savedQueries: [], timeSpines: [] };
  }
  const placeOf = (holder: unknown, name?: string) => {
    const { line, text: quote } = yaml.locate(holder, name);
    return { key, line, quote };
  };
  const documents = yaml.documents.filter(isRecord);
  const entriesAt = (listKey: string, singleKey: string) =>
    documents.flatMap((top) => [top[listKey], top[singleKey]].flat()).filter(isRecord);
  return {
    models: entriesAt('semantic_models', 'semantic_model').map((raw) => ({
      raw,
      table: findModelTable(raw, findTable),
      place: (name) => placeOf(raw, name),
      memberPlace: (list, name) => {
        const members = [raw[list]].flat().filter(isRecord);
        return placeOf(members.find((member) => member['name'] === name) ?? raw);
      },
    })),
    metrics: entriesAt('metrics', 'metric').map((raw) => ({
      raw,
      place: (name) => placeOf(raw, name),
    })),
    savedQueries: entriesAt('saved_queries', 'saved_query').map((raw) => ({
      raw,
      place: (name) => placeOf(raw, name),
    })),
    timeSpines: documents.flatMap((top) => readSpines(top, placeOf(top), findTable)),
  };
}

/** The time spines of a document, each over the table that it names. */
function readSpines(
  document: Readonly<Record<string, unknown>>,
  place: ItemPlace,
  findTable: FindTable,
): readonly TimeSpineSource[] {
  return listTimeSpines(document).map(({ name, source, column, grain, customGranularities }) => ({
    name,
    table: findNamedTable({ model: source.replaceAll('"', '') }, findTable),
    column,
    grain,
    customGranularities: customGranularities.map((granularity) => granularity.name),
    place,
  }));
}

function findModelTable(raw: unknown, findTable: FindTable): SemanticModelSource['table'] {
  const { data } = semanticModelSchema.pick({ node_relation: true, model: true }).safeParse(raw);
  return findNamedTable(data ?? { model: undefined }, findTable);
}

function findNamedTable(
  model: Parameters<typeof tableOfModel>[0],
  findTable: FindTable,
): SemanticModelSource['table'] {
  const { table, schema, database } = tableOfModel(model);
  if (table === undefined) return { missing: 'it names no table' };
  const match = findTable({
    table,
    schemas: schema === undefined ? [] : [schema],
    database,
    isExact: schema !== undefined,
  });
  switch (match.kind) {
    case 'found':
      return match.table;
    case 'missing':
      return { missing: `the warehouse has no table ${table}` };
    case 'ambiguous':
      return { missing: `${table} could be ${match.candidates.join(' or ')}` };
  }
  return match satisfies never;
}
