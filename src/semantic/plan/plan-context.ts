import type { Period } from '../../sql/dialect.ts';
import type { PlannedKeys } from '../keys/key-assumption.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { CommonTable } from '../relational/query-tree.ts';
import type { GroupValues } from '../resolve/join-scope.ts';
import type { ComparedTexts } from '../resolve/literals/compared-text.ts';
import type { Plan } from './plan.ts';
import type { QueryConditions } from '../resolve/conditions.ts';

/** What all fact queries of a plan share. */
export interface PlanContext {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  readonly conditions: QueryConditions;
  /** Notes for the receipt; filled in place. */
  readonly notes: Set<string>;
  /** The texts that conditions of the query compare fields with; filled in place. */
  readonly compared: ComparedTexts;
  /** The keys that joins and counts rely on. */
  readonly keys: PlannedKeys;
  /**
   * Addresses (`orders.revenue`) of the metrics that the answer uses. Planning adds the metrics
   * behind row metrics in place.
   */
  readonly usedMetrics: Set<string>;
  /** Plans a query inside this one, with its tables among those of the whole plan. */
  readonly subplans: Subplans;
  /** Names of the datasets that own the query's metrics. */
  readonly owners?: readonly string[];
  /**
   * The row metrics that are being planned, outermost first; the next one must not be among them.
   */
  readonly rowMetrics?: readonly string[];
}

/** The queries inside a query, by what they ask; filled in place. */
export interface Subplans {
  readonly planned: Map<string, GroupValues>;
  readonly tables: CommonTable[];
  readonly plan: (metric: string, by: readonly string[]) => Plan;
  /** True if one of the tables reads itself. */
  isRecursive: boolean;
}

/** What a fact query is about: the rows of one dataset. */
export interface Fact {
  readonly owner: ModelDataset;
  /** The metric that errors name. Empty: none. */
  readonly metric: string;
  /** The time shift of a fact query without aggregates; see `AggregateNode.shift`. */
  readonly shift?: readonly Period[];
  /** The field that `metric_time` stands for; undefined: the default time of the owner. */
  readonly time?: string | undefined;
}
