import type { JoinGraph } from '../answers.ts';
import { neighboursOf } from './layout.ts';

/** More than these are no drawing that a person can read. */
export const mostDrawn = 400;

/** Datasets of a neighbourhood; the nearest ones count. */
const mostNear = 70;

/** The datasets within two joins of one, the nearest first. */
export function neighbourhoodOf(graph: JoinGraph, name: string): readonly string[] {
  const neighbours = neighboursOf(graph.joins);
  const near = [name];
  const seen = new Set(near);
  let edge: readonly string[] = near;
  for (let step = 0; step < 2; step += 1) {
    edge = edge
      .flatMap((own) => [...(neighbours.get(own) ?? [])])
      .filter((own) => {
        const isNew = !seen.has(own);
        seen.add(own);
        return isNew;
      });
    near.push(...edge);
  }
  return near.slice(0, mostNear);
}

/** The dataset that most joins lead to or come from. */
export function busiest({ datasets, joins }: JoinGraph): string | undefined {
  const neighbours = neighboursOf(joins);
  const degree = (name: string) => neighbours.get(name)?.size ?? 0;
  return datasets.map(({ name }) => name).toSorted((a, b) => degree(b) - degree(a))[0];
}
