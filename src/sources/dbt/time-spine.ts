import { listTimeSpines } from '../../semantic/formats/metricflow/spec/read-time-spines.ts';
import type { ItemPlace } from '../claim-collector.ts';
import type { DbtTimeSpine } from './dbt-project.ts';

/** The time spine that a model's entry declares; undefined if it is none, or not a valid one. */
export function readTimeSpine(model: unknown, place: ItemPlace): DbtTimeSpine | undefined {
  const [spine] = listTimeSpines({ models: [model] });
  if (spine === undefined) return undefined;
  const { column, grain, customGranularities } = spine;
  return { column, grain, customGranularities: customGranularities.map(({ name }) => name), place };
}
