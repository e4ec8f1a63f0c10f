import { basename } from 'node:path';
import { UserError } from '../lib/error.ts';
import { formatCount } from '../lib/format-count.ts';
import type { Project } from '../project/open/open.ts';
import { planQuery, type QueryReceipt, runQuery } from '../project/answer/query.ts';
import type { VerifiedMark } from '../project/verified/find-verified.ts';
import { answerVerifiedSql } from './answers/verified-sql.ts';
import { describeMark } from './answers/describe-mark.ts';
import { carriesNone, type ToolDefinition, type Trust, warehouseWarns } from './tool.ts';
import { metricsInputSchema, metricsRequest } from './answers/metrics-request.ts';
import { valuesOfRows } from './answers/values-of-rows.ts';

export const queryMetrics: ToolDefinition<typeof metricsInputSchema> = {
  name: 'query_metrics',
  description:
    'Queries curated metrics with correct joins and grain; returns rows, SQL, receipt, or an error that lists the choices. Prefer it to run_sql.',
  effect: 'query',
  inputSchema: metricsInputSchema,
  itemsName: 'rows',
  async run({ dry_run: isDry, ...input }, context) {
    const { project, signal, isReviewedOnly } = context;
    const asked = await metricsRequest(project, input);
    if (asked.kind === 'sql') return answerVerifiedSql(context, { ...asked, isDry });
    const { request } = asked;
    const { connection } = request;
    if (isReviewedOnly) await refuseUnreviewed(project, request);
    if (isDry) {
      const { plan, sql, receipt } = await planQuery(project, request);
      return {
        summary: `The plan; the query was not run.${verifiedText(receipt.verified)}`,
        trust: trustOf(receipt),
        details: { sql, receipt, plan },
        items: [],
        values: carriesNone,
      };
    }
    const { name } = project.connection(connection);
    // Connects while the model loads. A failure is reported when the query runs.
    void Promise.allSettled([project.warehouse(name, signal)]);
    const answer = await runQuery(project, request, signal);
    const { columns, receipt, sql, outline, rows, queryId, ms, truncated, warnings } = answer;
    const count = `${formatCount(rows.length, 'row')} from ${name} in ${ms} ms.`;
    const warned = warnings.length > 0 ? ` ${warehouseWarns}` : '';
    return {
      summary: `${count}${verifiedText(receipt.verified)}${warned}`,
      trust: trustOf(receipt),
      queryId,
      ran: { connection: name, sql, outline },
      details: { columns, receipt, sql },
      warnings,
      items: rows,
      truncated,
      values: valuesOfRows(
        name,
        receipt.files.map((path) => basename(path).replace(/\.ya?ml$/, '')),
        columns,
      ),
    };
  },
};

/** Throws if the query uses a metric that nobody has accepted. */
async function refuseUnreviewed(
  project: Project,
  request: Parameters<typeof planQuery>[1],
): Promise<void> {
  const { unreviewed } = trustOf((await planQuery(project, request)).receipt);
  if (unreviewed === undefined) return;
  throw new UserError('unreviewed_metric', `Nobody has accepted ${unreviewed.join(' and ')} yet.`, {
    hint: 'This agent uses accepted metrics only. A person accepts one with ktx review.',
    exitCode: 2,
  });
}

function verifiedText(mark: VerifiedMark | undefined): string {
  return mark === undefined ? '' : ` ${describeMark(mark)}`;
}

function trustOf(receipt: QueryReceipt): Trust {
  const { metrics, files, contested, stale, commit, uncommitted, verified } = receipt;
  const unreviewed = [...new Set(metrics.flatMap((metric) => metric.unreviewed ?? []))];
  return {
    status: metrics.every(({ curated }) => curated) ? 'curated' : 'ad_hoc',
    files,
    ...(verified === undefined ? {} : { verified }),
    ...(contested.length === 0 ? {} : { contested }),
    ...(stale.length === 0 ? {} : { stale }),
    ...(unreviewed.length === 0 ? {} : { unreviewed }),
    commit,
    uncommitted,
  };
}
