import { isRecord } from '../../lib/json.ts';
import { asNode, identifierName, type SqlNode } from '../../sql/analyzer.ts';
import { findField, type ModelDataset, type SemanticModel } from '../model/model.ts';

/** A column of something in FROM. `alias` is the name that it has there, in lower case. */
export interface TableColumn {
  readonly alias: string;
  readonly name: string;
}

/** What stands in FROM: a dataset, a query (a common table, too), or what ktx does not know. */
export type SelectSource =
  | { readonly kind: 'dataset'; readonly dataset: ModelDataset }
  | { readonly kind: 'query'; readonly scope: SelectScope }
  | { readonly kind: 'unknown' };

/** One SELECT, with what its names mean. */
export interface SelectScope {
  readonly node: SqlNode;
  readonly sources: ReadonlyMap<string, SelectSource>;
  /** Columns that joins or WHERE set equal, and columns that they set equal to a literal. */
  readonly equal: readonly (readonly [TableColumn, TableColumn])[];
  readonly fixed: readonly TableColumn[];
  /** The conditions that must hold: the operands of AND in ON and WHERE. */
  readonly conditions: readonly unknown[];
  readonly groups: readonly unknown[];
  /** The expressions of SELECT by the names of their columns. */
  readonly outputs: ReadonlyMap<string, unknown>;
  readonly aggregates: readonly SqlNode[];
  /** True if each row is one of one source: nothing is grouped, made distinct or cut off. */
  readonly isPlain: boolean;
}

type CommonTables = ReadonlyMap<string, SelectScope | undefined>;

const aggregateKinds = ['sum', 'avg', 'count', 'min', 'max', 'median'];

/** Every SELECT of a statement; the first one is the outermost. */
export function readScopes(statement: SqlNode, model: SemanticModel): readonly SelectScope[] {
  const scopes: SelectScope[] = [];
  readQuery(statement, { model, tables: new Map(), scopes });
  return scopes;
}

interface ScopeReading {
  readonly model: SemanticModel;
  readonly tables: CommonTables;
  readonly scopes: SelectScope[];
}

/** The scope of a query; undefined for a union, whose parts are read on their own. */
function readQuery(node: SqlNode | undefined, reading: ScopeReading): SelectScope | undefined {
  if (node === undefined) return undefined;
  if (node.kind === 'subquery' || node.kind === 'paren')
    return readQuery(asNode(node.body['this']), reading);
  const inner = { ...reading, tables: withCommonTables(node, reading) };
  if (node.kind === 'select') return readSelect(node, inner);
  for (const child of selectsBelow(node.body)) readQuery(child, inner);
  return undefined;
}

function withCommonTables(node: SqlNode, reading: ScopeReading): CommonTables {
  const tables = new Map(reading.tables);
  const list = isRecord(node.body['with']) ? node.body['with']['ctes'] : undefined;
  for (const table of Array.isArray(list) ? list : []) {
    const name = isRecord(table) ? identifierName(table['alias']) : undefined;
    const query = isRecord(table) ? asNode(table['this']) : undefined;
    if (name === undefined) continue;
    tables.set(name.toLowerCase(), undefined);
    tables.set(name.toLowerCase(), readQuery(query, { ...reading, tables }));
  }
  return tables;
}

function readSelect(node: SqlNode, reading: ScopeReading): SelectScope {
  const place = reading.scopes.length;
  const { body } = node;
  const joins = listOf(body['joins']);
  const items = [...(isRecord(body['from']) ? listOf(body['from']['expressions']) : [])];
  const joined = joins.flatMap((join) => (isRecord(join) ? [join['this']] : []));
  const sources = new Map([...items, ...joined].flatMap((item) => readSource(item, reading)));
  const using = joins.flatMap((join) => equalByUsing(join, sources));
  const conditions = [
    ...joins.filter(repeatsRows).flatMap((join) => (isRecord(join) ? conjunctsOf(join['on']) : [])),
    ...conjunctsOf(isRecord(body['where_clause']) ? body['where_clause']['this'] : undefined),
  ];
  const expressions = listOf(body['expressions']);
  const aggregates = [...nodesOfSelect([expressions, body['having']])].filter(({ kind }) =>
    aggregateKinds.includes(kind),
  );
  const groups = groupExpressions(node);
  const scope: SelectScope = {
    node,
    sources,
    ...equalities(conditions, sources, using),
    conditions,
    groups,
    outputs: new Map(expressions.flatMap(outputOf)),
    aggregates,
    isPlain:
      groups.length === 0 &&
      aggregates.length === 0 &&
      [body['distinct'], body['limit'], body['fetch'], body['top'], body['qualify']].every(isOff),
  };
  reading.scopes.splice(place, 0, scope);
  for (const child of selectsBelow([expressions, conditions, body['having']]))
    readQuery(child, reading);
  return scope;
}

