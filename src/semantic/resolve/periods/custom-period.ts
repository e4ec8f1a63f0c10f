import type { FieldType } from '../../../sql/field-type.ts';
import type { CustomPeriod } from '../../model/derived-period.ts';
import { findField, requireReadableRows } from '../../model/model.ts';
import type { Expr } from '../../relational/query-tree.ts';
import type { JoinPath } from '../join-paths.ts';
import { columnExpr, type JoinScope, type PlannedJoin } from '../join-scope.ts';

/** Where the time of a period stands in a query, and where the join of its calendar goes. */
export interface PeriodSource {
  readonly joins: Map<string, PlannedJoin>;
  readonly leftAlias: string;
  readonly path: JoinPath;
  readonly name: string;
}

/** The custom period in which a period begins. Joins the time spine, which has one row for it. */
export function joinCustomPeriod(
  { model, query }: Pick<JoinScope, 'model' | 'query'>,
  { spine, column, field }: CustomPeriod,
  { period, source }: { readonly period: Expr; readonly source: PeriodSource },
): { readonly expr: Expr; readonly type: FieldType | undefined } {
  const { joins, leftAlias, path, name } = source;
  const alias = `${leftAlias}.${name} ${spine.name}`;
  const side = { dialect: model.dialect, dataset: spine, alias };
  const type = findField(spine, column)?.type;
  const stored = type === 'datetime' || type === 'datetime_tz' ? type : 'date';
  const start: Expr = {
    kind: 'truncate',
    grain: spine.timeSpine?.grain ?? 'day',
    of: columnExpr(side, column),
    options: { type: stored, weekStart: query.week_start },
  };
  joins.set(alias, {
    alias,
    relation: requireReadableRows(spine),
    on: { kind: 'text', parts: [period, ' = ', start] },
    path,
    leftAlias,
    kind: 'left',
    isToMany: false,
  });
  return { expr: columnExpr(side, field), type: findField(spine, field)?.type };
}
