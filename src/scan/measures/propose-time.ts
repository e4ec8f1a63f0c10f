import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { isTime, singularWords } from './table-shape.ts';

const timeWords = /^(date|day|time|timestamp|ts|at|on|dt|datetime|utc|datum|fecha|jour|moment)$/;
/** What happens after the row, is planned, is about a person, or is done by a pipeline. */
const otherTimes =
  /^(update|updated|modified|changed|deleted|removed|loaded|load|synced|sync|ingested|extracted|etl|fivetran|airbyte|dbt|processed|due|expire|expiry|expiration|expected|estimated|planned|required|valid|end|ended|finish|finished|closed|cancelled|canceled|shipped|delivered|returned|return|resolved|birth|born|dob|hire|last|next|first|review|previous)$/;
const eventWords =
  /^(occurred|happened|placed|ordered|order|sold|sale|booked|booking|invoiced|invoice|paid|payment|posted|posting|transaction|trx|event|start|started|opened|moved|recorded|measured|requested|submitted|sent|rented|rental|visited|played)$/;
const createdWords = /^(created|create|inserted|insert|added|entry)$/;

/**
 * Of several time columns the one that says when a row happened: named after its table or an
 * event, else a plain date, else when the row was created. Undefined if none or several do.
 */
export function proposeDefaultTime({ table, columns }: CatalogTable): string | undefined {
  const times = columns.filter(isTime);
  if (times.length < 2) return undefined;
  const own = new Set(singularWords(table));
  const tiers = Map.groupBy(times, ({ name }) => tierOf(singularWords(name), own));
  const best = [0, 1, 2].map((tier) => tiers.get(tier) ?? []).find(({ length }) => length > 0);
  return best?.length === 1 ? best[0]?.name : undefined;
}

function tierOf(words: readonly string[], own: ReadonlySet<string>): number | undefined {
  if (words.some((word) => otherTimes.test(word))) return undefined;
  const rest = words.filter((word) => !timeWords.test(word));
  if (rest.length === 0) return 1;
  if (rest.every((word) => own.has(word) || eventWords.test(word))) return 0;
  return rest.every((word) => createdWords.test(word)) ? 2 : undefined;
}