export function isOff(option: unknown): boolean {
  return option === undefined || option === null || option === false;
}

/** A semi-join or an anti-join adds no rows. */
function repeatsRows(join: unknown): boolean {
  const kind = isRecord(join) && typeof join['kind'] === 'string' ? join['kind'] : '';
  return !/semi|anti/i.test(kind);
}

function readSource(
  item: unknown,
  reading: ScopeReading,
): readonly (readonly [alias: string, source: SelectSource])[] {
  const node = asNode(item);
  if (node === undefined) return [];
  const alias = identifierName(node.body['alias'])?.toLowerCase();
  if (node.kind === 'subquery') {
    const scope = readQuery(node, reading);
    const source: SelectSource =
      scope === undefined ? { kind: 'unknown' } : { kind: 'query', scope };
    return [[alias ?? '', source]];
  }
  const parts = ['catalog', 'schema', 'name']
    .flatMap((key) => identifierName(node.body[key]) ?? [])
    .map((name) => name.toLowerCase());
  const name = alias ?? parts.at(-1) ?? '';
  if (node.kind !== 'table') return [[name, { kind: 'unknown' }]];
  const [table = ''] = parts;
  if (parts.length === 1 && reading.tables.has(table)) {
    const scope = reading.tables.get(table);
    return [[name, scope === undefined ? { kind: 'unknown' } : { kind: 'query', scope }]];
  }
  const dataset = findDataset(parts, reading.model);
  return [[name, dataset === undefined ? { kind: 'unknown' } : { kind: 'dataset', dataset }]];
}

/** The dataset of a table. A name without a schema means the default schema first. */
function findDataset(
  parts: readonly string[],
  { datasets, dialect }: SemanticModel,
): ModelDataset | undefined {
  const named = (wanted: readonly string[]) =>
    [...datasets.values()].filter(
      ({ relation }) => relation.kind === 'table' && endsAlike(relation.parts, wanted),
    );
  const candidates = named(parts);
  if (candidates.length < 2) return candidates[0];
  const inDefault = parts.length === 1 ? named([dialect.defaultSchema, ...parts]) : [];
  return inDefault.length === 1 ? inDefault[0] : undefined;
}

/** The names must agree as far as both are qualified. */
function endsAlike(own: readonly string[], wanted: readonly string[]): boolean {
  const ownParts = own.map((part) => part.toLowerCase()).toReversed();
  return wanted
    .toReversed()
    .every(
      (part, index) => ownParts[index] === undefined || ownParts[index] === part.toLowerCase(),
    );
}

function equalByUsing(
  join: unknown,
  sources: SelectScope['sources'],
): readonly (readonly [TableColumn, TableColumn])[] {
  if (!isRecord(join)) return [];
  const right = asNode(join['this']);
  const alias = identifierName(right?.body['alias']) ?? identifierName(right?.body['name']) ?? '';
  const target = alias.toLowerCase();
  return listOf(join['using']).flatMap((column) => {
    const name = identifierName(column);
    if (name === undefined) return [];
    const before = [...sources.keys()].slice(0, [...sources.keys()].indexOf(target));
    const having = before.filter((own) => hasColumn(sources.get(own), name));
    const [from] = having.length === 0 && before.length === 1 ? before : having;
    return from === undefined
      ? []
      : [
          [
            { alias: from, name },
            { alias: target, name },
          ] as const,
        ];
  });
}

function hasColumn(source: SelectSource | undefined, name: string): boolean {
  if (source?.kind === 'dataset') return isColumnOf(source.dataset, name);
  return source?.kind === 'query' && source.scope.outputs.has(name.toLowerCase());
}

/** A field, or a column that a field or a metric of the dataset is computed from. */
function isColumnOf(dataset: ModelDataset, name: string): boolean {
  if (findField(dataset, name) !== undefined) return true;
  const fragments = [
    ...[...dataset.fields.values()].map(({ expr }) => expr),
    ...[...dataset.metrics.values()].flatMap(({ definition, where }) => [
      where,
      definition.kind === 'aggregate' ? definition.of : undefined,
    ]),
  ];
  return fragments.some((fragment) =>
    fragment?.references.some(
      ({ parts }) => parts.length === 1 && parts[0]?.toLowerCase() === name.toLowerCase(),
    ),
  );
}

