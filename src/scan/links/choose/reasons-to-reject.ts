import { isOfView } from '../../facts/table-facts.ts';
import type { RankedCandidate } from '../rank-candidates.ts';
import { isSameLayer, repeatsColumn } from './prefer-layer.ts';

/** Why a pair is no link although the values fit; undefined if it may be one. */
export function reasonToReject(candidate: RankedCandidate): string | undefined {
  const { child, parent, isOwnKey } = candidate;
  const [isOwnView, isParentView] = [isOfView(child), isOfView(parent.column)];
  if (isOwnKey && (isParentView || (isOwnView && !isSameLayer(candidate))))
    return 'a view repeats the keys of its tables';
  const isName = isParentView && child.profile.kind === 'name';
  if (isName || (isOwnView && !child.parts.keyed && (isParentView || !parent.primary)))
    return 'an attribute that a view repeats';
  if (repeatsColumn(candidate)) return 'the same column of the same rows';
  return isOtherKeyOfRow(candidate) ? 'another key of the same rows' : undefined;
}

/** True for `master_item_id` beside `item_id`. */
function isRoleOf(own: readonly string[], key: readonly string[]): boolean {
  return own.length > key.length && own.slice(-key.length).join(' ') === key.join(' ');
}

/**
 * True if the column numbers the rows of its own table. A reference to another row of the table
 * has a role in its name (`parent_id`), is sometimes NULL or repeated, and leaves rows out.
 */
function isOtherKeyOfRow({ child, parent, values, names }: RankedCandidate): boolean {
  if (child.table !== parent.column.table) return false;
  const [ownWords, keyWords] = [child.parts.entity, parent.column.parts.entity];
  if (ownWords.length > 0 && ownWords.join() === keyWords.join()) return true;
  const isUnique = child.profile.distinct >= child.present * 0.98 && child.profile.nulls === 0;
  // `page_no` beside `page_id`; but `location_id` beside `id` may be the location around it.
  if (child.home >= 0.6) return isUnique || (keyWords.length > 0 && !isRoleOf(ownWords, keyWords));
  return names.selfRole === 0 && isUnique && values.coverage >= 0.8;
}
