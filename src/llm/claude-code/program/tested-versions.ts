/** Versions of Claude Code, both included. */
export interface VersionRange {
  readonly oldest: string;
  readonly newest: string;
}

/**
 * The versions of Claude Code with which the contract suites have passed, on the pinned Agent SDK.
 * `npm run test:sdk-matrix` runs them. The version of the SDK's own program is in the range.
 */
export const testedVersions: VersionRange = { oldest: '2.1.325', newest: '2.1.325' };

/** Whether a version is in the range; `invalid` if it is not three numbers. */
export function placeInRange(
  version: string,
  { oldest, newest }: VersionRange,
): 'older' | 'inside' | 'newer' | 'invalid' {
  const numbers = parseVersion(version);
  if (numbers === undefined) return 'invalid';
  if (compare(numbers, parseVersion(oldest) ?? []) < 0) return 'older';
  return compare(numbers, parseVersion(newest) ?? []) > 0 ? 'newer' : 'inside';
}

function parseVersion(version: string): readonly number[] | undefined {
  const [, ...parts] = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/.exec(version) ?? [];
  return parts.length === 0 ? undefined : parts.map(Number);
}

function compare(left: readonly number[], right: readonly number[]): number {
  const index = left.findIndex((number, at) => number !== right[at]);
  return index === -1 ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
}
