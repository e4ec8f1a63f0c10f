/** A result as far as a chart needs it. */
export interface ChartedRows {
  readonly columns: readonly {
    readonly name: string;
    readonly type?: string | undefined;
    readonly kind?: unknown;
  }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Bars for categories, a line for periods; one value for each label in every series. */
export interface Chart {
  readonly kind: 'bars' | 'line';
  /** The name of the measure. */
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
}

interface ChartSeries {
  /** Empty if there is only one. */
  readonly name: string;
  readonly values: readonly (number | undefined)[];
}

export type ChartChoice =
  | {
      readonly kind: 'charts';
      /** One for each measure, up to three. */
      readonly charts: readonly Chart[];
      /** True if the shape asks for a chart: a time series, or a ranking of categories. */
      readonly isNatural: boolean;
    }
  | { readonly kind: 'none'; readonly reason: string };

const mostMeasures = 3;
const mostBars = 30;
const mostNaturalBars = 20;
const leastNaturalPoints = 4;
const mostSeries = 4;

/** Chooses by the types of the columns and the number of rows alone. */
export function chooseChart({ columns, rows }: ChartedRows): ChartChoice {
  const roles = columns.map((_, index) => roleOf({ columns, rows }, index));
  const indexes = (wanted: string) =>
    roles.flatMap((role, index) => (role === wanted ? [index] : []));
  const [measures, times, categories] = ['measure', 'time', 'category'].map(indexes);
  if (rows.length < 2) return none('one row has nothing to compare');
  if (measures === undefined || measures.length === 0) return none('no column has numbers');
  const [time, ...moreTimes] = times ?? [];
  const [category, ...moreCategories] = categories ?? [];
  if (moreTimes.length + moreCategories.length > 0 || (time ?? category) === undefined)
    return none('it needs one column of periods or categories, or one of each');
  const draw = (measure: number): Chart | undefined =>
    time === undefined
      ? barChart({ columns, rows }, { label: category ?? 0, measure })
      : lineChart({ columns, rows }, { label: time, measure, category });
  const charts = measures.slice(0, mostMeasures).flatMap((measure) => draw(measure) ?? []);
  const [first] = charts;
  if (first === undefined)
    return none(
      time === undefined
        ? `bars need different labels, at most ${mostBars}`
        : `a line needs one value for each period, and at most ${mostSeries} categories`,
    );
  return { kind: 'charts', charts, isNatural: isNatural(first) };
}

function none(reason: string): ChartChoice {
  return { kind: 'none', reason };
}

function isNatural({ kind, labels, series }: Chart): boolean {
  if (kind === 'line') return labels.length >= leastNaturalPoints;
  const values = series[0]?.values ?? [];
  const isRanked = (sign: number): boolean =>
    values.every((value, index) => {
      const before = values[index - 1];
      return index === 0 || before === undefined || sign * ((value ?? 0) - before) >= 0;
    });
  const { length } = labels;
  return length >= 3 && length <= mostNaturalBars && (isRanked(1) || isRanked(-1));
}

type ChartRole = 'measure' | 'time' | 'category';

const periodText = /^\d{4}(?:-(?:\d\d(?:-\d\d(?:[T ].*)?)?|Q\d|W\d\d))?$/;

function roleOf({ columns, rows }: ChartedRows, index: number): ChartRole {
  const { type, kind, name } = columns[index] ?? { name: '' };
  const values = rows.map((row) => row[index]).filter((value) => value !== null);
  if (type?.startsWith('date') === true) return 'time';
  const isNumeric =
    type === 'integer' || type === 'decimal' || values.every((value) => typeof value === 'number');
  if (values.length > 0 && isNumeric) {
    const isYear = values.every(
      (value) => Number.isInteger(value) && Number(value) >= 1900 && Number(value) <= 2100,
    );
    const isNamedYear = kind === 'dimension' || /(?:^|[._])year$/i.test(name);
    if (isYear && isNamedYear) return 'time';
    return kind === 'dimension' ? 'category' : 'measure';
  }
  const isPeriod = values.length > 0 && values.every((value) => periodText.test(labelText(value)));
  return isPeriod ? 'time' : 'category';
}

interface ChartColumns {
  readonly label: number;
  readonly measure: number;
  readonly category?: number | undefined;
}

function barChart(
  { columns, rows }: ChartedRows,
  { label, measure }: ChartColumns,
): Chart | undefined {
  const labels = rows.map((row) => labelText(row[label]));
  if (new Set(labels).size < labels.length || labels.length > mostBars) return undefined;
  const values = rows.map((row) => numberOf(row[measure]));
  return {
    kind: 'bars',
    title: columns[measure]?.name ?? '',
    labels,
    series: [{ name: '', values }],
  };
}

/** Periods in order, with a line for each category. A period without a row is a gap. */
function lineChart(
  { columns, rows }: ChartedRows,
  { label, measure, category }: ChartColumns,
): Chart | undefined {
  const points = new Map<string, Map<string, number | undefined>>();
  for (const row of rows) {
    const name = category === undefined ? '' : labelText(row[category]);
    const series = points.get(name) ?? new Map<string, number | undefined>();
    const period = labelText(row[label]);
    if (series.has(period)) return undefined;
    points.set(name, series.set(period, numberOf(row[measure])));
  }
  if (points.size > mostSeries) return undefined;
  const labels = [...new Set(rows.map((row) => labelText(row[label])))].toSorted();
  const series = [...points].map(([name, values]) => ({
    name,
    values: labels.map((period) => values.get(period)),
  }));
  return { kind: 'line', title: columns[measure]?.name ?? '', labels, series };
}

function labelText(value: unknown): string {
  return value === null || value === undefined
    ? 'NULL'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
}

function numberOf(value: unknown): number | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}
