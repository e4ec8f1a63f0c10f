import type { DatasetField } from '../imported-model.ts';
import { toKtxName } from '../imported-model.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { grains } from '../../model/grains.ts';
import type { LookmlBlock } from './parse.ts';
import type { ViewSql } from './translate-sql.ts';

/** Timeframes that a query of ktx asks of the time itself: its values, and its periods. */
const queried: ReadonlySet<string> = new Set(['raw', 'time', 'date', ...grains]);

/**
 * The timeframes of a group that are parts of a time, such as the day of the week, as fields of
 * their own. A note names those that ktx lacks.
 */
export function readTimeframeFields(
  block: LookmlBlock,
  time: DatasetField,
  { dialect, names, addNote }: ViewSql,
): readonly DatasetField[] {
  const listed = block.value.find(({ key }) => key === 'timeframes')?.value ?? [];
  const wanted =
    typeof listed === 'string' ? [] : listed.filter((timeframe) => typeof timeframe === 'string');
  const others = [...new Set(wanted)].filter((timeframe) => !queried.has(timeframe));
  const isRead = (timeframe: string) =>
    timeParts[timeframe] !== undefined && !names.members.has(`${block.name}_${timeframe}`);
  const unread = others.filter((timeframe) => !isRead(timeframe));
  if (unread.length > 0)
    addNote(`the timeframes ${unread.join(', ')} are left out: ktx has no equivalent`);
  const type = time.type === 'date' ? 'date' : 'datetime';
  return others.filter(isRead).map((timeframe) => ({
    name: toKtxName(`${block.name}_${timeframe}`),
    ...timeParts[timeframe]?.({ time: time.name, dialect, type }),
    ...(time.hidden === true ? { hidden: true } : {}),
  }));
}

interface TimePartSql {
  readonly time: string;
  readonly type: 'date' | 'datetime';
  readonly dialect: Dialect;
}

type TimePart = (sql: TimePartSql) => Pick<DatasetField, 'type' | 'expr'>;

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const quarters = months.map((_, index) => `Q${Math.floor(index / 3) + 1}`);

const extracted =
  (part: string): TimePart =>
  ({ time }) => ({ type: 'integer', expr: `extract(${part} from ${time})` });

const named =
  (part: string, labels: readonly string[]): TimePart =>
  ({ time, dialect }) => {
    const branches = labels.map(
      (label, index) => `when ${index + 1} then ${dialect.literal(label)}`,
    );
    return { type: 'string', expr: `case extract(${part} from ${time}) ${branches.join(' ')} end` };
  };

/** Engines count the days of a week differently, so the day is compared with those of its week. */
const weekday =
  (value: (day: string, index: number) => string | number, type: 'string' | 'integer'): TimePart =>
  ({ time, dialect, type: timeType }) => {
    const options = { type: timeType, weekStart: 'monday' } as const;
    const [day, week] = [
      dialect.truncate('day', time, options),
      dialect.truncate('week', time, options),
    ];
    const branches = days.map((name, index) => {
      const other = index === 0 ? week : dialect.add(week, { count: index, unit: 'day' }, timeType);
      return `when ${day} = ${other} then ${dialect.literal(value(name, index))}`;
    });
    return { type, expr: `case ${branches.join(' ')} end` };
  };

const timeParts: Readonly<Record<string, TimePart | undefined>> = {
  month_num: extracted('month'),
  day_of_month: extracted('day'),
  hour_of_day: extracted('hour'),
  month_name: named('month', months),
  quarter_of_year: named('month', quarters),
  day_of_week: weekday((day) => day, 'string'),
  day_of_week_index: weekday((_, index) => index, 'integer'),
};
