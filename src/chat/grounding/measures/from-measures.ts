import type { Derivable } from '../candidates.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import {
  cellsOf,
  formOf,
  type NamesakeRows,
  type RowMeasure,
  measuresOf,
  type RowSet,
  valueOf,
} from './joined-rows.ts';
import type { RowSets } from './row-sets.ts';
import { findTight } from './tight-match.ts';

interface MeasuresAround {
  readonly tables: readonly { readonly joined: NamesakeRows; readonly sets: RowSets }[];
  /** The measures that the answer has told last. */
  readonly told: ReadonlySet<string>;
  /** Numbers of the statement and the question that no row has: `if costs rise by 15 %`. */
  readonly parameters: readonly AssumedNumber[];
  /** What the answer has told last, and how far it is from what was asked for. */
  readonly stated: readonly Derivable[];
}

/** A number that the answer assumes. */
export interface AssumedNumber {
  readonly start: number;
  readonly value: number;
  readonly isShare: boolean;
}

/** What a number rests on, and the assumption that it was computed with. */
interface FoundMeasure {
  readonly found: Derivable;
  readonly parameter?: AssumedNumber | undefined;
}

/** The sets of rows of a result, and the measures that they may have. */
interface MeasuredRows extends RowSets {
  readonly measures: readonly RowMeasure[];
  readonly hasTotal: boolean;
}

/**
 * What a number is by the measures of the rows that its statement is about. The fewer rows and
 * measures the statement leaves, the shorter a number may be that is no coincidence.
 */
export function fromMeasures(
  number: WrittenNumber,
  { tables, told, parameters, stated }: MeasuresAround,
): FoundMeasure | undefined {
  const all = tables.map(({ joined, sets }): MeasuredRows => {
    return { ...sets, measures: measuresOf(joined), hasTotal: joined.total !== undefined };
  });
  const known = all.map((field): MeasuredRows => {
    return { ...field, measures: field.measures.filter((measure) => told.has(toldName(measure))) };
  });
  const tiers: readonly (readonly [candidates: () => readonly Derivable[], limit: number])[] = [
    [() => known.flatMap((field) => points(field.nearest, field.measures)).filter(isTimes), 0.06],
    [() => known.flatMap((field) => pairs(field.singles, ratiosIn(field))), 0.06],
    // Sums and differences of two cells are told by words, and found by those.
    [() => known.flatMap((field) => pairs(field.singles, columnsIn(field))).filter(isTimes), 0.03],
    [() => known.flatMap(parts), 0.04],
    // Where one row is the sum of the others, the sum of all rows is no whole.
    [() => all.filter(({ hasTotal }) => hasTotal).flatMap(parts), 0.06],
    [() => known.flatMap((field) => points(field.groups, ratiosIn(field))), 0.03],
    // A statement that names rows does not compare the largest with the smallest.
    [() => known.filter(({ singles }) => singles.length === 0).flatMap(spreads), 0.03],
    [() => known.flatMap((field) => atRateOf(field.singles, field.measures)), 0.03],
    [() => all.flatMap((field) => points(field.nearest, field.measures)), 0.0012],
    [() => all.flatMap((field) => pairs(field.singles, ratiosIn(field))), 0.004],
    [() => known.flatMap(besideWhole), 0.01],
    [
      () => all.flatMap((field) => points([...field.groups, ...wholeOf(field)], ratiosIn(field))),
      0.01,
    ],
  ];
  for (const [candidates, limit] of tiers) {
    const found = findTight(number, candidates(), limit);
    if (found !== undefined) return { found };
  }
  const values = all.flatMap((field) =>
    points([...field.nearest, ...wholeOf(field)], columnsIn(field)),
  );
  for (const parameter of parameters) {
    const found = findTight(number, withParameter([...stated, ...values], parameter), 0.003);
    if (found !== undefined) return { found, parameter };
  }
  return undefined;
}

/** A measure as answers tell it, from either side. */
const toldName = ({ key, derivation = '' }: RowMeasure) => `${key} ${formOf(derivation)}`;

const wholeOf = ({ whole }: RowSets): readonly RowSet[] => (whole === undefined ? [] : [whole]);

const columnsIn = ({ measures }: MeasuredRows) =>
  measures.filter(({ columns }) => columns.length === 1);

const ratiosIn = ({ measures }: MeasuredRows) =>
  measures.filter(({ columns }) => columns.length > 1);

const isTimes = ({ derivation = '' }: Derivable) => derivation.startsWith('a / b');

interface MeasuredSet extends Derivable {
  readonly set: RowSet;
}

function points(sets: readonly RowSet[], measures: readonly RowMeasure[]): readonly MeasuredSet[] {
  return measures.flatMap((measure) => pointsOf(sets, measure));
}

function pointsOf(sets: readonly RowSet[], measure: RowMeasure): readonly MeasuredSet[] {
  return sets.flatMap((set): MeasuredSet[] => {
    const value = valueOf(measure, set);
    const { kind, derivation = 'a' } = measure;
    const name = set.rows.length === 1 ? derivation : `${derivation} of several rows`;
    const cells = cellsOf(measure, set);
    return value === undefined ? [] : [{ value, cells, kind, derivation: name, set }];
  });
}

