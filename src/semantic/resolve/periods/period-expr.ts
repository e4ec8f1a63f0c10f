import type { FieldType } from '../../../sql/field-type.ts';
import { type Grain, periodStart, periodStartType, yearStartFor } from '../../model/grains.ts';
import type { Expr } from '../../relational/query-tree.ts';
import type { ResolvedField } from '../field-path.ts';
import type { JoinScope } from '../join-scope.ts';
import { joinCustomPeriod, type PeriodSource } from './custom-period.ts';

/** The period itself, or what the field makes of it. */
export function derivedExpr(
  scope: JoinScope,
  { derived }: Pick<ResolvedField, 'derived'>,
  { period, grain, source }: { period: Expr; grain: Grain; source: PeriodSource },
): { readonly expr: Expr; readonly type: FieldType | undefined } {
  if (derived === undefined) return { expr: period, type: periodStartType(grain) };
  if (derived.kind === 'part')
    return { expr: { kind: 'date_part', part: derived.part, of: period }, type: 'integer' };
  return joinCustomPeriod(scope, derived, { period, source });
}

/** A period of the time spine, truncated to the grain of the field. */
export function spinePeriodExpr(
  scope: JoinScope,
  resolved: Pick<ResolvedField, 'dataset' | 'grain' | 'derived'>,
  { expr, type, joins }: NonNullable<JoinScope['spinePeriod']>,
): { readonly expr: Expr; readonly type: FieldType | undefined } {
  const { dataset, grain } = resolved;
  if (grain === undefined) return { expr, type };
  const yearStart = yearStartFor(dataset, [grain]);
  const options = { type, weekStart: scope.query.week_start, yearStart };
  const period = periodStart(expr, grain, options);
  const source = { joins, leftAlias: '', path: [], name: 'period' };
  return derivedExpr(scope, resolved, { period, grain, source });
}
