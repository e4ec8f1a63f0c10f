import { isRecord } from '../../../lib/json.ts';
import type { TreeNode } from '../../gate/statement-facts.ts';
import type { UserCast } from './database-objects.ts';
import { namesIn, nodesIn } from '../../postgres-wire/parse-tree.ts';

/**
 * The types to which a statement cannot cast without perhaps running a user's cast: those for which
 * it can have a value of the source type, from a relation or a cast of its own.
 */
export function castTargetsOf(tree: unknown, casts: readonly UserCast[]): ReadonlySet<string> {
  if (casts.length === 0) return new Set();
  const nodes = nodesIn(tree);
  const relations = new Set(
    nodes.flatMap(({ RangeVar: table }) => (isRecord(table) ? [table['relname']] : [])),
  );
  const types = new Set(
    nodes.flatMap(({ names, typemod }) => (typemod === undefined ? [] : namesIn(names).slice(-1))),
  );
  const isReachable = ({ source, relations: sources }: UserCast): boolean =>
    source === null || types.has(source) || sources.some((name) => relations.has(name));
  return new Set(casts.filter(isReachable).map(({ target }) => target));
}

/**
 * True if the node reads a text as a value of its type, which calls no cast: a constant, and a
 * column of a function's result.
 */
export function readsText(node: TreeNode): boolean {
  const constant = isRecord(node['arg']) ? node['arg']['A_Const'] : undefined;
  const isText = isRecord(constant) && (constant['sval'] ?? constant['isnull']) !== undefined;
  return isText || node['colname'] !== undefined;
}
