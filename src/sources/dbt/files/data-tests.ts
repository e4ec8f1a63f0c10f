import { isRecord } from '../../../lib/json.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { DbtTest } from '../dbt-project.ts';
import { isNo, listAt, mappingAt, textAt, type YamlMapping } from './yaml-item.ts';

/** The owner of the tests that are read. */
export interface TestOwner {
  /** Undefined for tests of the whole relation. */
  readonly column: string | undefined;
  /**
   * The unique id that a `ref(…)` or `source(…)` refers to; undefined if the project does not have
   * it.
   */
  readonly idOf: (written: string) => string | undefined;
  readonly placeOf: (holder: unknown, key?: string | number) => ItemPlace;
}

/** The data tests of a column or relation, under `data_tests:` or the older `tests:`. */
export function readDataTests(mapping: YamlMapping, owner: TestOwner): DbtTest[] {
  return ['data_tests', 'tests'].flatMap((key) => {
    const list = listAt(mapping, key);
    return list.flatMap((raw, index) => {
      const place = owner.placeOf(list, index);
      return readDataTest(raw, { ...owner, place }) ?? [];
    });
  });
}

type TestContext = Pick<TestOwner, 'column' | 'idOf'> & { readonly place: ItemPlace };

/** A test is a name, or a mapping of its name to its arguments, or a mapping with `test_name`. */
function readDataTest(raw: unknown, context: TestContext): DbtTest | undefined {
  if (typeof raw === 'string') return interpretTest(raw, {}, context);
  if (!isRecord(raw)) return undefined;
  const named = textAt(raw, 'test_name');
  if (named !== undefined) return interpretTest(named, raw, context);
  const [name = '', options] = Object.entries(raw)[0] ?? [];
  return interpretTest(name, isRecord(options) ? options : {}, context);
}

/**
 * A test by its name and arguments. Undefined for tests that claim nothing, and for tests of only
 * some rows.
 */
export function interpretTest(
  name: string,
  options: YamlMapping,
  { column: ownColumn, idOf, place }: TestContext,
): DbtTest | undefined {
  if (isForSomeRows(options)) return undefined;
  const args = { ...options, ...mappingAt(options, 'arguments') };
  const column = ownColumn ?? textAt(args, 'column_name');
  const columns = column === undefined ? [] : [column];
  switch (name) {
    case 'unique':
    case 'not_null':
    case 'primary_key':
      return columns.every(isColumnName) ? { name, columns, place } : undefined;
    case 'accepted_values':
      return { name, columns, values: listAt(args, 'values'), place };
    case 'relationships':
    case 'foreign_key': {
      const written = textAt(args, 'to') ?? '';
      const field = textAt(args, 'field');
      const targetColumns = field === undefined ? listAt(args, 'to_columns').map(String) : [field];
      const target = { id: idOf(written), written, columns: targetColumns };
      return { name: 'relationships', columns, target, place };
    }
    case 'dbt_utils.unique_combination_of_columns':
      return { name: 'unique', columns: listAt(args, 'combination_of_columns').map(String), place };
    default:
      return undefined;
  }
}

/** Whether the test holds for some rows only, or is turned off. */
function isForSomeRows(options: YamlMapping): boolean {
  const config = mappingAt(options, 'config');
  const hasFilter = options['where'] !== undefined || (config['where'] ?? undefined) !== undefined;
  return hasFilter || isNo(config['enabled']);
}

/**
 * Constraints, which mean the same as the tests of their names. Those of a relation may be about
 * several columns.
 */
export function readConstraints(mapping: YamlMapping, owner: TestOwner): DbtTest[] {
  const list = listAt(mapping, 'constraints');
  return list.flatMap((raw, index) => {
    if (!isRecord(raw)) return [];
    const place = owner.placeOf(list, index);
    const test = interpretTest(textAt(raw, 'type') ?? '', raw, { ...owner, place });
    const columns = listAt(raw, 'columns').map(String);
    return test === undefined ? [] : [columns.length > 0 ? { ...test, columns } : test];
  });
}

/** False for expressions. */
function isColumnName(text: string): boolean {
  return /^["`]?[\w$ ]+["`]?$/.test(text);
}
