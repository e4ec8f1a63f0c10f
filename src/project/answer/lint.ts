import type { LintReport } from '../../semantic/lint/lint.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { Project } from '../open/open.ts';

/**
 * Compares a statement with the semantic layer of a connection: fan-out joins, missing filters.
 * Runs nothing.
 */
export async function lintStatement(
  project: Project,
  connection: string,
  sql: string,
): Promise<LintReport> {
  const { model } = await project.model(connection);
  if (model.datasets.size === 0) return { findings: [], proposal: undefined };
  const { lintSql } = await import('../../semantic/lint/lint.ts');
  return withAnalyzer(() => lintSql(sql, model));
}
