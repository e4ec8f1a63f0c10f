import { bodySchemas, type Claim } from '../claims/claim.ts';
import type { SubjectParts } from '../claims/subject.ts';
import type { SubjectClaims } from './assemble.ts';

/** Other words for a field or metric, as a person wrote them into a file. */
export interface WrittenSynonyms {
  readonly subject: SubjectParts;
  readonly words: readonly string[];
}

/**
 * Leaves out synonyms that only a model read and that are a name or a synonym of something else:
 * they would make a query ambiguous that had an answer.
 */
export function withoutCompetingSynonyms(
  subjectClaims: readonly SubjectClaims[],
  written: readonly WrittenSynonyms[],
): readonly SubjectClaims[] {
  const owners = new Map<string, Set<object>>();
  const own = (owner: Pick<SubjectClaims, 'subject'>, word: string) => {
    const key = wordKey(owner, word);
    owners.set(key, (owners.get(key) ?? new Set()).add(owner));
  };
  for (const owner of written) for (const word of owner.words) own(owner, word);
  for (const claims of subjectClaims) {
    // Queries name metrics by their bare name, and fields only with their dataset.
    if (claims.subject.type === 'metric') own(claims, claims.subject.name);
    const shown = claims.byKind.get('synonyms')?.shown ?? [];
    const words = shown.filter((claim) => !isReadByModel(claim)).flatMap(wordsOf);
    for (const word of words) own(claims, word);
  }
  return subjectClaims.map((claims) => {
    const synonyms = claims.byKind.get('synonyms');
    if (synonyms?.shown.some(isReadByModel) !== true) return claims;
    const isFree = (word: string) => {
      const known = owners.get(wordKey(claims, word));
      return known === undefined || (known.size === 1 && known.has(claims));
    };
    const shown = synonyms.shown.flatMap((claim) => {
      const words = isReadByModel(claim) ? wordsOf(claim).filter(isFree) : wordsOf(claim);
      return words.length === 0 ? [] : [{ ...claim, body: [...words] }];
    });
    return { ...claims, byKind: new Map([...claims.byKind, ['synonyms', { ...synonyms, shown }]]) };
  });
}

function isReadByModel({ evidence }: Claim): boolean {
  return evidence.every(({ origin }) => origin === 'model');
}

function wordsOf({ body }: Claim): readonly string[] {
  return bodySchemas.synonyms.parse(body);
}

/** Equal for words that a query does not tell apart. */
function wordKey(
  { subject: { connection, type } }: Pick<SubjectClaims, 'subject'>,
  word: string,
): string {
  const written = word
    .trim()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(/[\s_-]+/g, ' ');
  return `${connection} ${type} ${written}`;
}
