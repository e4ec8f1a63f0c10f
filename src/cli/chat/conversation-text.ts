import type { OpenAgent } from '../../chat/open-agent.ts';
import type { ShownExchange } from './shown-exchanges.ts';

/** A conversation as Markdown: questions, answers, and the SQL behind them. */
export function renderConversation(
  { agent, connections }: OpenAgent['about'],
  exchanges: readonly ShownExchange[],
): string {
  const sections = exchanges.map(renderExchange);
  return `# A conversation with ${agent} about ${connections.join(', ')}\n\n${sections.join('\n\n')}\n`;
}

function renderExchange({ message, text, evidence, receipt }: ShownExchange): string {
  const [firstLine] = message.split('\n');
  const queries = evidence.flatMap(({ id, sql = '' }) => [`[${id}]`, `\`\`\`sql\n${sql}\n\`\`\``]);
  return [
    `## ${firstLine}`,
    ...(message.includes('\n') ? [message] : []),
    text,
    ...queries,
    ...(receipt === undefined ? [] : [`_${receipt}_`]),
  ].join('\n\n');
}
