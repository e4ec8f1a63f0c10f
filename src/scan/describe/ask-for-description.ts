import { untrustedBlock } from '../../lib/untrusted.ts';
import { LlmError } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import {
  type DescriptionAnswer,
  descriptionAnswerSchema,
  type DescriptionTask,
} from './description-task.ts';
import type { ScanModel } from './scan-model.ts';
import { type ShownTable, valuesShown } from './shown-table.ts';

/** A table to describe, and what the model is shown of it. */
export interface DescriptionRequest {
  readonly task: DescriptionTask;
  readonly shown: ShownTable;
}

export interface DescribeContext {
  readonly model: Pick<ScanModel, 'runtime'>;
  readonly connection: string;
  readonly signal: AbortSignal;
}

/** Asks the model to describe one table. Throws `invalid_output` if a column is left out. */
export async function askForDescription(
  { task, shown }: DescriptionRequest,
  { model, connection, signal }: DescribeContext,
): Promise<DescriptionAnswer> {
  const answer = await model.runtime.generateObject({
    role: 'candidateExtraction',
    stage: 'describe',
    values: valuesShown(shown, connection),
    system: readPrompt('describe-table'),
    prompt: `The table to describe:\n${shownBlock(shown)}`,
    schema: descriptionAnswerSchema,
    signal,
  });
  const left = columnsLeftOut(task, answer);
  if (left.length === 0) return answer;
  throw new LlmError(
    'invalid_output',
    `The model left ${left.length} of ${task.missing.length} columns of ${task.table.table} undescribed.`,
  );
}

/** The table between a pair of marks of its own. */
export function shownBlock(shown: ShownTable): string {
  return untrustedBlock('warehouse', JSON.stringify(shown, null, 1));
}

/** The columns that were asked for and are not in the answer. */
export function columnsLeftOut(
  { missing }: DescriptionTask,
  { columns }: DescriptionAnswer,
): (string | undefined)[] {
  const described = new Set(columns.map(({ name }) => name));
  return missing.filter((column) => column !== undefined && !described.has(column));
}
