import type { ClaimCollector } from '../../claim-collector.ts';
import { claimExposure } from '../../claim-exposure.ts';
import type { KnownTable } from '../../table-finder.ts';
import { plainConfidence } from '../claim-tables.ts';
import type { StoredCard, StoredDashboard } from '../read-items.ts';

interface DashboardContext {
  readonly cards: ReadonlyMap<number, StoredCard>;
  readonly tablesOf: (card: StoredCard) => readonly KnownTable[];
  readonly collector: ClaimCollector;
}

/** A term for each dashboard, with the tables of its questions; its texts wait for a model. */
export function claimDashboards(
  dashboards: readonly StoredDashboard[],
  { cards, tablesOf, collector }: DashboardContext,
): void {
  for (const { key, id, name, description, tiles } of dashboards) {
    const shown = tiles.flatMap(({ card, line }) => {
      const found = cards.get(card ?? -1);
      if (card !== undefined && found === undefined)
        collector.leaveOut(
          { key, line },
          { what: 'question that is not read', name: `dashboard ${id}, ${name}: question ${card}` },
        );
      else if (card !== undefined) collector.count({ key, line });
      return found === undefined ? [] : [found];
    });
    for (const { text, line } of tiles)
      if (text !== undefined) collector.addUnread({ key, line }, { what: 'prose', text });
    claimExposure(
      {
        name: `${name.trim()} (Metabase dashboard ${id})`,
        description: description?.trim() ?? '',
        tables: shown.flatMap(tablesOf),
        tags: [],
        confidence: plainConfidence,
      },
      { key, line: 1, quote: description ?? name },
      collector,
    );
  }
}
