import type { ContentHash, MergeBase } from './merge-base.ts';

/**
 * What happens to one unit of a file, such as a YAML value or a section of a page:
 * - `same`: it is ktx's and up to date.
 * - `take`: it is ktx's, or not there yet; the compiled unit replaces it.
 * - `remove`: it is ktx's, and no longer compiled.
 * - `agreed`: it is what ktx compiles, whoever wrote it; from now on it is ktx's. So a file that
 *   git merged is ktx's again where it needs no change.
 * - `keep`: a person wrote something else; it stays.
 * - `stale`: like `keep`, but ktx had a unit here and compiles none any more.
 * - `omit`: a person took it out; it stays out.
 */
type MergeDecision = 'same' | 'take' | 'remove' | 'agreed' | 'keep' | 'stale' | 'omit';

/** The units of both sides by path, and what ktx left in the file last time. */
export interface MergeSides<Unit> {
  readonly file: ReadonlyMap<string, Unit>;
  readonly compiled: ReadonlyMap<string, Unit>;
  readonly base: MergeBase;
  readonly hash: (unit: Unit) => string;
  /** False for what is only compiled because a person wrote it. Without it: true. */
  readonly isAdopted?: (path: string) => boolean;
}

export interface MergedUnits {
  /** By path: those of the file in their order, then those that only the compiled side has. */
  readonly decisions: ReadonlyMap<string, MergeDecision>;
  /** The base of these units once the decisions are carried out. */
  readonly base: MergeBase;
}

/**
 * The three-way merge of everything that ktx and people both write. A unit with a hash that the
 * base records is ktx's; any other is the person's; a unit that the base records and the file lacks
 * was taken out by the person.
 */
export function mergeUnits<Unit>(sides: MergeSides<Unit>): MergedUnits {
  const { file, compiled, base, hash, isAdopted = () => true } = sides;
  const decisions = new Map<string, MergeDecision>();
  const nextBase = new Map<string, readonly ContentHash[]>();
  const hashAt = (units: ReadonlyMap<string, Unit>, path: string): ContentHash => {
    const unit = units.get(path);
    return unit === undefined ? null : hash(unit);
  };
  for (const path of new Set([...file.keys(), ...compiled.keys()])) {
    const [current, wanted] = [hashAt(file, path), hashAt(compiled, path)];
    const recorded = base.get(path);
    const decision = decideUnit(current, wanted, recorded);
    decisions.set(path, decision);
    const isOfKtx = decision === 'same' || decision === 'take';
    if (isOfKtx || (decision === 'agreed' && isAdopted(path))) {
      if (wanted !== null) nextBase.set(path, [wanted]);
    } else if (recorded && decision !== 'remove' && decision !== 'omit') {
      nextBase.set(path, recorded);
    }
  }
  return { decisions, base: nextBase };
}

function decideUnit(
  current: ContentHash,
  wanted: ContentHash,
  recorded: readonly ContentHash[] | undefined,
): MergeDecision {
  const isUnedited = (recorded ?? [null]).includes(current);
  if (isUnedited && current === wanted) return 'same';
  if (isUnedited) return wanted === null ? 'remove' : 'take';
  if (current === null) return 'omit';
  if (current === wanted) return 'agreed';
  return wanted === null && recorded !== undefined ? 'stale' : 'keep';
}

/**
 * The base in which units that are equal on both sides count as ktx's; `isAdopted` limits them by
 * path.
 */
export function adoptEqualUnits<Unit>({
  file,
  compiled,
  base,
  hash,
  isAdopted = () => true,
}: MergeSides<Unit>): MergeBase {
  const adopted = [...file].flatMap(([path, unit]) => {
    const wanted = compiled.get(path);
    const isEqual = wanted !== undefined && hash(wanted) === hash(unit);
    return isEqual && isAdopted(path) ? [[path, [hash(unit)]] as const] : [];
  });
  return new Map([...base, ...adopted]);
}
