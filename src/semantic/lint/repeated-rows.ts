import { columnIdentity } from '../model/model.ts';
import {
  findColumn,
  isOff,
  type SelectScope,
  type SelectSource,
  type TableColumn,
} from './scopes.ts';

/** The sets of columns, in lower case, each of which has one row at most for a value. */
function keysOf(source: SelectSource | undefined): readonly (readonly string[])[] {
  if (source?.kind === 'dataset')
    return source.dataset.keys.map((key) => key.map((column) => column.toLowerCase()));
  if (source?.kind !== 'query') return [];
  const { scope } = source;
  const nameOf = (expression: unknown) =>
    [...scope.outputs].find(([, output]) => sameText(output, expression))?.[0];
  if (scope.groups.length > 0) {
    const names = scope.groups.map(nameOf);
    return names.every((name) => name !== undefined) ? [names] : [];
  }
  if (scope.aggregates.length > 0) return [[]];
  if (!isOff(scope.node.body['distinct'])) return [[...scope.outputs.keys()]];
  const [alias] = scope.sources.keys();
  if (alias === undefined) return [];
  if (findMultiplying(scope, alias) !== undefined) return [];
  return keysOf(scope.sources.get(alias)).flatMap((key) => {
    const names = key.map(
      (column) =>
        [...scope.outputs].find(([, output]) => {
          const found = findColumn(output, scope.sources);
          return found?.alias === alias && identityOf(scope, found) === column;
        })?.[0],
    );
    return names.every((name) => name !== undefined) ? [names] : [];
  });
}

function sameText(left: unknown, right: unknown): boolean {
  const textOf = (value: unknown) =>
    JSON.stringify(value, (key, part: unknown) =>
      key === 'span' || key === 'table' ? undefined : part,
    );
  return textOf(left) === textOf(right);
}

/** The physical column of a dataset, or the name of a query's column, in lower case. */
export function identityOf({ sources }: SelectScope, { alias, name }: TableColumn): string {
  const source = sources.get(alias);
  const identity = source?.kind === 'dataset' ? columnIdentity(source.dataset, name) : name;
  return identity.toLowerCase();
}

/**
 * Follows the joins from a source. Returns the first other one that is joined by columns which are
 * none of its keys, so that it repeats the rows. A source without keys stops the search: nothing is
 * known about it.
 */
export function findMultiplying(scope: SelectScope, start: string): string | undefined {
  const { sources, equal, fixed } = scope;
  const visited = new Set([start]);
  const queue = [start];
  for (let from = queue.pop(); from !== undefined; from = queue.pop()) {
    for (const [alias, source] of sources) {
      const joined = equal.flatMap(([left, right]) => {
        if (left.alias === from && right.alias === alias) return [right];
        return left.alias === alias && right.alias === from ? [left] : [];
      });
      if (visited.has(alias) || joined.length === 0) continue;
      const names = [...joined, ...fixed.filter((column) => column.alias === alias)].map((column) =>
        identityOf(scope, column),
      );
      const keys = keysOf(source);
      if (keys.some((key) => key.every((column) => names.includes(column)))) {
        visited.add(alias);
        queue.push(alias);
      } else if (keys.length > 0) return alias;
    }
  }
  return undefined;
}
