import type { UserError } from '../../lib/error.ts';
import { isContextTooLong, isFatalToRun, isTransient, LlmError } from '../../llm/port/error.ts';
import type { DescriptionRequest } from './ask-for-description.ts';
import { isTooShortForAnOrder } from './short-text.ts';
import type { ShownTable } from './shown-table.ts';

/** What fits into one call. The answer has to fit into the output limits of small models, too. */
const batchLimits = { tables: 8, descriptions: 60, characters: 16_000 } as const;

/** Tables that are described in one call. */
export type DescriptionBatch = readonly DescriptionRequest[];

/**
 * The tables by calls. Tables share a call if they are in the same schema and nothing in them could
 * tell the model what to write about the others. The result depends on the tables alone, so that a
 * run is the same on every backend.
 */
export function planBatches(requests: DescriptionBatch): DescriptionBatch[] {
  const batches: DescriptionBatch[] = [];
  const openBatches = new Map<string, DescriptionRequest[]>();
  for (const request of requests) {
    const { schema } = request.shown;
    const open = openBatches.get(schema);
    if (!maySharePrompt(request.shown)) batches.push([request]);
    else if (open !== undefined && fits([...open, request])) open.push(request);
    else {
      const batch = [request];
      openBatches.set(schema, batch);
      batches.push(batch);
    }
  }
  return batches;
}

/**
 * How many calls describe tables that could all share them. `descriptions` has the number of each
 * table.
 */
export function leastCalls(descriptions: readonly number[]): number {
  const sum = descriptions.reduce((total, count) => total + count, 0);
  return Math.max(
    Math.ceil(descriptions.length / batchLimits.tables),
    Math.ceil(sum / batchLimits.descriptions),
  );
}

/**
 * What to ask after a batch failed: halves if it was too long, else each table alone, where the
 * model may correct itself. Empty if the same would fail again.
 */
export function smallerBatches(batch: DescriptionBatch, error: UserError): DescriptionBatch[] {
  if (batch.length === 1 || isFatalToRun(error)) return [];
  if (error instanceof LlmError && isTransient(error)) return [];
  if (!isContextTooLong(error)) return batch.map((request) => [request]);
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

function fits(batch: DescriptionBatch): boolean {
  const sumOf = (count: (request: DescriptionRequest) => number): number =>
    batch.reduce((sum, request) => sum + count(request), 0);
  return (
    batch.length <= batchLimits.tables &&
    sumOf(({ task }) => task.missing.length) <= batchLimits.descriptions &&
    sumOf(({ shown }) => JSON.stringify(shown).length) <= batchLimits.characters
  );
}

/**
 * False if a text of the table is long enough to be an order to the model. Anybody who can fill in
 * a form may have written a value, and a comment often is somebody else's than the tables beside
 * it. Such a table is described alone.
 */
function maySharePrompt({ comment, columns, ...table }: ShownTable): boolean {
  const texts = [comment, ...columns.flatMap((column) => [column.comment, ...valuesOf(column)])];
  const names = [
    table.schema,
    table.table,
    ...(table.primary_key ?? []),
    ...table.refers_to.flatMap((link) => [link.table, link.role, ...link.columns]),
    ...columns.flatMap(({ name, type }) => [name, type]),
  ];
  return (
    texts.every((text) => isTooShortForAnOrder(text, { words: 3, bytes: 24 })) &&
    names.every((name) => isTooShortForAnOrder(name, { words: 6, bytes: 64 }))
  );
}

const valuesOf = ({ values = [], frequent = [] }: ShownTable['columns'][number]): unknown[] => [
  ...values,
  ...frequent,
];
