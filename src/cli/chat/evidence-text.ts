import { z } from 'zod';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { QueryReceipt } from '../../project/answer/query.ts';
import type { Outline } from '../../semantic/emit/outline.ts';
import { planLines } from '../commands/sl/plan-text.ts';
import { receiptLines } from '../commands/sl/receipt-text.ts';
import type { Table } from '../terminal/table.ts';
import { escapeControls } from '../terminal/text-width.ts';

export function evidenceTable({ columns, rows }: QueryEvidence): Table {
  return { columns, rows: rows as Table['rows'] };
}

const receiptShape = z.looseObject({
  metrics: z.array(z.unknown()),
  files: z.array(z.string()),
  notes: z.array(z.string()),
});

const planShape = z.looseObject({
  blocks: z.array(z.unknown()),
  merge: z.array(z.unknown()),
  columns: z.array(z.unknown()),
});

/**
 * How a number was computed: each metric with its rows, paths and filters, where it is defined, the
 * plan and the SQL.
 */
export function describeReceipt(evidence: QueryEvidence): string {
  const { id, tool, queryId, receipt, plan, ms, sql = '' } = evidence;
  const hasReceipt = receiptShape.safeParse(receipt).success;
  const definitions = hasReceipt
    ? receiptLines(receipt as QueryReceipt)
    : ['SQL as the model wrote it; it uses no metric definition.'];
  const explainLine = `for the evidence of each definition: ktx explain ${queryId}`;
  const lines = [
    ...definitions,
    ...(planShape.safeParse(plan).success ? planLines(plan as Outline) : []),
    ...sql.split('\n'),
    ...(queryId === undefined || !hasReceipt ? [] : [explainLine]),
  ];
  return [`[${id}] ${tool}, ${ms} ms`, ...indentLines(lines)].join('\n');
}

const trustShape = z.looseObject({
  files: z.array(z.string()).default([]),
  commit: z.string().optional(),
  contested: z.array(z.string()).default([]),
});

/** Where the data comes from: the warehouse, the files with their commit, and what is contested. */
export function describeSources({ id, connection, trust }: QueryEvidence): string {
  const { files, commit, contested } = trustShape.parse(trust ?? {});
  const version = commit === undefined ? '' : ` at commit ${commit.slice(0, 10)}`;
  const lines = [
    ...files.map((file) => `${file}${version}`),
    ...contested.map((subject) => `contested: ${subject}; to resolve it: ktx review`),
  ];
  return [`[${id}] ${connection ?? 'no warehouse'}`, ...indentLines(lines)].join('\n');
}

function indentLines(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${escapeControls(line)}`);
}
