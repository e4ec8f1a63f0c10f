import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { isMeasure } from '../names/parse-name.ts';
import { isCompleteSketch } from '../profile/sketch.ts';
import type { ColumnProfile } from '../profile/table-profile.ts';

/** Columns that may be their table's primary key. */
export interface KeyCandidate {
  readonly columns: readonly [ColumnFacts, ...ColumnFacts[]];
  /** Log odds that they are. */
  readonly score: number;
}

/**
 * Columns without duplicates, as far as the profile can tell; in an empty table the columns that
 * look like its key.
 */
export function singleColumnCandidates({ schema, columns }: TableFacts): KeyCandidate[] {
  const declaredKeys = [schema.primaryKey ?? [], ...schema.uniqueKeys];
  return columns.flatMap((column) => {
    const { profile, present, name } = column;
    const isDeclared = declaredKeys.some((key) => key.length === 1 && key[0] === name);
    // An estimate of the distinct values may be too low.
    const isUnique = isCompleteSketch(profile.sketch)
      ? profile.distinct === present
      : profile.distinct >= present * 0.85;
    if (column.family === undefined || (!isDeclared && !isUnique)) return [];
    return [{ columns: [column], score: Math.max(isDeclared ? 2 : -99, keyScore(column)) }];
  });
}

/** A longer text is prose. */
const longestLabel = 80;

/** True for texts by which rows may be called: `Vintage Cars and Trucks`. */
export const isLabel = ({ maxLength = 0 }: ColumnProfile): boolean => maxLength <= longestLabel;

/** Numbers and codes that somebody gives to each thing of a kind: `ssn`, `isbn`, `siren`… */
const naturalKeys = new Set(
  'ssn nin nino bsn pesel cpf cnpj nif dni siren siret isbn issn ean gtin upc sku vin imo iata icao lei doi orcid'.split(
    ' ',
  ),
);

function keyScore({ parts, profile, position, table, family, home, away }: ColumnFacts): number {
  const isFirst = position === 0;
  const isNamedByTable = parts.entity.every((word) => table.parts.entity.includes(word));
  const mayBeSharedKey = isNamedByTable || (isFirst && profile.distinct >= 20);
  // A `uuid` or a `code` further on is rather another key.
  const isBare = parts.entity.length === 0 && !isFirst && family !== 'integer';
  return sumWeights([
    [isBare, -1],
    [true, -1.6 + (home >= 0.8 ? 2 : home * 1.2)],
    [isFirst, 1.6],
    [parts.keyed, 1.2],
    [naturalKeys.has(parts.words.at(-1) ?? '') && !away, 2],
    [family === 'integer' || profile.kind === 'uuid', 0.8],
    [isMeasure(parts), isFirst ? -1 : -2.5],
    [profile.kind === 'text', isFirst && home >= 0.95 && isLabel(profile) ? -1.5 : -3],
    [profile.nulls > 0, -4],
    [away, mayBeSharedKey ? -1 : -2.2],
  ]);
}

/** The sum of the weights whose condition is true. */
export function sumWeights(weights: readonly (readonly [condition: boolean, weight: number])[]) {
  return weights.reduce((sum, [condition, weight]) => sum + (condition ? weight : 0), 0);
}

/** Turns log odds into a probability. */
export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
