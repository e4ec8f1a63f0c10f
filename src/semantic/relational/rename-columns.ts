/** Renames the columns of common tables and of the subqueries that they are made of. */
export function renameColumns<Value>(value: Value, names: ReadonlyMap<string, string>): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.map((item: unknown) => renameColumns(item, names)) as Value;
  if (isForeign(value)) return value;
  const isOwn = readsOwnColumn(value);
  const entries = Object.entries(value).map(([key, child]: [string, unknown]) => {
    const isName = isOwn === key && typeof child === 'string';
    return [key, isName ? (names.get(child) ?? child) : renameColumns(child, names)];
  });
  return Object.fromEntries(entries) as Value;
}

/** Rows of row rules, and queries of their own: their columns are not those of the plan. */
function isForeign(value: object): boolean {
  if ('kind' in value && (value.kind === 'guarded' || value.kind === 'table')) return true;
  if ('name' in value && 'query' in value) return isSubplan(value.name);
  return 'alias' in value && 'relation' in value && String(value.alias).endsWith(' of');
}

/** `metric_by` is planned as a query of its own. */
function isSubplan(name: unknown): boolean {
  return String(name).startsWith('ktx by ');
}

/** The property that holds the name of a column of the plan. */
function readsOwnColumn(value: object): 'name' | 'column' | undefined {
  const kind = 'kind' in value ? value.kind : undefined;
  if (kind === 'column' && 'alias' in value) {
    const alias = String(value.alias);
    const isOfPlan = alias === 'ktx' || alias.startsWith('ktx ');
    return isOfPlan && !isSubplan(alias) ? 'name' : undefined;
  }
  if (kind === 'output_column') return 'column';
  const isOfTable = kind === 'typed_null' || kind === 'greatest';
  if (isOfTable && 'table' in value) return isSubplan(value.table) ? undefined : 'column';
  return 'column' in value && 'expr' in value ? 'column' : undefined;
}
