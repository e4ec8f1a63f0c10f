import type { UserError } from '../../../lib/error.ts';
import { type DatePart, timeGrains } from '../../../sql/dialect.ts';
import { grains, isWithinDay } from '../../model/grains.ts';
import type { ModelDataset } from '../../model/model.ts';
import { queryError, unknownNameError } from '../../query/errors.ts';

/** What engines and people call the parts of a time. */
const partWords: readonly (readonly [RegExp, DatePart])[] = [
  [/^(?:(?:iso)?dow|(?:iso)?weekday|day(?:name|ofweek))$/, 'day_of_week'],
  [/^(?:doy|dayofyear)$/, 'day_of_year'],
  [/^(?:dom|dayofmonth|daynumber)$/, 'day_of_month'],
  [/^(?:isoweek|weekofyear|weeknumber|calendarweek)$/, 'week_of_year'],
  [/^(?:month(?:name|number|ofyear))$/, 'month_of_year'],
  [/^(?:hourofday)$/, 'hour_of_day'],
];

interface UnknownGrain {
  readonly time: string;
  readonly grain: string;
  /** The whole name with another grain. */
  readonly as: (grain: string) => readonly string[];
}

/** With the grain that was meant, if its name is known. */
export function unknownGrainError(
  { name: dataset, fields, fiscalYearStart }: ModelDataset,
  { time, grain: name, as }: UnknownGrain,
): UserError {
  const known = fiscalYearStart === undefined ? timeGrains : grains;
  const isDate = fields.get(time)?.type === 'date';
  const candidates = isDate ? known.filter((grain) => !isWithinDay(grain)) : known;
  const what = `grain of ${dataset}.${time}`;
  const word = name.toLowerCase().replaceAll(/_|the/g, '');
  const [, part] = partWords.find(([pattern]) => pattern.test(word)) ?? [];
  if (part === undefined) return unknownNameError({ what, name, candidates, as });
  return queryError('unknown_name', `There is no ${what} named ${name}`, { choices: as(part) });
}
