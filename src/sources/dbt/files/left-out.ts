import { isRecord } from '../../../lib/json.ts';
import type { DbtLeftOut } from '../dbt-project.ts';
import { listAt, mappingAt, mappingsAt, type YamlItem, type YamlMapping } from './yaml-item.ts';

/** Lists at the top of a file whose entries ktx has no place for. */
const unreadLists: Readonly<Record<string, string>> = {
  unit_tests: 'unit test',
  saved_queries: 'saved query',
  groups: 'group',
  macros: 'description of a macro',
  analyses: 'description of an analysis',
  data_tests: 'description of a test',
};

/** Keys of relations and columns that ktx has no place for. */
const unreadKeys: Readonly<Record<string, string>> = {
  meta: 'meta',
  group: 'group',
  access: 'access',
  freshness: 'freshness',
  contract: 'contract',
};

/** The statements of a YAML file that ktx understands and has no place for. */
export function readLeftOut(yaml: YamlItem): DbtLeftOut[] {
  const { top } = yaml;
  if (!isRecord(top)) return [];
  const ofLists = Object.entries(unreadLists).flatMap(([list, what]) =>
    listAt(top, list).map((_, index) => ({
      place: yaml.placeOf(top[list], index),
      what,
    })),
  );
  const sources = mappingsAt(top, 'sources');
  const relations = [
    ...['models', 'seeds', 'snapshots'].flatMap((list) => mappingsAt(top, list)),
    ...sources.flatMap((source) => mappingsAt(source, 'tables')),
  ];
  const columns = relations.flatMap((relation) => mappingsAt(relation, 'columns'));
  const holders = [...sources, ...relations, ...columns];
  return [...ofLists, ...holders.flatMap((holder) => readUnreadKeys(yaml, holder))];
}

function readUnreadKeys(yaml: YamlItem, mapping: YamlMapping): DbtLeftOut[] {
  return [mapping, mappingAt(mapping, 'config')].flatMap((holder) =>
    Object.entries(unreadKeys).flatMap(([key, what]) =>
      isSaid(holder[key]) ? [{ place: yaml.placeOf(holder, key), what }] : [],
    ),
  );
}

/** An empty mapping says nothing. */
function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return !isRecord(value) || Object.keys(value).length > 0;
}
