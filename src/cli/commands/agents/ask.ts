import { Option } from '@commander-js/extra-typings';
import type { OpenAgent } from '../../../chat/open-agent.ts';
import { UserError, type ExitCode } from '../../../lib/error.ts';
import { readTurnResult, type StopReason, type TurnResult } from '../../../llm/port/session.ts';
import { openLineInput } from '../../chat/input/line-input.ts';
import { groundingLines, groundTurn, ungroundedFailure } from '../../chat/grounding-text.ts';
import { choiceLines } from '../../chat/choices-text.ts';
import { eventData, turnData } from '../../chat/turn-data.ts';
import { openTurnView, receiptLine } from '../../chat/turn-view.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { shownExchange, type ShownExchange } from '../../chat/shown-exchanges.ts';
import { requireFree } from '../../export/new-file.ts';
import { readStandardInput } from '../../flags/read-input.ts';
import type { ShareTarget } from '../../share/write-share-page.ts';
import { usageError } from '../../terminal/failure.ts';
import { agentOptionText, openNamedAgent, permissionsOption } from './open-named-agent.ts';

export const askCommand = defineCommand({
  description:
    'Asks an agent one question about the data and prints the answer with its evidence. In a pipe, only the answer goes to stdout; ' +
    'queries run without asking, and writes and external tools are denied.',
  examples: [
    ['ktx ask "What was revenue by region last quarter?"', 'one question, one answer'],
    [
      'ktx ask --agent analyst --output-format json "How many orders are open?"',
      'the answer, its queries with rows, and the cost',
    ],
    ['ktx ask --resume last "And the year before?"', 'continues the last conversation'],
  ],
  define: (command) =>
    command
      .argument('[question]', 'the question; without it, or with -, standard input is read')
      .option('--agent <name>', agentOptionText)
      .option('--resume <id>', 'continue a conversation; "last" is the most recent')
      .addOption(
        new Option(
          '--output-format <format>',
          'text, one JSON envelope, or NDJSON of events',
        ).choices(['text', 'json', 'stream-json']),
      )
      .option(
        '--require-grounded',
        'fail with exit code 3 if the answer has a number that its queries do not give',
      )
      .option(
        '--share <file>',
        'also write the answer with chart, rows, SQL and receipt as one HTML file',
      )
      .addOption(permissionsOption()),
  async run({ args: [question], options }, context) {
    const isPiped = question === undefined && context.host.stdin.isTTY !== true;
    const message =
      question === '-' || isPiped ? await readStandardInput(context) : (question ?? '');
    if (message.trim() === '')
      throw usageError('The question is empty.', 'ktx ask "What was revenue last month?"');
    // Before anything is paid for.
    if (options.share !== undefined)
      await requireFree(options.share, { cwd: context.host.cwd, overwriteHint });
    await (await context.project()).trust.askNow();
    const input = context.screen.interactive ? openLineInput(context) : undefined;
    const stop = new AbortController();
    input?.onInterrupt(() => stop.abort());
    try {
      const agent = await openNamedAgent(options, input, context);
      try {
        const signal = AbortSignal.any([context.signal, stop.signal]);
        const streamsEvents = options.outputFormat === 'stream-json';
        const request = {
          message,
          signal,
          streamsEvents,
          requireGrounded: options.requireGrounded === true,
          share: options.share,
        };
        return await runTurn(agent, request, context);
      } finally {
        await agent.close();
      }
    } finally {
      input?.close();
    }
  },
});

interface TurnRequest {
  readonly message: string;
  readonly signal: AbortSignal;
  readonly streamsEvents: boolean;
  readonly requireGrounded: boolean;
  /** The HTML file to write. */
  readonly share: string | undefined;
}

const overwriteHint = 'remove the file first';

async function runTurn(
  agent: OpenAgent,
  { message, signal, streamsEvents, requireGrounded, share }: TurnRequest,
  context: CommandContext,
): Promise<CommandResult> {
  const { screen, host } = context;
  const isLive = screen.width !== undefined && screen.format !== 'json';
  const view = isLive ? openTurnView(context) : undefined;
  for (const warning of agent.about.warnings) context.printNote(warning);
  const result = await readTurnResult(agent.send(message, { signal }), (event) => {
    view?.show(event);
    const data = streamsEvents ? eventData(event) : undefined;
    if (data !== undefined) host.stdout.write(`${JSON.stringify(data)}\n`);
    if (view === undefined && event.type === 'warning') context.printNote(event.message);
  });
  const grounding = groundTurn({
    result,
    question: [...agent.about.past.map((turn) => turn.message), message].join('\n'),
    earlier: agent.about.past.flatMap(({ evidence }) => evidence),
  });
  const outcome = turnOutcome(result);
  const ungrounded = requireGrounded ? ungroundedFailure(grounding) : undefined;
  const shown = shownExchange({ message, result, grounding });
  const target = { about: agent.about, cwd: host.cwd, overwriteHint };
  const shared = share && (await shareAnswer(shown, { path: share, ...target }));
  return {
    data: turnData(agent.id, result, grounding),
    verbatim: true,
    ...(isLive || result.text === '' ? {} : { text: result.text }),
    notes: [
      ...(isLive ? [] : [receiptLine(result)]),
      ...groundingLines(grounding),
      ...choiceLines(result),
      ...(shared ? [shared] : []),
    ],
    next: screen.interactive
      ? [[`ktx chat --resume ${agent.id}`, 'continues this conversation']]
      : [],
    ...(outcome.exitCode === 0 && ungrounded !== undefined
      ? { exitCode: ungrounded.exitCode, failure: ungrounded }
      : outcome),
  };
}

/** Writes the answer as one HTML file. The page is loaded only for that. */
async function shareAnswer(shown: ShownExchange, target: ShareTarget): Promise<string> {
  const { writeSharePage } = await import('../../share/write-share-page.ts');
  return writeSharePage([shown], target);
}

const incompleteReasons: readonly StopReason[] = ['max_turns', 'budget', 'denied'];

/** The exit code of the turn, and the failure if the answer is missing or incomplete. */
function turnOutcome({ stopReason, error, denials }: TurnResult): {
  readonly exitCode: ExitCode;
  readonly failure?: UserError;
} {
  if (stopReason === 'interrupted') {
    const failure = new UserError('interrupted', 'Interrupted; the answer so far is kept.', {
      exitCode: 130,
      retryable: true,
    });
    return { exitCode: 130, failure };
  }
  if (error !== undefined) return { exitCode: error.exitCode, failure: error };
  if (!incompleteReasons.includes(stopReason)) return { exitCode: 0 };
  const hasDenials = denials.length > 0;
  const reason = hasDenials
    ? denials.map((denial) => `${denial.tool}: ${denial.reason}`).join(', ')
    : 'the agent used up its steps';
  const hint = hasDenials
    ? 'use ktx chat, which asks you; or set permissions.mode in an agent file'
    : 'raise limits.max_turns of the agent';
  const failure = new UserError(`turn_${stopReason}`, `The answer is not complete: ${reason}.`, {
    hint,
    exitCode: 3,
  });
  return { exitCode: 3, failure };
}
