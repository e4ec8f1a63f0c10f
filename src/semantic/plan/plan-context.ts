import type { Period } from '../../sql/dialect.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { QueryConditions } from '../resolve/conditions.ts';

/** What all fact queries of a plan share. */
export interface PlanContext {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  readonly conditions: QueryConditions;
  /** Notes for the receipt; filled in place. */
  readonly notes: Set<string>;
  /** Addresses of the metrics that the answer is made of; row metrics are added in place. */
  readonly usedMetrics: Set<string>;
  /** The owners of the query's metrics. */
  readonly owners?: readonly string[];
  /** The row metrics that contain this one, outermost first. */
  readonly rowMetrics?: readonly string[];
}

/** Whose rows a fact query aggregates. */
export interface Fact {
  readonly owner: ModelDataset;
  /** The metric to name in errors; empty names none. */
  readonly metric: string;
  /** How far rows without aggregates are moved forward in time. */
  readonly shift?: readonly Period[];
}
