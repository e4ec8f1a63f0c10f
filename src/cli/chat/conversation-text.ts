import type { OpenAgent } from '../../chat/open-agent.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import { receiptLine } from './turn-view.ts';

/** One question and its answer. */
export interface ChatExchange {
  readonly message: string;
  readonly result: TurnResult;
}

/** A conversation as Markdown: questions, answers, and the SQL behind them. */
export function renderConversation(
  { agent, connections }: OpenAgent['about'],
  exchanges: readonly ChatExchange[],
): string {
  const sections = exchanges.map(renderExchange);
  return `# A conversation with ${agent} about ${connections.join(', ')}\n\n${sections.join('\n\n')}\n`;
}

function renderExchange({ message, result }: ChatExchange): string {
  const [firstLine] = message.split('\n');
  const queries = result.evidence.flatMap(({ id, sql = '' }) => [
    `[${id}]`,
    `\`\`\`sql\n${sql}\n\`\`\``,
  ]);
  return [
    `## ${firstLine}`,
    ...(message.includes('\n') ? [message] : []),
    result.text,
    ...queries,
    `_${receiptLine(result)}_`,
  ].join('\n\n');
}
