import type { Evidence } from '../../llm/tool-call.ts';
import type { Table } from '../output.ts';

export function evidenceTable({ columns, rows }: Evidence): Table {
  return { columns, rows: rows as Table['rows'] };
}
