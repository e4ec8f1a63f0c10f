import { Option } from '@commander-js/extra-typings';
import type { OpenAgent } from '../../../chat/open-agent.ts';
import type { PermissionPolicy } from '../../../chat/permissions.ts';
import { permissionModes } from '../../../chat/agent-schema.ts';
import { UserError, type ExitCode } from '../../../lib/error.ts';
import { readTurnResult, type StopReason, type TurnResult } from '../../../llm/port/session.ts';
import { eventData, turnData } from '../../chat/turn-data.ts';
import { askPermission, openLineInput, type LineInput } from '../../chat/line-input.ts';
import { liveView, receiptLine } from '../../chat/turn-view.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';

export const askCommand = defineCommand({
  description:
    'Asks an agent one question about the data and prints its answer, with the evidence behind it. In a pipe stdout has the answer and nothing else; queries run unasked there, writes and external tools do not run.',
  examples: [
    ['ktx ask "What was revenue by region last quarter?"', 'one question, one answer'],
    [
      'ktx ask --agent analyst --output-format json "How many orders are open?"',
      'the answer, its queries with rows, and what it cost',
    ],
    ['ktx ask --resume last "And the year before?"', 'goes on from the last conversation'],
  ],
  define: (command) =>
    command
      .argument('<question>', 'what you want to know; - reads standard input')
      .option('--agent <name>', 'agents/<name>.yaml; a built-in agent without')
      .option('--resume <id>', 'go on from a conversation; last is the last one')
      .addOption(
        new Option(
          '--output-format <format>',
          'text, one JSON envelope, or NDJSON of events',
        ).choices(['text', 'json', 'stream-json']),
      )
      .addOption(permissionsOption()),
  async run({ args: [question], options }, context) {
    const message = question === '-' ? await standardInput(context) : question;
    if (message.trim() === '')
      throw usageError('There is no question.', 'ktx ask "What was revenue last month?"');
    const input = context.screen.interactive ? openLineInput(context) : undefined;
    const stop = new AbortController();
    input?.onInterrupt(() => stop.abort());
    try {
      const agent = await openNamedAgent(options, input, context);
      try {
        const signal = AbortSignal.any([context.signal, stop.signal]);
        return await answerOf(
          agent,
          { message, signal, isStream: options.outputFormat === 'stream-json' },
          context,
        );
      } finally {
        await agent.close();
      }
    } finally {
      input?.close();
    }
  },
});

export function permissionsOption() {
  return new Option('--permissions <mode>', 'in place of permissions.mode of the agent').choices(
    permissionModes,
  );
}

interface AgentFlags {
  readonly agent?: string | undefined;
  readonly resume?: string | undefined;
  readonly permissions?: PermissionPolicy['mode'] | undefined;
}

/** The agent of the flags; what it may do without asking depends on whether a person is there. */
export async function openNamedAgent(
  flags: AgentFlags,
  input: LineInput | undefined,
  context: CommandContext,
): Promise<OpenAgent> {
  const project = await context.project();
  const [{ loadAgent }, { openAgent }] = await Promise.all([
    import('../../../chat/agent.ts'),
    import('../../../chat/open-agent.ts'),
  ]);
  const agent = await loadAgent(project.dir, flags.agent);
  const mode =
    flags.permissions ?? agent.permissions.mode ?? (input === undefined ? 'unattended' : 'manual');
  const policy = {
    mode,
    ...(input && {
      ask: (request: Parameters<typeof askPermission>[0]) => askPermission(request, input, context),
    }),
  };
  return openAgent(project, {
    agent,
    policy,
    resume: await resumed(project.dir, flags.resume),
    signal: context.signal,
  });
}

async function resumed(projectDir: string, id: string | undefined): Promise<string | undefined> {
  if (id !== 'last') return id;
  const { transcriptIds } = await import('../../../chat/transcript.ts');
  const last = (await transcriptIds(projectDir)).at(-1);
  if (last === undefined)
    throw new UserError('chat_unknown', 'There is no conversation yet.', {
      hint: 'leave --resume out',
      exitCode: 2,
    });
  return last;
}

interface Asked {
  readonly message: string;
  readonly signal: AbortSignal;
  readonly isStream: boolean;
}

async function answerOf(
  agent: OpenAgent,
  { message, signal, isStream }: Asked,
  context: CommandContext,
): Promise<CommandResult> {
  const { screen, host } = context;
  const isLive = screen.width !== undefined && screen.format !== 'json';
  const view = isLive ? liveView(context) : undefined;
  for (const warning of agent.about.warnings) context.printNote(warning);
  const result = await readTurnResult(agent.send(message, { signal }), (event) => {
    view?.show(event);
    const data = isStream ? eventData(event) : undefined;
    if (data !== undefined) host.stdout.write(`${JSON.stringify(data)}\n`);
    if (view === undefined && event.type === 'warning') context.printNote(event.message);
  });
  return {
    data: turnData(agent.id, result),
    verbatim: true,
    ...(isLive || result.text === '' ? {} : { text: result.text }),
    notes: isLive ? [] : [receiptLine(result)],
    next: screen.interactive ? [[`ktx chat --resume ${agent.id}`, `goes on from here`]] : [],
    ...ending(result),
  };
}

const partial: readonly StopReason[] = ['max_turns', 'budget', 'denied'];

/** What is not a whole answer says so in the exit code too. */
function ending({ stopReason, error, denials }: TurnResult): {
  readonly exitCode: ExitCode;
  readonly failure?: UserError;
} {
  if (error !== undefined && stopReason !== 'interrupted')
    return { exitCode: error.exitCode, failure: error };
  if (stopReason === 'interrupted') {
    const failure = new UserError('interrupted', 'Interrupted; what had arrived is kept.', {
      exitCode: 130,
      retryable: true,
    });
    return { exitCode: 130, failure };
  }
  if (!partial.includes(stopReason)) return { exitCode: 0 };
  const hint =
    denials.length > 0
      ? 'ktx chat asks you; or set permissions.mode of an agent file'
      : 'raise limits.max_turns of the agent';
  const why =
    denials.length > 0
      ? denials.map(({ tool, reason }) => `${tool}: ${reason}`).join(', ')
      : 'its steps ran out';
  return {
    exitCode: 3,
    failure: new UserError(`turn_${stopReason}`, `The answer is not complete: ${why}.`, {
      hint,
      exitCode: 3,
    }),
  };
}

async function standardInput({ host }: CommandContext): Promise<string> {
  const { text } = await import('node:stream/consumers');
  if (host.stdin.isTTY === true)
    throw usageError('Nothing comes from standard input.', 'pipe something into it');
  return text(host.stdin);
}
