import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { ToolAnswer } from '../../tools/tool.ts';

type EvidenceOfTool = Omit<QueryEvidence, 'call'>;

/** The evidence of a tool's answer; undefined if the tool ran no query. */
export function toolEvidence(
  {
    ran,
    queryId,
    details = {},
    warnings: quoted = [],
    items,
    truncated = false,
    trust,
  }: ToolAnswer,
  about: Pick<QueryEvidence, 'id' | 'tool' | 'ms' | 'plan'>,
): EvidenceOfTool | undefined {
  if (ran === undefined) return undefined;
  const { columns, receipt, warnings } = details;
  const found = [...(Array.isArray(warnings) ? warnings.map(String) : []), ...quoted];
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
    ...(found.length > 0 && { warnings: found }),
  };
}
