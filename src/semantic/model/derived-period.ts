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
  const found = [...datasets.values()].flatMap((spine): readonly NamedPeriod[] => {
    const { column, grain, custom_periods: periods = {} } = spine.timeSpine ?? {};
    const field = Object.hasOwn(periods, name) ? periods[name] : undefined;
    if (column === undefined || grain === undefined || field === undefined) return [];
    return [{ grain, derived: { kind: 'custom', name, spine, column, field } }];
  });
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

/** As a query writes it. */
export function derivedPeriodName(derived: DerivedPeriod): string {
  return derived.kind === 'part' ? derived.part : derived.name;
}
