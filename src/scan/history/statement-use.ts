import type { Aggregate } from '../../sql/aggregates.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';

/** A column of the catalog. */
export interface UsedColumn {
  readonly table: TableSchema;
  readonly column: string;
}

/** How a condition compares its column. */
export type ConditionOperator = 'equals' | 'differs' | 'range' | 'in' | 'like' | 'null' | 'flag';

/** A condition that every row of the select meets. */
export interface FilterUse extends UsedColumn {
  readonly operator: ConditionOperator;
  /**
   * The condition in words of SQL with `{}` for the column, if it says nothing but what the catalog
   * declares: NULL, true, false, a declared value. Undefined for any other condition.
   */
  readonly declared: DeclaredCondition | undefined;
}

export interface DeclaredCondition {
  readonly before: string;
  readonly after: string;
  /** Declared values of the column, in the order of the condition. */
  readonly values: readonly string[];
}

/** An aggregate over columns of one table. */
export interface AggregateUse {
  readonly table: TableSchema;
  readonly function: Aggregate;
  /** Columns and the operators between them, like `{column: 'a'}`, `' * '`. Empty counts rows. */
  readonly terms: readonly (string | { readonly column: string })[];
}

/** What one SELECT of a statement asks. */
export interface SelectUse {
  readonly tables: readonly TableSchema[];
  readonly columns: readonly UsedColumn[];
  readonly joins: readonly (readonly [UsedColumn, UsedColumn])[];
  readonly filters: readonly FilterUse[];
  readonly aggregates: readonly AggregateUse[];
  /** Times by which it groups, or of which it takes a range. */
  readonly times: readonly UsedColumn[];
}

/** Finds the column of a column node. */
export type ResolveColumn = (value: unknown) => UsedColumn | undefined;

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
