import { listAt, mappingsAt, textAt, type YamlMapping } from '../yaml-item.ts';

/** A version of a model, as the entry of the model lists it. */
interface ModelVersion {
  /** Like `v2`. */
  readonly name: string;
  readonly mapping: YamlMapping;
}

/** The versions of a model; empty for a model without any. */
export function readModelVersions(entry: YamlMapping): readonly ModelVersion[] {
  return mappingsAt(entry, 'versions').map((mapping) => ({
    name: `v${String(mapping['v'])}`,
    mapping,
  }));
}

/** The version that a `ref` without one means: `latest_version`, otherwise the highest. */
export function latestVersionName(entry: YamlMapping): string | undefined {
  const latest = entry['latest_version'];
  if (typeof latest === 'string' || typeof latest === 'number') return `v${latest}`;
  const names = readModelVersions(entry).map(({ name }) => name);
  return names.toSorted(new Intl.Collator('en', { numeric: true }).compare).at(-1);
}

/** Names of the file that may have the SQL of the version, the likeliest first. */
export function versionFileNames(entry: YamlMapping, version: ModelVersion): readonly string[] {
  const model = textAt(entry, 'name') ?? '';
  const definedIn = textAt(version.mapping, 'defined_in');
  const ownName = definedIn?.replace(/\.(sql|py)$/, '') ?? `${model}_${version.name}`;
  return version.name === latestVersionName(entry) ? [ownName, model] : [ownName];
}

/** The table of a version that has no alias. */
export function versionTable(model: string, version: string): string {
  return `${model}_${version.replaceAll('.', '_')}`;
}

/** The parts of an entry that say what a relation has. */
export interface RelationProperties {
  /** The mapping that has the description. */
  readonly described: YamlMapping;
  readonly columns: readonly YamlMapping[];
  /** The mapping that has the tests of the whole relation. */
  readonly tested: YamlMapping;
  /** The mappings that have settings, tags and `meta`; the last one counts most. */
  readonly holders: readonly YamlMapping[];
}

/** The properties of a model without versions. */
export function ownProperties(entry: YamlMapping): RelationProperties {
  return {
    described: entry,
    columns: mappingsAt(entry, 'columns'),
    tested: entry,
    holders: [entry],
  };
}

/**
 * The properties of a version: those of its model, except for what it says itself. Its `columns`
 * can say which of the model's columns it has; a column that it lists takes the place of the
 * model's.
 */
export function versionProperties(
  entry: YamlMapping,
  { mapping }: ModelVersion,
): RelationProperties {
  const isSelection = (column: YamlMapping) => 'include' in column || 'exclude' in column;
  const listed = mappingsAt(mapping, 'columns');
  const own = listed.filter((column) => !isSelection(column));
  const ownNames = new Set(own.map(({ name }) => name));
  const isIncluded = columnSelection(listed.find(isSelection));
  const inherited = mappingsAt(entry, 'columns').filter(
    (column) => isIncluded(column['name']) && !ownNames.has(column['name']),
  );
  const hasTests = ['data_tests', 'tests'].some((key) => Array.isArray(mapping[key]));
  return {
    described: mapping['description'] === undefined ? entry : mapping,
    columns: [...inherited, ...own],
    tested: hasTests ? mapping : entry,
    holders: [entry, mapping],
  };
}

/** `include: all`, `include: [a, b]`, `exclude: [c]`. */
function columnSelection(selection: YamlMapping | undefined): (name: unknown) => boolean {
  if (selection === undefined) return () => true;
  const { include } = selection;
  const included = Array.isArray(include) ? new Set<unknown>(include) : undefined;
  const excluded = new Set(listAt(selection, 'exclude'));
  return (name) => (included?.has(name) ?? true) && !excluded.has(name);
}
