import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { ToolAnswer } from '../../tools/tool.ts';

type EvidenceOfTool = Omit<QueryEvidence, 'call'>;

/** The evidence of a tool's answer; undefined if the tool ran no query. */
export function toolEvidence(
  { ran, queryId, details = {}, items, truncated = false, trust }: ToolAnswer,
  about: Pick<QueryEvidence, 'id' | 'tool' | 'ms' | 'plan'>,
): EvidenceOfTool | undefined {
  if (ran === undefined) return undefined;
  const { columns, receipt } = details;
  return {
    ...about,
    queryId,
    connection: ran.connection,
    sql: ran.sql,
    receipt,
    trust: { ...trust },
    columns: Array.isArray(columns) ? (columns as QueryEvidence['columns']) : [],
    rows: items as QueryEvidence['rows'],
    truncated,
  };
}
