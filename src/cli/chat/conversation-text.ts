import type { OpenAgent } from '../../chat/open-agent.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import { receiptLine } from './turn-view.ts';

interface Exchange {
  readonly message: string;
  readonly result: TurnResult;
}

/** A conversation for people: questions, answers, and the SQL behind them. */
export function conversationText(
  { agent, connections }: OpenAgent['about'],
  exchanges: readonly Exchange[],
): string {
  const parts = exchanges.map(({ message, result }) => {
    const sql = result.evidence.flatMap(({ id, sql: statement = '' }) => [
      `[${id}]`,
      `\`\`\`sql\n${statement}\n\`\`\``,
    ]);
    const whole = message.includes('\n') ? [message] : [];
    return [
      `## ${message.split('\n')[0]}`,
      ...whole,
      result.text,
      ...sql,
      `_${receiptLine(result)}_`,
    ].join('\n\n');
  });
  return `# A conversation with ${agent} about ${connections.join(', ')}\n\n${parts.join('\n\n')}\n`;
}
