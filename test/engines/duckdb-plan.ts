/** One table that a plan of DuckDB reads. */
interface Scan {
  readonly table: string;
  readonly rows: number;
}

interface Operator {
  readonly name: string;
  readonly children?: readonly Operator[];
  readonly extra_info?: Readonly<Record<string, unknown>>;
}

/** Every operator of a plan, as `EXPLAIN (FORMAT JSON)` gives it. */
export function operatorsIn(plan: unknown): readonly Operator[] {
  return [plan]
    .flat()
    .flatMap((operator) => [
      operator as Operator,
      ...operatorsIn((operator as Operator).children ?? []),
    ]);
}

/** The tables that a plan reads, with how many rows they have. */
export function scansIn(plan: unknown): readonly Scan[] {
  return operatorsIn(plan).flatMap(({ extra_info: info = {} }) =>
    typeof info['Table'] === 'string'
      ? [{ table: info['Table'], rows: Number(info['Estimated Cardinality'] ?? 0) }]
      : [],
  );
}
