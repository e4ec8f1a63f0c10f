/** What a plan takes for granted about a dataset's rows, and what the model alone cannot prove. */
export interface KeyAssumption {
  /**
   * `customers (id)`, or `prices (product_id, valid_from to valid_to)`. Equal names are equal
   * assumptions.
   */
  readonly name: string;
  readonly dataset: string;
  /**
   * Fields whose values together belong to one row; with `range`, the ranges of such rows do not
   * overlap.
   */
  readonly columns: readonly string[];
  readonly range: ValidityRange | undefined;
  /** Rows are joined to it, or counted by it each once, or a row rule joins to it. */
  readonly use: 'join' | 'count' | 'row_rule';
}

/** Names of the fields at which a row begins and ceases to be valid. */
export interface ValidityRange {
  readonly from: string;
  readonly to: string;
  /** True if the end belongs to it. */
  readonly includesEnd: boolean;
}

/** The assumptions of one plan. `assumed` is filled in place. */
export interface PlannedKeys {
  readonly assumed: Map<string, KeyAssumption>;
  /** Names of assumptions that the data contradict. Joins then read one row per key. */
  readonly contradicted: ReadonlySet<string>;
}

export function noKeys(): PlannedKeys {
  return { assumed: new Map(), contradicted: new Set() };
}

/** Adds the assumption, and returns it. */
export function assumeKey(
  { assumed }: PlannedKeys,
  key: Omit<KeyAssumption, 'name'>,
): KeyAssumption {
  const { dataset, columns, range, use } = key;
  const parts = [...columns, ...(range === undefined ? [] : [`${range.from} to ${range.to}`])];
  const name = `${dataset} (${parts.join(', ')})`;
  const known = assumed.get(name);
  const assumption = { ...key, name, use: known?.use === 'count' ? 'count' : use };
  assumed.set(name, assumption);
  return assumption;
}
