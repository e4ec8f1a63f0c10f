import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { numberOf } from '../values.ts';
import type { WrittenNumber } from './read-numbers.ts';

const hourName =
  /(?:^|_)(?:hour|stunde|uhrzeit|heure|hora|ora|uur|godzina|timme)(?:$|_of_|_)|時|小时/i;
const behindNumber =
  /^(?:[:.]00)?(?:\s?(?:–|-|to|and|bis|und|à|et|a|y|e|en)\s?\d{1,2}(?:[:.]00)?)?\s?([ap])\.?m(?!\p{L})|^(?:[:.]00)?(?:\s?(?:–|-|to|bis|und|à|et|a|y|e|en)\s?\d{1,2})?\s?(?:o['’]clock|uhr|heures?|uur|h(?!\p{L})|時|点)/iu;

/** `2 pm` is the hour 14 of the rows, and `10 to 11 am` the hour that begins at 10. */
export function isOfClock(
  number: WrittenNumber,
  behind: string,
  evidence: readonly QueryEvidence[],
): boolean {
  const found = behindNumber.exec(behind);
  const hour = number.readings[0]?.value ?? -1;
  if (found === null || !Number.isInteger(hour) || hour < 0 || hour > 24) return false;
  const half = found[1]?.toLowerCase();
  const meant = half === 'p' && hour < 12 ? hour + 12 : half === 'a' && hour === 12 ? 0 : hour;
  return evidence.some(({ columns, rows }) =>
    columns.some(
      ({ name }, index) =>
        hourName.test(name) &&
        rows.some((row) => {
          const own = numberOf(row[index]);
          return own === meant || own === meant - 1;
        }),
    ),
  );
}