/** What one measure is of each two sets: its difference, its ratio and its change. */
function pairs(sets: readonly RowSet[], measures: readonly RowMeasure[]): readonly Derivable[] {
  return measures.flatMap((measure) => {
    const known = pointsOf(sets, measure);
    return known.flatMap((a, index) => known.slice(index + 1).flatMap((b) => ofTwo(a, b)));
  });
}

function ofTwo(a: Derivable, b: Derivable): readonly Derivable[] {
  const cells = [...a.cells, ...b.cells].slice(0, 10);
  const [x, y] = [a.value, b.value];
  const name = a.derivation ?? 'a';
  const share = (value: number, derivation: string): Derivable => {
    return { value, cells, derivation: `${derivation} of ${name}`, kind: 'share' };
  };
  return [
    { value: x - y, cells, derivation: `difference of ${name}`, kind: a.kind },
    share(x / y, 'a / b'),
    share(y / x, 'a / b'),
    share(x / y - 1, 'change'),
    share(y / x - 1, 'change'),
  ].filter(({ value }) => Number.isFinite(value));
}

/** What of all rows a set has. */
function parts({ nearest, groups, whole, measures }: MeasuredRows): readonly Derivable[] {
  if (whole === undefined) return [];
  const columns = measures.filter((measure) => measure.columns.length === 1);
  return [...columnsOf(measures), ...columns].flatMap((measure) => {
    const all = valueOf(measure, whole);
    if (all === undefined || measure.kind === 'share') return [];
    return pointsOf([...nearest, ...groups], measure).map(({ value, cells }): Derivable => {
      return { value: value / all, cells, kind: 'share', derivation: 'a / sum of all' };
    });
  });
}

/** The columns of which ratios were told. */
function columnsOf(measures: readonly RowMeasure[]): readonly RowMeasure[] {
  return measures
    .filter(({ derivation }) => derivation === 'a / b')
    .map((ratio): RowMeasure => {
      const columns = ratio.columns.slice(0, 1);
      const kind = columns[0]?.kind ?? 'unknown';
      const compute = ([a = Number.NaN]: readonly number[]) => a;
      return { key: ratio.key, columns, kind, derivation: undefined, compute };
    });
}

/** How far apart the largest and the smallest row are. */
function spreads({ whole, measures }: MeasuredRows): readonly Derivable[] {
  if (whole === undefined) return [];
  return measures.flatMap((measure) => {
    const known = pointsOf(
      whole.rows.map((row) => ({ rows: [row] })),
      measure,
    ).toSorted((a, b) => a.value - b.value);
    const [first, last] = [known[0], known.at(-1)];
    return first === undefined || last === undefined ? [] : ofTwo(last, first).slice(0, 2);
  });
}

/** A set beside all rows, and beside their mean. */
function besideWhole({ nearest, groups, whole, measures }: MeasuredRows): readonly Derivable[] {
  if (whole === undefined) return [];
  return measures.flatMap((measure) => {
    const means = pointsOf([{ ...whole, mean: whole.rows.length }], measure);
    const all = measure.columns.length === 1 ? means : pointsOf([whole], measure);
    return pointsOf([...nearest, ...groups], measure).flatMap((own) =>
      all.flatMap((every) => ofTwo(own, every)),
    );
  });
}

/** What the first column of a row would be at the rate of another, and how far it is from it. */
function atRateOf(sets: readonly RowSet[], measures: readonly RowMeasure[]): readonly Derivable[] {
  const rates = measures.filter(({ derivation }) => derivation === 'a / b');
  return rates.flatMap((rate) =>
    sets.flatMap((set) =>
      sets.flatMap((model): readonly Derivable[] => {
        const [above, below] = rate.columns.map(({ values }) => values[set.rows[0] ?? -1]);
        const level = valueOf(rate, model);
        if (set === model || above === undefined || below === undefined || level === undefined)
          return [];
        const cells = [...cellsOf(rate, set), ...cellsOf(rate, model)].slice(0, 10);
        const kind = rate.columns[0]?.kind ?? 'unknown';
        const value = below * level;
        return [
          { value, cells, kind, derivation: 'b * rate of another row' },
          { value: value - above, cells, kind, derivation: 'b * rate of another row - a' },
        ];
      }),
    ),
  );
}

/**
 * A value with what the answer assumes: so many times it, a part of it, more or less by a part.
 */
function withParameter(
  values: readonly Derivable[],
  { value: parameter, isShare }: AssumedNumber,
): readonly Derivable[] {
  const changes: readonly (readonly [size: number, derivation: string])[] = isShare
    ? [
        [parameter, 'a * p'],
        [1 + parameter, 'a * (1 + p)'],
        [1 - parameter, 'a * (1 - p)'],
      ]
    : // Twice and ten times as much are mistakes that people make.
      [
        ...(parameter > 12 ? [[parameter, 'a * p'] as const] : []),
        ...(parameter > 2 ? [[1 / parameter, 'a / p'] as const] : []),
      ];
  return values.flatMap((own) =>
    changes.map(([size, derivation]): Derivable => {
      const kind = own.kind === 'money' ? own.kind : 'unknown';
      return { ...own, value: own.value * size, derivation, kind };
    }),
  );
}
