import { listAt, textAt, type YamlMapping } from './yaml-item.ts';

/** A data test as a project writes it. */
export interface WrittenTest {
  /** With its package: `dbt_utils.accepted_range`. */
  readonly name: string;
  readonly args: YamlMapping;
  /** Of the column that it stands at; empty for a test of the whole relation. */
  readonly columns: readonly string[];
}

const longestCondition = 300;

/**
 * What the test says of each row, as people write conditions in SQL. Undefined for tests that say
 * nothing of a row, and for conditions in Jinja. `where` limits it to some rows.
 */
export function testCondition(test: WrittenTest, where: string | undefined): string | undefined {
  const condition = conditionOf(test);
  if (condition === undefined) return undefined;
  const text = (where === undefined ? condition : `${condition} where ${where}`)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return /\{[{%]/.test(text) || text.length > longestCondition ? undefined : text;
}

function conditionOf({ name, args, columns: [column] }: WrittenTest): string | undefined {
  switch (name) {
    case 'dbt_utils.expression_is_true':
    case 'check':
    case 'dbt_expectations.expression_is_true': {
      const expression = textAt(args, 'expression');
      return column === undefined || expression === undefined || name === 'check'
        ? expression
        : `${column} ${expression}`;
    }
    case 'dbt_utils.mutually_exclusive_ranges':
      return rangesCondition(args);
    default:
      return column === undefined ? undefined : columnCondition(name, column, args);
  }
}

function columnCondition(name: string, column: string, args: YamlMapping): string | undefined {
  switch (name) {
    case 'not_null':
    case 'dbt_expectations.expect_column_values_to_not_be_null':
      return `${column} is not null`;
    case 'unique':
    case 'dbt_expectations.expect_column_values_to_be_unique':
      return `${column} is unique`;
    case 'accepted_values':
      return valuesCondition(`${column} in`, listAt(args, 'values'));
    case 'dbt_expectations.expect_column_values_to_be_in_set':
      return valuesCondition(`${column} in`, listAt(args, 'value_set'));
    case 'dbt_utils.not_accepted_values':
      return valuesCondition(`${column} not in`, listAt(args, 'values'));
    case 'dbt_utils.accepted_range':
      return rangeCondition(column, args, args['inclusive'] === false);
    case 'dbt_expectations.expect_column_values_to_be_between':
      return rangeCondition(column, args, args['strictly'] === true);
    case 'dbt_utils.not_empty_string':
      return `${column} <> ''`;
    case 'dbt_utils.not_null_proportion':
      return shareCondition(column, args);
    case 'relationships':
    case 'dbt_utils.relationships_where':
      return relationshipCondition(column, args);
    default:
      return undefined;
  }
}

function valuesCondition(start: string, values: readonly unknown[]): string | undefined {
  const texts = values.map((value) =>
    typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`,
  );
  return texts.length === 0 ? undefined : `${start} (${texts.join(', ')})`;
}

function rangeCondition(column: string, args: YamlMapping, isStrict: boolean): string | undefined {
  const bounds = [
    { bound: args['min_value'], operator: '>' },
    { bound: args['max_value'], operator: '<' },
  ].flatMap(({ bound, operator }) =>
    typeof bound === 'number' || typeof bound === 'string'
      ? [`${column} ${operator}${isStrict ? '' : '='} ${bound}`]
      : [],
  );
  return bounds.length === 0 ? undefined : bounds.join(' and ');
}

function shareCondition(column: string, { at_least: least }: YamlMapping): string | undefined {
  if (typeof least !== 'number') return undefined;
  return `${column} is not null in at least ${Number((least * 100).toPrecision(6))} % of the rows`;
}

function relationshipCondition(column: string, args: YamlMapping): string | undefined {
  const field = textAt(args, 'field');
  const [, target] = /["']([^"']+)["']\s*\)\s*$/.exec(textAt(args, 'to') ?? '') ?? [];
  if (target === undefined || field === undefined) return undefined;
  const limits = ['from_condition', 'to_condition'].flatMap((key) => {
    const limit = textAt(args, key);
    return limit === undefined || limit === '1=1' ? [] : [limit];
  });
  const rest = limits.length === 0 ? '' : ` where ${limits.join(' and ')}`;
  return `${column} is in ${target}.${field}${rest}`;
}

function rangesCondition(args: YamlMapping): string | undefined {
  const [lower, upper] = [textAt(args, 'lower_bound_column'), textAt(args, 'upper_bound_column')];
  if (lower === undefined || upper === undefined) return undefined;
  const partition = textAt(args, 'partition_by');
  const group = partition === undefined ? '' : ` of one ${partition}`;
  return `ranges${group} from ${lower} to ${upper} do not overlap`;
}
