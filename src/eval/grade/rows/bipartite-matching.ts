interface Matching {
  readonly choices: readonly (readonly number[])[];
  /** The item that currently has each choice. */
  readonly holders: Map<number, number>;
  readonly visited: Set<number>;
}

/**
 * True if every item can get one of its choices and no choice is given twice (bipartite matching by
 * augmenting paths).
 */
export function hasPerfectMatching(choices: readonly (readonly number[])[]): boolean {
  const holders = new Map<number, number>();
  return choices.every((_, item) => assignChoice(item, { choices, holders, visited: new Set() }));
}

/** Gives the item a choice; a holder in the way moves to another of its choices. */
function assignChoice(item: number, matching: Matching): boolean {
  for (const choice of matching.choices[item] ?? []) {
    if (matching.visited.has(choice)) continue;
    matching.visited.add(choice);
    const holder = matching.holders.get(choice);
    if (holder === undefined || assignChoice(holder, matching)) {
      matching.holders.set(choice, item);
      return true;
    }
  }
  return false;
}
