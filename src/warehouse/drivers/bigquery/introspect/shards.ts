/** A table of a dataset, or all tables of one name that end in a day. */
export interface TableGroup<Entry> {
  /** `events_*` for the days of `events_20260101`. */
  readonly name: string;
  /** The table itself, or the last day. */
  readonly latest: Entry;
  /** Undefined for a table that stands alone. */
  readonly shards: number | undefined;
}

const dayAtEnd = /^(.*?)(\d{8})$/s;

/** What a table is listed under, if its name ends in a day: `events_*`. */
export function shardedName(table: string): string | undefined {
  const [, prefix = '', day = ''] = dayAtEnd.exec(table) ?? [];
  return isDay(day) && prefix !== '' ? `${prefix}*` : undefined;
}

/**
 * Puts tables whose names differ only in the day at their end together: BigQuery reads them as one,
 * `events_*`, with the day in `_TABLE_SUFFIX`. A single such table stays alone.
 */
export function groupShards<Entry>(
  entries: readonly Entry[],
  read: (entry: Entry) => { readonly table: string; readonly isTable: boolean },
): readonly TableGroup<Entry>[] {
  const groups = Map.groupBy(entries, (entry) => {
    const { table, isTable } = read(entry);
    return (isTable ? shardedName(table) : undefined) ?? table;
  });
  const nameOf = (entry: Entry): string => read(entry).table;
  return [...groups].flatMap(([name, members]): readonly TableGroup<Entry>[] => {
    const sorted = members.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    const latest = sorted.at(-1);
    if (latest === undefined) return [];
    const isAlone = sorted.length === 1;
    return [
      {
        name: isAlone ? nameOf(latest) : name,
        latest,
        shards: isAlone ? undefined : sorted.length,
      },
    ];
  });
}

function isDay(digits: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})(\d\d)(\d\d)$/.exec(digits) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day) && year >= '1900';
}
