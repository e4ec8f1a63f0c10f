import type { ColumnLabels } from '../../context/catalog/column-labels.ts';
import type { TableRef } from '../../sql/dialect.ts';
import type { ScanConfig } from '../config.ts';
import type { PersonalKind } from '../personal/classify-column.ts';
import type { ColumnProfile, TableProfile } from './table-profile.ts';
import { selectColumns } from './value-dictionary.ts';

/** What people say about columns, in `ktx.yaml` and in dataset files. */
export interface PolicySource {
  readonly settings: Pick<ScanConfig, 'no_values' | 'not_personal'>;
  readonly labels: ColumnLabels;
  readonly connection: string;
}

export interface ColumnPolicy {
  /** What people say; undefined if nobody says anything. */
  readonly personal: boolean | undefined;
  /** True if no values may be kept or sent, personal or not. */
  readonly isWithheld: boolean;
}

/**
 * A label in a dataset file counts more than `scan.not_personal`. Whatever withholds values,
 * withholds them.
 */
export function columnPolicy(
  { settings, labels, connection }: PolicySource,
  table: TableRef,
  column: string,
): ColumnPolicy {
  const isNamedBy = (rules: readonly string[]): boolean =>
    selectColumns(table, [{ name: column }], rules).length > 0;
  const { pii, valuesOff } = labels.of(connection, table, column);
  const exempt = isNamedBy(settings.not_personal) ? false : undefined;
  return {
    personal: pii ?? exempt,
    isWithheld: valuesOff || isNamedBy(settings.no_values),
  };
}

/** What makes a column personal after people had their say. */
export function personalKindUnder(
  { personal }: ColumnPolicy,
  inferred: PersonalKind | undefined,
): PersonalKind | undefined {
  if (personal === false) return undefined;
  return personal === true ? (inferred ?? 'declared') : inferred;
}

/** What the rules infer; profiles of older versions have it in `personal`. */
const inferredKind = ({ personal, inferred }: ColumnProfile): PersonalKind | undefined =>
  inferred ?? (personal === 'declared' ? undefined : personal);

/**
 * The profile of a column under another policy; `isComplete` is false if it lacks values that may
 * be kept now.
 */
function columnUnder(column: ColumnProfile, policy: ColumnPolicy) {
  const inferred = inferredKind(column);
  const personal = personalKindUnder(policy, inferred);
  const isOpen = personal === undefined && !policy.isWithheld;
  if (isOpen)
    return { column: { ...column, personal, inferred }, isComplete: column.isWithheld !== true };
  return {
    column: { ...column, personal, inferred, isWithheld: true, top: [], values: [] },
    isComplete: true,
  };
}

/**
 * A stored profile under the policy of now. `isComplete` is false if the table must be read again,
 * because values may be kept now that were left out; `isStricter` if values that were stored must
 * go.
 */
export function profileUnder(
  profile: TableProfile,
  policyOf: (column: string) => ColumnPolicy,
): {
  readonly profile: TableProfile;
  readonly isComplete: boolean;
  readonly isStricter: boolean;
} {
  const results = profile.columns.map((before) => ({
    before,
    ...columnUnder(before, policyOf(before.name)),
  }));
  return {
    profile: { ...profile, columns: results.map(({ column }) => column) },
    isComplete: results.every(({ isComplete }) => isComplete),
    isStricter: results.some(
      ({ before, column }) => column.isWithheld === true && before.isWithheld !== true,
    ),
  };
}
