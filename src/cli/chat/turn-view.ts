import { formatCount } from '../../lib/format-count.ts';
import type { AgentEvent, TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { chooseChart } from '../chart/choose-chart.ts';
import { renderTextChart } from '../chart/text-chart.ts';
import type { CommandContext } from '../command.ts';
import { pauseStep } from '../model-pause.ts';
import type { Screen } from '../terminal/screen.ts';
import { renderTable } from '../terminal/table.ts';
import { escapeControls, truncateText, wrapText } from '../terminal/text-width.ts';
import { openAnswerText } from './answer-text.ts';
import { evidenceTable } from './evidence-text.ts';

/** Shows a turn while it runs: the answer on stdout, everything else on stderr. */
export interface TurnView {
  show(event: AgentEvent): void;
}

type AgentEventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: Type }>;

/**
 * The view of one turn in a terminal: streamed text, a live line for running tools, a line for each
 * tool that ended.
 */
export function openTurnView(context: CommandContext): TurnView {
  const { host, screen, progress } = context;
  const { stdout, stderr } = host;
  const runningTools = new Map<string, string>();
  const answer = openAnswerText((text) => {
    progress.clear();
    stdout.write(text);
  }, screen);
  const endAnswer = (): void => {
    progress.clear();
    answer.end();
  };
  const printLine = (text: string): void => {
    endAnswer();
    stderr.write(`${text}\n`);
  };
  const showProgress = (): void =>
    progress.update([...runningTools.values()].join(', ') || 'waiting for the model');
  const showToolEnd = (event: AgentEventOf<'tool_end'>): void => {
    runningTools.delete(event.id);
    printLine(toolLine(event, screen));
    showProgress();
  };
  const showToolStart = ({ id, name }: AgentEventOf<'tool_start'>): void => {
    endAnswer();
    runningTools.set(id, name);
    showProgress();
  };
  context.showPauses((pause) => {
    endAnswer();
    progress.show({ step: pauseStep(pause), until: pause.until });
  });
  showProgress();
  return {
    show(event) {
      switch (event.type) {
        case 'text_delta':
          progress.update('writing the answer');
          return answer.push(event.text);
        case 'thinking_delta':
          return progress.update('thinking');
        case 'tool_start':
          return showToolStart(event);
        case 'permission_request':
          return progress.clear();
        case 'tool_end':
          return showToolEnd(event);
        case 'warning':
          return printLine(screen.style('yellow', escapeControls(event.message)));
        case 'turn_end':
          context.showPauses();
          endAnswer();
          for (const line of closingLines(event.result, screen)) printLine(line);
          return;
        case 'rate_limit': // A pause shows it, with the time left.
        case 'session_started':
        case 'usage':
          return;
        default:
          event satisfies never;
      }
    },
  };
}

function toolLine(
  { ok, name, evidenceId, summary }: AgentEventOf<'tool_end'>,
  screen: Screen,
): string {
  const mark = ok ? screen.style('green', '✓') : screen.style('red', '✗');
  const evidence = evidenceId === undefined ? '' : `[${evidenceId}] `;
  const text = `${name} ${evidence}${escapeControls(summary)}`;
  return `${mark} ${screen.style('dim', truncateText(text, (screen.width ?? 120) - 2))}`;
}

const maxTableRows = 20;

/**
 * The rows, if the answer has no table of its own; a chart if their shape asks for one; then the
 * receipt on one line.
 */
function closingLines(result: TurnResult, screen: Screen): string[] {
  const last = result.evidence.at(-1);
  const hasRowsToShow =
    last !== undefined &&
    last.rows.length > 1 &&
    last.rows.length <= maxTableRows &&
    !result.text.includes('|');
  const table = hasRowsToShow ? ['', renderTable(evidenceTable(last), screen)] : [];
  const chart = last && chooseChart(last);
  const drawn =
    chart?.kind === 'charts' && chart.isNatural
      ? chart.charts.slice(0, 1).flatMap((first) => ['', renderTextChart(first, screen)])
      : [];
  const receipt = wrapText(receiptLine(result), screen.width).join('\n');
  return [...table, ...drawn, '', screen.style('dim', receipt)];
}

/** `[q1] curated, 12 rows from shop; 2 steps, 1,234 tokens, $0.0123, 3.2 s` */
export function receiptLine(result: TurnResult): string {
  const { evidence, usage, costUsd, costReason, steps, durationMs, stopReason } = result;
  const queries = evidence.map(
    (query) =>
      `[${query.id}] ${trustText(query)}, ${formatCount(query.rows.length, 'row')} from ${query.connection ?? query.tool}`,
  );
  const tokens = Object.values(usage).reduce(
    (sum, { input, output, cacheRead, cacheWrite }) =>
      sum + input + output + cacheRead + cacheWrite,
    0,
  );
  const cost =
    costUsd === null
      ? `cost unknown (${costReason ?? 'the provider did not report it'})`
      : `$${costUsd.toFixed(4)}`;
  const spent = [
    formatCount(steps, 'step'),
    `${tokens.toLocaleString('en-US')} tokens`,
    cost,
    `${(durationMs / 1000).toFixed(1)} s`,
  ];
  const ended = stopReason === 'completed' ? [] : [`ended: ${stopReason.replaceAll('_', ' ')}`];
  const queryTexts = queries.length === 0 ? ['no query'] : queries;
  return [...queryTexts, spent.join(', '), ...ended].join('; ');
}

function trustText({ trust, truncated, warnings = [] }: QueryEvidence): string {
  const status = trust?.['status'] === 'curated' ? 'curated' : 'ad hoc';
  const contested = trust?.['contested'] === undefined ? '' : ', contested';
  const warned = warnings.length > 0 ? ', with warnings' : '';
  return `${status}${contested}${truncated ? ', truncated' : ''}${warned}`;
}
