import { isPersonRole, type NameParts } from '../names/parse-name.ts';
import type { PersonalKind } from '../personal/classify-column.ts';
import type { ColumnProfile } from '../profile/table-profile.ts';

/** What only rows of persons have: a birthday, a login, a password. */
const ofPersons: ReadonlySet<PersonalKind> = new Set(['birth', 'handle', 'secret']);

/**
 * 0..1: how much a table's columns look like those of persons: names of persons in a column that
 * is called a name, or birthdays, or logins.
 */
export function peopleByColumns(
  profiles: readonly ColumnProfile[],
  parts: readonly NameParts[],
): number {
  const kinds = profiles.flatMap(({ inferred }, index) => {
    const own = parts[index];
    // What a column says about another row's person makes no table of persons.
    const isOwn = own !== undefined && own.words.length <= 2 && !own.keyed && !isPersonRole(own);
    return isOwn && inferred !== undefined ? [inferred] : [];
  });
  if (kinds.includes('handle') || kinds.includes('secret')) return 0.8;
  return kinds.some((kind) => kind === 'name' || ofPersons.has(kind)) ? 0.6 : 0;
}
