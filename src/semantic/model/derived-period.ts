import { type DatePart, dateParts } from '../../sql/dialect.ts';
import { ambiguousError } from '../query/errors.ts';
import type { Grain } from './grains.ts';
import type { ModelDataset, SemanticModel } from './model.ts';

/** What a query can make of the start of a period: a number, or a period of a custom calendar. */
export type DerivedPeriod =
  | { readonly kind: 'part'; readonly part: DatePart }
  | ({ readonly kind: 'custom' } & CustomPeriod);

/** A period that a time spine defines: the value of a field for each period of the spine. */
export interface CustomPeriod {
  readonly name: string;
  readonly spine: ModelDataset;
  /** The time field of the spine. */
  readonly column: string;
  /** The field that names the period. */
  readonly field: string;
}

/** A grain, with what is made of the start of its periods. */
export interface NamedPeriod {
  readonly grain: Grain;
  readonly derived: DerivedPeriod;
}

/** The date part or the custom period of a name; undefined if it is neither. */
export function findDerivedPeriod(
  { datasets }: Pick<SemanticModel, 'datasets'>,
  name: string,
): NamedPeriod | undefined {
  const part = dateParts.find((candidate) => candidate === name);
  if (part !== undefined)
    return {
      grain: part === 'hour_of_day' ? 'hour' : 'day',
      derived: { kind: 'part', part },
    };
  const found = customPeriods(datasets).get(name) ?? [];
  if (found.length <= 1) return found[0];
  const names = found.flatMap(({ derived }) =>
    derived.kind === 'custom' ? [derived.spine.name] : [],
  );
  throw ambiguousError(
    'ambiguous_name',
    `Several time spines have a period ${name}. Keep it in one of them`,
    names,
  );
}

/** Collected once for the datasets of a model: there can be tens of thousands. */
const customPeriodsOf = new WeakMap<SemanticModel['datasets'], CustomPeriods>();

type CustomPeriods = ReadonlyMap<string, readonly NamedPeriod[]>;

function customPeriods(datasets: SemanticModel['datasets']): CustomPeriods {
  const known = customPeriodsOf.get(datasets);
  if (known !== undefined) return known;
  const collected = new Map<string, NamedPeriod[]>();
  for (const spine of datasets.values()) {
    const { column, grain, custom_periods: periods = {} } = spine.timeSpine ?? {};
    if (column === undefined || grain === undefined) continue;
    for (const [name, field] of Object.entries(periods)) {
      const derived = { kind: 'custom', name, spine, column, field } as const;
      collected.set(name, [...(collected.get(name) ?? []), { grain, derived }]);
    }
  }
  customPeriodsOf.set(datasets, collected);
  return collected;
}

/** As a query writes it. */
export function derivedPeriodName(derived: DerivedPeriod): string {
  return derived.kind === 'part' ? derived.part : derived.name;
}
