import { isRecord } from '../../../lib/json.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { DbtTest } from '../dbt-project.ts';
import { testCondition, type WrittenTest } from './test-conditions.ts';
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
 * A test by its name and arguments; undefined if it is turned off. A test that ktx cannot read has
 * the name `unread`.
 */
export function interpretTest(
  name: string,
  options: YamlMapping,
  { column: ownColumn, idOf, place }: TestContext,
): DbtTest | undefined {
  if (isNo(mappingAt(options, 'config')['enabled'])) return undefined;
  const args = { ...options, ...mappingAt(options, 'arguments') };
  const column = ownColumn ?? textAt(args, 'column_name');
  const test = { name, args, columns: column === undefined ? [] : [column], place };
  const where = rowFilter(options);
  const structural = where === undefined ? readStructuralTest(test, idOf) : undefined;
  if (structural !== undefined) return structural;
  const condition = testCondition(test, where);
  if (condition === undefined) return { name: 'unread', columns: [], written: name, place };
  return { name: 'constraint', columns: test.columns, condition, place };
}

/** Tests of all rows that say what a column or a key is. */
function readStructuralTest(
  { name, args, columns, place }: WrittenTest & { readonly place: ItemPlace },
  idOf: TestOwner['idOf'],
): DbtTest | undefined {
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
    case 'dbt_expectations.expect_compound_columns_to_be_unique':
      return { name: 'unique', columns: listAt(args, 'column_list').map(String), place };
    case 'dbt_expectations.expect_column_values_to_be_unique':
      return { name: 'unique', columns, place };
    case 'dbt_expectations.expect_column_values_to_not_be_null':
      return { name: 'not_null', columns, place };
    case 'dbt_expectations.expect_column_values_to_be_in_set':
      return { name: 'accepted_values', columns, values: listAt(args, 'value_set'), place };
    default:
      return undefined;
  }
}

/** The condition on the rows that the test holds for; undefined if it holds for all. */
function rowFilter(options: YamlMapping): string | undefined {
  const args = mappingAt(options, 'arguments');
  const written =
    options['where'] ??
    mappingAt(options, 'config')['where'] ??
    options['row_condition'] ??
    args['row_condition'];
  return typeof written === 'string' && written.trim() !== '' ? written : undefined;
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
