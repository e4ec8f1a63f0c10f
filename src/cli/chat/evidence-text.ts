import { z } from 'zod';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { QueryReceipt } from '../../project/answer/query.ts';
import type { Outline } from '../../semantic/emit/outline.ts';
import type { Table } from '../terminal/table.ts';
import { planLines } from '../commands/sl/plan-text.ts';
import { receiptLines } from '../commands/sl/receipt-text.ts';
import { escapeControls } from '../terminal/text-width.ts';

export function evidenceTable({ columns, rows }: QueryEvidence): Table {
  return { columns, rows: rows as Table['rows'] };
}

const receiptSchema = z.looseObject({
  metrics: z.array(z.unknown()),
  files: z.array(z.string()),
  notes: z.array(z.string()),
});

const planSchema = z.looseObject({
  blocks: z.array(z.unknown()),
  merge: z.array(z.unknown()),
  columns: z.array(z.unknown()),
});

/** Why a number is what it is: each metric with its rows, paths and filters, and where the definition stands. */
export function whyText({ id, tool, queryId, receipt, plan, ms, sql = '' }: QueryEvidence): string {
  const isReceipt = receiptSchema.safeParse(receipt).success;
  const reasons = isReceipt
    ? receiptLines(receipt as QueryReceipt)
    : ['SQL as the model wrote it: no definition stands behind it.'];
  return [
    `[${id}] ${tool}, ${ms} ms`,
    ...indented(reasons),
    ...indented(planSchema.safeParse(plan).success ? planLines(plan as Outline) : []),
    ...indented([
      ...sql.split('\n'),
      ...(queryId === undefined || !isReceipt
        ? []
        : [`ktx explain ${queryId} leads on to the evidence of each definition`]),
    ]),
  ].join('\n');
}

const trustSchema = z.looseObject({
  files: z.array(z.string()).default([]),
  commit: z.string().optional(),
  contested: z.array(z.string()).default([]),
});

/** Where it comes from: the warehouse, the files with their commit, and what is contested. */
export function sourcesText({ id, connection, trust }: QueryEvidence): string {
  const { files, commit, contested } = trustSchema.parse(trust ?? {});
  const at = commit === undefined ? '' : ` at commit ${commit.slice(0, 10)}`;
  const told = [
    ...files.map((file) => `${file}${at}`),
    ...contested.map((subject) => `contested: ${subject}; ktx review decides`),
  ];
  return [`[${id}] ${connection ?? 'no warehouse'}`, ...indented(told)].join('\n');
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${escapeControls(line)}`);
}
