import {
  blocksWithKey,
  isBlock,
  type LookmlBlock,
  type LookmlPlace,
  textProperty,
} from '../../semantic/formats/lookml/parse.ts';
import { filterPairs } from '../../semantic/formats/lookml/translate-filters.ts';
import { UnreadableLookml } from '../../semantic/formats/lookml/unreadable-lookml.ts';

/** A filter that Looker puts into the queries of an explore. */
interface ExploreFilter {
  /** Like `always_filter`. */
  readonly key: string;
  readonly place: LookmlPlace;
  /** As people read it: SQL, or fields with their values. */
  readonly text: string;
  /** The values that a query has unless it sets others; undefined for SQL. */
  readonly defaults?: {
    /** By the full name of the field. */
    readonly values: ReadonlyMap<string, string>;
    /** A query that filters one of these fields has none of the values. */
    readonly unless: readonly string[];
  };
}

const sqlKeys = ['sql_always_where', 'sql_always_having'];

/** The filters of an explore for everyone who asks. Those that depend on the user are not here. */
export function exploreFilters(explore: LookmlBlock): readonly ExploreFilter[] {
  const written = explore.value.flatMap(({ key, value, place }): ExploreFilter[] =>
    sqlKeys.includes(key) && typeof value === 'string' ? [{ key, place, text: value.trim() }] : [],
  );
  const defaults = ['always_filter', 'conditionally_filter'].flatMap((key) =>
    blocksWithKey(explore.value, key).map((block) => defaultFilter(block, baseName(explore))),
  );
  return [...written, ...defaults];
}

/** What fields of the view that an explore starts from are called in its queries. */
function baseName(explore: LookmlBlock): string {
  const isRenamed = textProperty(explore, 'from') !== undefined;
  return isRenamed ? explore.name : (textProperty(explore, 'view_name') ?? explore.name);
}

/** A name without a view is of the base. */
function defaultFilter(block: LookmlBlock, base: string): ExploreFilter {
  const fullName = (name: string) => (name.includes('.') ? name : `${base}.${name}`);
  const { key, place } = block;
  const entries = block.value.filter((entry) => entry.key === 'filters' || entry.key === 'filter');
  const unless = block.value
    .filter((entry) => entry.key === 'unless' && !isBlock(entry))
    .flatMap(({ value }) => value as string | readonly string[]);
  try {
    const pairs = entries.flatMap(filterPairs);
    return {
      key,
      place,
      text: pairs.map(([field, value]) => `${field}: "${value}"`).join(', '),
      defaults: {
        values: new Map(pairs.map(([field, value]) => [fullName(field), value])),
        unless: unless.map(fullName),
      },
    };
  } catch (error) {
    if (!(error instanceof UnreadableLookml)) throw error;
    // Like SQL: nobody knows what the rows are.
    return { key, place, text: 'in a form that ktx cannot read' };
  }
}
