import { formatCount } from '../../lib/format-count.ts';
import type { AgentEvent, TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { CommandContext } from '../command.ts';
import { renderTable } from '../terminal/table.ts';
import { truncateText, escapeControls, wrapText } from '../terminal/text-width.ts';
import { openAnswerText } from './answer-text.ts';
import { evidenceTable } from './evidence-text.ts';

/** A turn as it happens: text on stdout, everything around it on stderr. */
export interface TurnView {
  show(event: AgentEvent): void;
}

const mostRows = 20;

/** For a person at a terminal, for one turn: text as it streams, a live line for the tools that run, a line for each that ended. */
export function liveView({ host, screen, progress }: CommandContext): TurnView {
  const { stdout, stderr } = host;
  const running = new Map<string, string>();
  const answer = openAnswerText((text) => {
    progress.clear();
    stdout.write(text);
  }, screen);
  const endAnswer = (): void => {
    progress.clear();
    answer.end();
    if (answer.isMidLine()) answer.push('\n');
  };
  const line = (text: string): void => {
    endAnswer();
    stderr.write(`${text}\n`);
  };
  const showRunning = (): void =>
    progress.update(running.size > 0 ? [...running.values()].join(', ') : 'waiting for the model');
  showRunning();
  return {
    show(event) {
      switch (event.type) {
        case 'text_delta':
          return answer.push(event.text);
        case 'thinking_delta':
          if (!answer.isMidLine()) progress.update('thinking');
          return;
        case 'tool_start':
          if (answer.isMidLine()) line('');
          running.set(event.id, event.name);
          return showRunning();
        case 'permission_request':
          return progress.clear();
        case 'tool_end': {
          running.delete(event.id);
          const mark = event.ok ? screen.style('green', '✓') : screen.style('red', '✗');
          const evidence = event.evidenceId === undefined ? '' : `[${event.evidenceId}] `;
          line(
            `${mark} ${screen.style('dim', truncateText(`${event.name} ${evidence}${escapeControls(event.summary)}`, (screen.width ?? 120) - 2))}`,
          );
          return showRunning();
        }
        case 'rate_limit':
          return line(
            screen.style(
              'yellow',
              `The provider's limit is reached (${escapeControls(event.window)}); waiting${event.resetsAt === undefined ? '' : ` until ${new Date(event.resetsAt).toLocaleTimeString()}`}. Ctrl-C stops the turn.`,
            ),
          );
        case 'warning':
          return line(screen.style('yellow', escapeControls(event.message)));
        case 'turn_end':
          endAnswer();
          for (const text of afterwards(event.result, screen)) line(text);
          return;
        case 'session_started':
        case 'usage':
          return;
        default:
          event satisfies never;
      }
    },
  };
}

/** The rows, where the answer has no table of its own, and the receipt in one line. */
function afterwards(result: TurnResult, screen: CommandContext['screen']): string[] {
  const last = result.evidence.at(-1);
  const isTable =
    last !== undefined &&
    last.rows.length > 1 &&
    last.rows.length <= mostRows &&
    !result.text.includes('|');
  const table = isTable ? ['', renderTable(evidenceTable(last), screen)] : [];
  return [...table, screen.style('dim', wrapText(receiptLine(result), screen.width).join('\n'))];
}

/** `[q1] curated, 12 rows from shop; 2 turns, 1,234 tokens, $0.0123, 3.2 s` */
export function receiptLine({
  evidence,
  usage,
  costUsd,
  costReason,
  steps,
  durationMs,
  stopReason,
}: TurnResult): string {
  const queries = evidence.map(
    (each) =>
      `[${each.id}] ${standing(each)}, ${formatCount(each.rows.length, 'row')} from ${each.connection ?? each.tool}`,
  );
  const tokens = Object.values(usage).reduce(
    (sum, { input, output, cacheRead, cacheWrite }) =>
      sum + input + output + cacheRead + cacheWrite,
    0,
  );
  const cost =
    costUsd === null ? `cost unknown (${costReason ?? 'not told'})` : `$${costUsd.toFixed(4)}`;
  const spent = `${formatCount(steps, 'step')}, ${tokens.toLocaleString('en-US')} tokens, ${cost}, ${(durationMs / 1000).toFixed(1)} s`;
  const ended = stopReason === 'completed' ? [] : [`ended: ${stopReason.replaceAll('_', ' ')}`];
  return [...(queries.length === 0 ? ['no query'] : queries), spent, ...ended].join('; ');
}

function standing({ trust, truncated }: QueryEvidence): string {
  const status = trust?.['status'] === 'curated' ? 'curated' : 'ad hoc';
  const contested = trust?.['contested'] === undefined ? '' : ', contested';
  return `${status}${contested}${truncated ? ', cut off' : ''}`;
}
