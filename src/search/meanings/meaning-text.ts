import type { DocumentKind, SearchDocument } from '../documents.ts';
import { plainText } from '../words.ts';

/** So many characters say what a thing is; more would only cost. */
const longestText = 2000;

/** A column or a join is found by its words, and by what it belongs to. */
const kindsWithoutMeaning: readonly DocumentKind[] = ['column', 'relationship'];

/**
 * What an embedding model reads of a thing: its name in words, its synonyms and description, of a
 * dataset also its parts, of a passage its text. Undefined for what is found by words alone. It has
 * no values of a warehouse: those are in `context`.
 */
export function meaningText({
  kind,
  name,
  synonyms = [],
  description = '',
  members = [],
}: SearchDocument): string | undefined {
  if (kindsWithoutMeaning.includes(kind)) return undefined;
  // Thousands of fields have nothing but a name, which the dataset has among its parts.
  if (kind === 'field' && description === '') return undefined;
  const parts = kind === 'passage' ? members : members.map((member) => plainText([member]));
  const text = [plainText([name]), ...synonyms, description, ...parts]
    .filter((part) => part !== '')
    .join('. ');
  return text === '' ? undefined : text.slice(0, longestText).toWellFormed();
}
