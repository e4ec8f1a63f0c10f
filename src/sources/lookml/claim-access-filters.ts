import { subjects } from '../../context/claims/claim.ts';
import { toDatasetName } from '../../semantic/formats/imported-model.ts';
import {
  blocksWithKey,
  type LookmlPlace,
  textProperty,
} from '../../semantic/formats/lookml/parse.ts';
import { exploreView } from '../../semantic/formats/lookml/read-joins.ts';
import type { ClaimCollector } from '../claim-collector.ts';
import { findDimension, type KnownExplores } from '../looker/translate-query.ts';

/**
 * What Looker lets each user see is a row rule that a person may want: it is proposed, and no query
 * knows it.
 */
export function claimAccessFilters(
  known: KnownExplores,
  {
    collector,
    quoteAt,
  }: {
    readonly collector: ClaimCollector;
    readonly quoteAt: (place: LookmlPlace) => string | undefined;
  },
): void {
  for (const explore of known.explores) {
    const base = known.views.get(toDatasetName(exploreView(explore)));
    for (const filter of blocksWithKey(explore.value, 'access_filter')) {
      const written = textProperty(filter, 'field') ?? '';
      const attribute = textProperty(filter, 'user_attribute');
      const field = findDimension(written, explore.name, known);
      const { file, line } = filter.place;
      const place = { key: file, line, quote: quoteAt(filter.place) };
      if (base === undefined || attribute === undefined || field === undefined) continue;
      const { connection, dataset } = base.table;
      // A rule is a condition on the rows of its own dataset.
      if (!field.startsWith(`${dataset}.`)) continue;
      const subject = subjects.dataset(connection, dataset);
      collector.addClaim(place, { subject, kind: 'possible_access', body: { field, attribute } });
    }
  }
}
