import { subjects } from '../../context/claims/claim.ts';
import { toDatasetName } from '../../semantic/formats/imported-model.ts';
import { exploreFilters } from './explore-filters.ts';
import type { LookmlPlace } from '../../semantic/formats/lookml/parse.ts';
import { exploreView } from '../../semantic/formats/lookml/read-joins.ts';
import type { ClaimCollector } from '../claim-collector.ts';
import type { KnownExplores } from '../looker/translate-query.ts';

const codeConfidence = 0.6;

/**
 * What Looker filters for everyone is a rule about the tables of the explore, with its line: people
 * who ask there count other rows than a metric of ktx does.
 */
export function claimExploreFilters(
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
    if (base === undefined) continue;
    const { connection, dataset } = base.table;
    for (const { key, text, place, defaults } of exploreFilters(explore)) {
      const title = `${key} of the explore ${explore.name}`;
      const subject = subjects.rule(title);
      const filter = text.replaceAll(/\s+/g, ' ');
      const who =
        defaults === undefined
          ? 'Every query in Looker'
          : 'A query in Looker, unless it sets other values,';
      const rule = `${who} over the explore ${explore.name} counts only rows with ${filter}. Metrics of ktx count all rows.`;
      const at = { key: place.file, line: place.line, quote: quoteAt(place) };
      const confidence = codeConfidence;
      collector.addClaim(at, { subject, kind: 'title', body: title, confidence });
      collector.addClaim(at, { subject, kind: 'rule', body: rule, confidence });
      const refs = [subjects.dataset(connection, dataset)];
      collector.addClaim(at, { subject, kind: 'refs', body: refs, confidence });
    }
  }
}
