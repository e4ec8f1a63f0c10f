import { isRecord } from '../../../lib/json.ts';
import type { Place } from '../../findings.ts';
import type { Test } from '../facts.ts';
import { isNo, listAt, type Mapping, textAt } from './yaml-reader.ts';

/** Where tests stand: on a column or on the whole, and what `ref` and `source` in them mean. */
export interface TestScope {
  readonly column: string | undefined;
  /** The unique id that a `ref(…)` or `source(…)` is; undefined for what the project does not have. */
  readonly idOf: (written: string) => string | undefined;
  readonly place: (holder: unknown, key?: string | number) => Place;
}

/** The data tests of a column or a model that say something about all of its rows, as `data_tests:` (once `tests:`) has them. */
export function readTests(owner: Mapping, scope: TestScope): Test[] {
  return ['data_tests', 'tests'].flatMap((key) => {
    const list = listAt(owner, key);
    return list.flatMap((raw, index) => readTest(raw, scope, scope.place(list, index)) ?? []);
  });
}

function readTest(raw: unknown, scope: TestScope, place: Place): Test | undefined {
  if (typeof raw === 'string') return testOf(raw, {}, { ...scope, place });
  if (!isRecord(raw)) return undefined;
  const named = textAt(raw, 'test_name');
  const [key = '', inner] = named === undefined ? (Object.entries(raw)[0] ?? []) : [named, raw];
  return testOf(key, isRecord(inner) ? inner : {}, { ...scope, place });
}

/** What a test says by its name and arguments; undefined where that is nothing that ktx has a word for, or not of all rows. */
export function testOf(
  fullName: string,
  given: Mapping,
  scope: Pick<TestScope, 'column' | 'idOf'> & { place: Place },
): Test | undefined {
  const config = isRecord(given['config']) ? given['config'] : {};
  if (
    given['where'] !== undefined ||
    (config['where'] !== undefined && config['where'] !== null) ||
    isNo(config['enabled'])
  )
    return undefined;
  const args = { ...given, ...(isRecord(given['arguments']) ? given['arguments'] : {}) };
  const column = scope.column ?? textAt(args, 'column_name');
  const columns = column === undefined ? [] : [column];
  const { place } = scope;
  switch (fullName) {
    case 'unique':
    case 'not_null':
    case 'primary_key':
      return columns.every(isName) ? { name: fullName, columns, place } : undefined;
    case 'accepted_values':
      return { name: fullName, columns, values: listAt(args, 'values'), place };
    case 'relationships':
    case 'foreign_key': {
      const written = textAt(args, 'to') ?? '';
      const field = textAt(args, 'field');
      const target = field === undefined ? listAt(args, 'to_columns').map(String) : [field];
      return {
        name: 'relationships',
        columns,
        to: { id: scope.idOf(written), written, columns: target },
        place,
      };
    }
    case 'dbt_utils.unique_combination_of_columns':
      return { name: 'unique', columns: listAt(args, 'combination_of_columns').map(String), place };
    default:
      return undefined;
  }
}

/** Constraints say what tests say, and the model's may be about several columns. */
export function readConstraints(owner: Mapping, scope: TestScope): Test[] {
  const list = listAt(owner, 'constraints');
  return list.flatMap((raw, index) => {
    if (!isRecord(raw)) return [];
    const test = testOf(textAt(raw, 'type') ?? '', raw, {
      ...scope,
      place: scope.place(list, index),
    });
    const columns = listAt(raw, 'columns').map(String);
    return test === undefined ? [] : [columns.length > 0 ? { ...test, columns } : test];
  });
}

function isName(text: string): boolean {
  return /^["`]?[\w$ ]+["`]?$/.test(text);
}
