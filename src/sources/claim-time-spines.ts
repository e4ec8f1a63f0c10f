import { subjects } from '../context/claims/claim.ts';
import { findTimeGrain } from '../semantic/formats/metricflow/spec/read-time-spines.ts';
import type { ClaimCollector, ItemPlace } from './claim-collector.ts';
import type { KnownTable } from './table-finder.ts';

/** A time spine as a source has it: a table with one row for each period. */
export interface TimeSpineSource {
  readonly name: string;
  /** The table that has the periods, or why there is none. */
  readonly table: KnownTable | { readonly missing: string };
  readonly column: string;
  /** The period of a row as the source writes it, like `day`. */
  readonly grain: string;
  /** Names of calendars of the company's own, which ktx cannot use. */
  readonly customGranularities: readonly string[];
  readonly place: ItemPlace;
}

/**
 * Claims time spines; what does not fit becomes a problem. Returns the connections that have one.
 */
export function claimTimeSpines(
  spines: readonly TimeSpineSource[],
  collector: ClaimCollector,
): ReadonlySet<string> {
  const connections = new Set<string>();
  for (const { name, table, column, grain: written, customGranularities, place } of spines) {
    const addProblem = (reason: string) =>
      collector.addProblem(place, `time spine ${name}: ${reason}`);
    const grain = findTimeGrain(written);
    if ('missing' in table) addProblem(table.missing);
    else if (grain === undefined) addProblem(`ktx does not know the period ${written}`);
    else {
      const field = table.field(column);
      if (field === undefined) addProblem(`the table has no column ${column}`);
      else {
        const subject = subjects.dataset(table.connection, table.dataset);
        collector.addClaim(place, { subject, kind: 'time_spine', body: { column: field, grain } });
        connections.add(table.connection);
      }
    }
    if (customGranularities.length > 0)
      addProblem(
        `ktx has no equivalent for custom_granularities: ${customGranularities.join(', ')}`,
      );
  }
  return connections;
}