function equalities(
  conditions: readonly unknown[],
  sources: SelectScope['sources'],
  using: SelectScope['equal'],
): Pick<SelectScope, 'equal' | 'fixed'> {
  const equal = [...using];
  const fixed: TableColumn[] = [];
  for (const condition of conditions) {
    const node = asNode(condition);
    if (node?.kind !== 'eq') continue;
    const sides = [node.body['left'], node.body['right']];
    const [left, right] = sides.map((side) => findColumn(side, sources));
    if (left !== undefined && right !== undefined) equal.push([left, right]);
    const [only] = [left, right].filter((column) => column !== undefined);
    const hasLiteral = sides.some((side) => !hasColumns(side));
    if (only !== undefined && hasLiteral) fixed.push(only);
  }
  return { equal, fixed };
}

function hasColumns(value: unknown): boolean {
  return [...nodesOfSelect(value)].some(({ kind }) => kind === 'column');
}

/** A column whose source is known: by its alias, or as the only source that has it. */
export function findColumn(
  value: unknown,
  sources: SelectScope['sources'],
): TableColumn | undefined {
  const node = asNode(value);
  if (node?.kind === 'paren') return findColumn(node.body['this'], sources);
  const name = node?.kind === 'column' ? identifierName(node.body['name']) : undefined;
  if (node === undefined || name === undefined) return undefined;
  const alias = identifierName(node.body['table'])?.toLowerCase();
  if (alias !== undefined) return sources.has(alias) ? { alias, name } : undefined;
  const all = [...sources];
  const having = all.filter(([, source]) => hasColumn(source, name));
  const [only, ...others] = all.length === 1 ? all : having;
  return only === undefined || others.length > 0 ? undefined : { alias: only[0], name };
}

/** The operands of AND; what stands in parentheses counts too. */
export function conjunctsOf(value: unknown): readonly unknown[] {
  const node = asNode(value);
  if (node === undefined) return [];
  if (node.kind === 'paren') return conjunctsOf(node.body['this']);
  if (node.kind === 'and')
    return [...conjunctsOf(node.body['left']), ...conjunctsOf(node.body['right'])];
  return [value];
}

/** The expressions of GROUP BY; a position stands for the item of SELECT. */
function groupExpressions({ body }: SqlNode): readonly unknown[] {
  const { group_by: groupBy, expressions: items } = body;
  const groups: unknown = isRecord(groupBy) ? groupBy['expressions'] : undefined;
  const outputs = new Map(listOf(items).flatMap(outputOf));
  return listOf(groups).map((group) => {
    const position = literalNumber(group);
    if (position !== undefined) return withoutAlias(listOf(items)[position - 1]);
    const node = asNode(group);
    const name =
      node?.kind === 'column' && !node.body['table']
        ? identifierName(node.body['name'])
        : undefined;
    const output = name === undefined ? undefined : outputs.get(name.toLowerCase());
    return asNode(output)?.kind === 'column' || output === undefined ? withoutAlias(group) : output;
  });
}

function outputOf(item: unknown): readonly (readonly [string, unknown])[] {
  const node = asNode(item);
  const name =
    node?.kind === 'alias'
      ? identifierName(node.body['alias'])
      : node?.kind === 'column'
        ? identifierName(node.body['name'])
        : undefined;
  return name === undefined ? [] : [[name.toLowerCase(), withoutAlias(item)]];
}

function withoutAlias(value: unknown): unknown {
  const node = asNode(value);
  return node?.kind === 'alias' ? node.body['this'] : value;
}

function literalNumber(value: unknown): number | undefined {
  const node = asNode(value);
  return node?.kind === 'literal' && node.body['literal_type'] === 'number'
    ? Number(node.body['value'])
    : undefined;
}

/** The nodes of one SELECT, without those of queries inside it. */
export function* nodesOfSelect(value: unknown): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  if (node !== undefined && ['select', 'subquery', 'exists', 'union'].includes(node.kind)) return;
  if (node !== undefined) yield node;
  for (const child of Object.values(node?.body ?? value)) yield* nodesOfSelect(child);
}

/** The queries inside a part of a SELECT, not those inside of them. */
function* selectsBelow(value: unknown): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  if (node !== undefined && (node.kind === 'select' || node.kind === 'union')) {
    yield node;
    return;
  }
  for (const child of Object.values(node?.body ?? value)) yield* selectsBelow(child);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
