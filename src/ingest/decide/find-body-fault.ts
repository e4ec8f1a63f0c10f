import { z } from 'zod';
import { bodySchemas, type Claim } from '../../context/claims/claim.ts';
import { isList, isMapping } from '../../context/merge/yaml-text.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';

/**
 * Why a body is no repair of the claim, for a model: it is invalid, has another form, or drops an
 * aggregate or a literal. Undefined if only names and expressions differ.
 */
export function findBodyFault(
  { kind, body }: Pick<Claim, 'kind' | 'body'>,
  repaired: Json,
): string | undefined {
  const { error } = bodySchemas[kind].safeParse(repaired);
  if (error) return `It is not a valid ${kind}: ${z.prettifyError(error).split('\n')[0]}`;
  // All texts in the bodies of the other kinds are names.
  const isFree = kind !== 'metric' && kind !== 'relationship' && kind !== 'field';
  if (!hasSameForm(body, repaired, { isFree }))
    return 'It has another form: only names and expressions may change.';
  const kept = new Set(significantWords(canonicalJson(repaired)));
  const lost = significantWords(canonicalJson(body)).filter((word) => !kept.has(word));
  return lost.length === 0 ? undefined : `It leaves out ${lost.join(', ')}.`;
}

/** Keys whose texts are names or expressions, and may change. */
const freeKeys = new Set([
  'expr',
  'of',
  'where',
  'to',
  'on',
  'per',
  'numerator',
  'denominator',
  'over',
  'base',
]);

interface FormOptions {
  /** Whether texts may change. */
  readonly isFree: boolean;
  /** The key of the value. */
  readonly key?: string;
}

/**
 * Whether two values have the same keys and lengths, and differ in texts only where texts may
 * change.
 */
function hasSameForm(before: Json, after: Json, { isFree, key = '' }: FormOptions): boolean {
  if (typeof before === 'string' && typeof after === 'string') return isFree || before === after;
  if (isList(before)) {
    return (
      isList(after) &&
      before.length === after.length &&
      before.every((member, index) => hasSameForm(member, after[index] ?? null, { isFree }))
    );
  }
  if (!isMapping(before) || !isMapping(after))
    return canonicalJson(before) === canonicalJson(after);
  const [keysBefore, keysAfter] = [Object.keys(before).sort(), Object.keys(after).sort()];
  // The keys of a join are columns, which are names.
  if (key === 'on')
    return (
      keysBefore.length === keysAfter.length &&
      Object.values(after).every((column) => typeof column === 'string')
    );
  if (keysBefore.join('\n') !== keysAfter.join('\n')) return false;
  return Object.entries(before).every(([name, value]) =>
    hasSameForm(value, after[name] ?? null, { isFree: isFree || freeKeys.has(name), key: name }),
  );
}

/** The aggregates and literals of a statement, which decide what it computes. */
function significantWords(text: string): string[] {
  const aggregates = text
    .toLowerCase()
    .matchAll(/\b(sum|count|avg|min|max|median|distinct)\b(?=\s*[( ])/g);
  const literals = text.match(/'[^']*'|\b\d+(?:\.\d+)?\b/g) ?? [];
  return [...[...aggregates].map(([word]) => word), ...literals];
}
