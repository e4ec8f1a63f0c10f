import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTurnResult, type TurnResult } from '../../../llm/port/session.ts';
import { openNamedAgent, permissionsOption } from './ask.ts';
import { openLineInput, type LineInput } from '../../chat/line-input.ts';
import { slashCommands, type Conversation } from '../../chat/slash-commands.ts';
import { eventData, turnData } from '../../chat/turn-data.ts';
import { liveView } from '../../chat/turn-view.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { toUserError } from '../../terminal/failure.ts';
import { renderError } from '../../terminal/failure.ts';
import { escapeControls, wrapText } from '../../terminal/text-width.ts';

export const chatCommand = defineCommand({
  description:
    'A conversation with an agent about the data: answers stream, each with its evidence; /help lists what else there is. Ctrl-C stops a turn, twice leaves. In a pipe every line is a message, and stdout has the answers and nothing else.',
  examples: [
    ['ktx chat', 'with the built-in agent'],
    ['ktx chat --agent analyst --permissions acceptEdits', 'with one of agents/, asked less often'],
    ['ktx chat --resume', 'goes on from the last conversation'],
  ],
  define: (command) =>
    command
      .option('--agent <name>', 'agents/<name>.yaml; a built-in agent without')
      .option('--resume [id]', 'go on from a conversation; the last one without an id')
      .addOption(permissionsOption()),
  async run({ options }, context) {
    const project = await context.project();
    const input = openLineInput(context);
    try {
      const resume = options.resume === true ? 'last' : options.resume;
      const agent = await openNamedAgent(
        { ...options, resume },
        context.screen.interactive ? input : undefined,
        context,
      );
      try {
        const conversation: Conversation = {
          agent,
          projectDir: project.dir,
          exchanges: [],
          context,
        };
        if (context.screen.interactive) await greet(conversation);
        return await converse(conversation, input);
      } finally {
        await agent.close();
      }
    } finally {
      input.close();
    }
  },
});

const leaveMs = 2000;

/** What Ctrl-C means now: it stops the turn that runs; without one, or twice in a row, it leaves. */
function interruptions(input: LineInput, context: CommandContext) {
  let running: AbortController | undefined;
  let last = -leaveMs;
  input.onInterrupt(() => {
    const now = performance.now();
    const isTwice = now - last < leaveMs;
    last = now;
    if (isTwice) input.close();
    running?.abort();
    if (!isTwice)
      context.printNote(
        running === undefined ? '(Ctrl-C again leaves)' : '\n(stopping; Ctrl-C again leaves)',
      );
  });
  return {
    signal(): AbortSignal {
      running = new AbortController();
      return AbortSignal.any([running.signal, context.signal]);
    },
    over(): void {
      running = undefined;
    },
  };
}

async function converse(
  conversation: Conversation,
  input: LineInput,
): Promise<CommandResult | undefined> {
  const { agent, context, exchanges } = conversation;
  const { screen } = context;
  const interrupts = interruptions(input, context);
  for (;;) {
    context.signal.throwIfAborted();
    const line = (await input.line(screen.style('bold', '› ')))?.trim();
    if (line === undefined || line === '/quit' || line === '/exit') break;
    if (line === '') continue;
    if (line.startsWith('/')) {
      await slash(conversation, line);
      continue;
    }
    const result = await turn(conversation, line, interrupts.signal());
    interrupts.over();
    exchanges.push({ message: line, result });
  }
  const [failed] = exchanges.flatMap(({ result }) => result.error ?? []);
  const turns = exchanges.map(({ result }) => turnData(agent.id, result));
  if (screen.interactive) {
    return {
      data: { turns },
      next: exchanges.length === 0 ? [] : [[`ktx chat --resume ${agent.id}`, `goes on from here`]],
    };
  }
  // In a pipe nobody sees a failure go by.
  return screen.format === 'json' || failed !== undefined
    ? { data: { turns }, verbatim: true, failure: failed }
    : undefined;
}

async function turn(
  { agent, context }: Conversation,
  message: string,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { screen, host } = context;
  const view = screen.interactive ? liveView(context) : undefined;
  const result = await readTurnResult(agent.send(message, { signal }), (event) => {
    view?.show(event);
    const data = screen.format === 'json' ? eventData(event) : undefined;
    if (data !== undefined) host.stdout.write(`${JSON.stringify(data)}\n`);
    if (view === undefined && event.type === 'warning') context.printNote(event.message);
  });
  if (view === undefined && screen.format !== 'json') host.stdout.write(`${result.text}\n`);
  if (view !== undefined && result.error !== undefined && result.stopReason !== 'interrupted') {
    host.stderr.write(`${renderError(result.error, screen)}\n`);
  }
  return result;
}

/** What is wrong with a command is told, and the conversation goes on. */
async function slash(conversation: Conversation, line: string): Promise<void> {
  const { screen, host } = conversation.context;
  const [name = '', ...rest] = line.slice(1).split(/\s+/);
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  if (command === undefined) {
    conversation.context.printNote(
      `There is no /${escapeControls(name)}; /help lists what there is.`,
    );
    return;
  }
  try {
    host.stdout.write(`${await command.run(conversation, rest.join(' '))}\n`);
  } catch (error) {
    host.stderr.write(`${renderError(toUserError(error), screen)}\n`);
  }
}

/** Who answers, who pays, what it may do; and what a person might expect to be read and is not. */
async function greet({ agent, projectDir, context }: Conversation): Promise<void> {
  const { about } = agent;
  const { style, width } = context.screen;
  const say = (text: string, as: 'dim' | 'yellow'): void =>
    context.printNote(style(as, wrapText(text, width).join('\n')));
  context.progress.update(`opening ${about.backend}`);
  const payer = await agent.payer(context.signal);
  context.progress.clear();
  const paid = payer === undefined ? '' : `, paid by ${escapeControls(payer)}`;
  const who = wrapText(`${about.agent}: ${about.model} on ${about.backend}${paid}`, width).join(
    '\n',
  );
  context.printNote(style('bold', about.agent) + who.slice(about.agent.length));
  const tools = about.tools.map(({ name }) => name).join(', ');
  say(
    `permissions ${about.mode} · connections ${about.connections.join(', ') || 'none'} · tools ${tools}`,
    'dim',
  );
  for (const warning of about.warnings) say(warning, 'yellow');
  const [unread] = ['CLAUDE.md', 'AGENTS.md'].filter((name) => existsSync(join(projectDir, name)));
  if (unread !== undefined)
    say(`${unread} is not read here; instructions of agents/<name>.yaml are the place.`, 'dim');
  const past = about.past.length;
  if (past > 0)
    say(`going on from ${past === 1 ? 'one turn' : `${past} turns`} of ${agent.id}`, 'dim');
  say('/help lists the commands; Ctrl-C stops a turn, twice leaves.', 'dim');
}
