import type { StatementContext } from '../context.ts';

/** A sentence often goes on with what the one before it was about. */
export function withSentenceBefore(
  contexts: readonly StatementContext[],
  index: number,
  text: string,
): StatementContext | undefined {
  const [before, own] = [contexts[index - 1], contexts[index]];
  if (before === undefined || own === undefined) return undefined;
  if (before.statement.isEntry || own.statement.isEntry) return undefined;
  const [{ start }, { end }] = [before.statement, own.statement];
  if (text.slice(start, end).includes('\n\n')) return undefined;
  const statement = { ...own.statement, start, text: text.slice(start, end) };
  return { ...own, statement, numbers: [...before.numbers, ...own.numbers] };
}
