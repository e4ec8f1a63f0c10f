import { isAgent, isPersonRole, type NameParts } from '../names/parse-name.ts';
import { personColumns } from '../names/word-lists.ts';
import type { PersonalKind } from '../personal/classify-column.ts';
import type { ColumnProfile } from '../profile/table-profile.ts';

/** What only rows of persons have: a birthday, a login, a password. */
const ofPersons: ReadonlySet<PersonalKind> = new Set(['birth', 'handle', 'secret']);

/**
 * 0..1: how much a table's columns look like those of persons: names of persons in a column that
 * is called a name, or birthdays, or logins; or a name, and an age or a sex, or a table that is
 * called by what one does (`governor`).
 */
export function peopleByColumns(
  profiles: readonly ColumnProfile[],
  parts: readonly NameParts[],
  table: NameParts,
): number {
  // What a column says about another row's person makes no table of persons.
  const own = parts.filter((column) => column.words.length <= 2 && !column.keyed);
  const kinds = profiles.flatMap(({ inferred }, index) => {
    const column = parts[index];
    const isOwn = column !== undefined && own.includes(column) && !isPersonRole(column);
    return isOwn && inferred !== undefined ? [inferred] : [];
  });
  if (kinds.includes('handle') || kinds.includes('secret')) return 0.8;
  if (kinds.some((kind) => kind === 'name' || ofPersons.has(kind))) return 0.6;
  const isNamed = own.some(({ words }) => nameWords.test(words.at(-1) ?? ''));
  const isOfPersons = own.some(({ words }) => personColumns.has(words.join('_')));
  const isCalledAgent = isAgent(table.entity.at(-1) ?? '');
  return isNamed && (isOfPersons || isCalledAgent) ? 0.6 : 0;
}

/** How persons and other things are called in a column. */
const nameWords = /^(?:\p{L}{0,5}name|nom|nome|nombre|nazwisko|jmeno|imie|namn|navn|naam|nev|ad)$/u;
