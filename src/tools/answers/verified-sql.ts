import { formatCount } from '../../lib/format-count.ts';
import { fullTableName } from '../../sql/dialect.ts';
import { runStatement } from '../../project/answer/statement.ts';
import { readCommitState } from '../../project/open/commit-state.ts';
import type { AskedQuery } from '../../project/saved/saved-request.ts';
import { verifiedMark } from '../../project/verified/find-verified.ts';
import { carriesNone, type ToolAnswer, type ToolContext, warehouseWarns } from '../tool.ts';
import { describeMark } from './describe-mark.ts';
import { valuesOfRows } from './values-of-rows.ts';

/** Answers a verified question with its SQL. The limits of the role hold, as for all SQL. */
export async function answerVerifiedSql(
  { project, signal }: Pick<ToolContext, 'project' | 'signal'>,
  { sql, question, isDry }: Extract<AskedQuery, { kind: 'sql' }> & { readonly isDry: boolean },
): Promise<ToolAnswer> {
  const { connection, file } = question;
  const verified = verifiedMark(question);
  const trust = {
    status: 'ad_hoc',
    verified,
    files: [file],
    ...(await readCommitState(project.dir, [file])),
  } as const;
  const receipt = { verified, file, metrics: [] };
  if (isDry) {
    const summary = `The SQL; it was not run. ${describeMark(verified)}`;
    return { summary, trust, details: { sql, receipt }, items: [], values: carriesNone };
  }
  const [result, sources] = await Promise.all([
    runStatement(project, { connection, sql }, signal),
    project.warehouse(connection, signal).then((warehouse) => warehouse.reads(sql)),
  ]);
  const { columns, rows, queryId, ms, truncated, warnings } = result;
  const summary = [
    `${formatCount(rows.length, 'row')} from ${connection} in ${ms} ms.`,
    describeMark(verified),
    ...(warnings.length > 0 ? [warehouseWarns] : []),
  ];
  return {
    summary: summary.join(' '),
    trust,
    queryId,
    ran: { connection, sql },
    details: { columns, receipt, sql },
    warnings,
    items: rows,
    truncated,
    values: valuesOfRows(connection, sources.map(fullTableName), columns),
  };
}
