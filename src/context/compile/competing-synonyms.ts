import { bodySchemas, type Claim } from '../claims/claim.ts';
import type { SubjectClaims } from './assemble.ts';

/**
 * Leaves out synonyms that only a model read and that are a name or a synonym of something else:
 * they would make a query ambiguous that had an answer.
 */
export function withoutCompetingSynonyms(
  subjectClaims: readonly SubjectClaims[],
): readonly SubjectClaims[] {
  const owners = new Map<string, Set<SubjectClaims>>();
  const own = (claims: SubjectClaims, word: string) => {
    const key = wordKey(claims, word);
    owners.set(key, (owners.get(key) ?? new Set()).add(claims));
  };
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
function wordKey({ subject: { connection, type } }: SubjectClaims, word: string): string {
  const written = word
    .trim()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(/[\s_-]+/g, ' ');
  return `${connection} ${type} ${written}`;
}
