import { stepOf, withoutStep } from '../sql/names/table-layer.ts';

/** A document that was found. */
interface ScoredDocument {
  readonly kind: string;
  readonly connection: string;
  readonly parent: string;
  readonly score: number;
}

/** What is left of a copy beside a better one of the same thing. */
const copyShare = 0.5;
/** What a thing gets of what was found for a copy of it. */
const thingShare = 0.2;

/**
 * The steps of a transformation (`raw__orders`, `stg_orders`, `int_orders_joined`) hold the same
 * thing as the table that people ask (`fct_orders`). Their hits give way to those of the best of
 * them, and what was found for one of them speaks for the table that people ask.
 */
export function settleCopies<Hit extends ScoredDocument>(hits: readonly Hit[]): readonly Hit[] {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const key = tableKey(hit);
    if (hit.score > (best.get(key)?.score ?? 0)) best.set(key, hit);
  }
  const families = Map.groupBy(best.values(), familyKey);
  return hits.map((hit) => {
    const others = (families.get(familyKey(hit)) ?? []).filter(
      (rival) => tableKey(rival) !== tableKey(hit),
    );
    const strongest = Math.max(0, ...others.map(({ score }) => score));
    if (stepOf(hit.parent) !== '') {
      const own = best.get(tableKey(hit))?.score ?? 0;
      return strongest > own ? { ...hit, score: hit.score * copyShare } : hit;
    }
    const isWhole = hit.kind === 'dataset';
    return isWhole ? { ...hit, score: hit.score + strongest * thingShare } : hit;
  });
}

function tableKey({ connection, parent }: ScoredDocument): string {
  return `${connection} ${parent}`;
}

/** What was done to a thing makes no other thing: `int_orders_joined` holds orders. */
function familyKey({ connection, parent }: ScoredDocument): string {
  return `${connection} ${withoutStep(parent).replace(/_[a-z]+ed$/, '')}`;
}
