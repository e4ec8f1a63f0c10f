import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTurnResult, type TurnResult } from '../../../llm/port/session.ts';
import { choiceLines, pickLines, turnChoices } from '../../chat/choices-text.ts';
import { groundingLines, groundTurn } from '../../chat/grounding-text.ts';
import { openLineInput, type LineInput } from '../../chat/input/line-input.ts';
import { slashCommands, type ChatConversation } from '../../chat/slash-commands.ts';
import { groundedExchanges } from '../../chat/shown-exchanges.ts';
import { eventData, turnData } from '../../chat/turn-data.ts';
import { openTurnView } from '../../chat/turn-view.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { requireFree } from '../../export/new-file.ts';
import { renderError, toUserError } from '../../terminal/failure.ts';
import { escapeControls, wrapText } from '../../terminal/text-width.ts';
import { agentOptionText, openNamedAgent, permissionsOption } from './open-named-agent.ts';

export const chatCommand = defineCommand({
  description:
    'Starts a conversation with an agent about the data. Answers stream, each with its evidence. /help lists more commands. Ctrl-C stops ' +
    'a turn; pressing it twice leaves. In a pipe, every line is a message, and only the answers go to stdout.',
  examples: [
    ['ktx chat', 'with the built-in agent'],
    ['ktx chat --agent analyst --permissions acceptEdits', 'with your own agent, which asks less'],
    ['ktx chat --resume', 'continues the last conversation'],
    ['ktx chat --share answers.html', 'writes the answers as one HTML file when it ends'],
  ],
  define: (command) =>
    command
      .option('--agent <name>', agentOptionText)
      .option('--resume [id]', 'continue a conversation (default: the last one)')
      .option('--share <file>', 'when the chat ends, write its answers as one HTML file')
      .addOption(permissionsOption()),
  async run({ options }, context) {
    const { share } = options;
    const target = { cwd: context.host.cwd, overwriteHint: 'remove the file first' };
    if (share !== undefined) await requireFree(share, target);
    const project = await context.project();
    await project.trust.askNow();
    const input = openLineInput(context);
    const isInteractive = context.screen.interactive;
    try {
      const resume = options.resume === true ? 'last' : options.resume;
      const permissionInput = isInteractive ? input : undefined;
      const agent = await openNamedAgent({ ...options, resume }, permissionInput, context);
      try {
        const conversation: ChatConversation = {
          agent,
          projectDir: project.dir,
          exchanges: [],
          context,
          choices: [],
          saved: new Set(),
        };
        if (isInteractive) await printGreeting(conversation);
        const talk = runConversation(conversation, input);
        return await (share === undefined ? talk : sharedAfter(talk, conversation, share));
      } finally {
        await agent.close();
      }
    } finally {
      input.close();
    }
  },
});

async function runConversation(
  conversation: ChatConversation,
  input: LineInput,
): Promise<CommandResult | undefined> {
  const { context } = conversation;
  const interrupts = handleInterrupts(input, context);
  for (;;) {
    context.signal.throwIfAborted();
    const line = (await input.readMessage(context.screen.style('bold', '› ')))?.trim();
    if (line === undefined || line === '/quit' || line === '/exit') break;
    if (line === '') continue;
    const picked = conversation.choices[Number(/^\/(\d)$/.exec(line)?.[1]) - 1];
    if (line.startsWith('/') && picked === undefined) {
      await runSlashCommand(conversation, line);
      continue;
    }
    await answerMessage(
      conversation,
      picked === undefined ? line : `I mean ${picked}.`,
      interrupts,
    );
  }
  return conversationResult(conversation);
}

/** Writes the answers of a conversation as one HTML file when it ends, if there are any. */
async function sharedAfter(
  talk: Promise<CommandResult | undefined>,
  { agent, exchanges, context }: ChatConversation,
  path: string,
): Promise<CommandResult | undefined> {
  const { about } = agent;
  try {
    return await talk;
  } finally {
    if (about.past.length + exchanges.length > 0) {
      const { writeSharePage } = await import('../../share/write-share-page.ts');
      const line = await writeSharePage(groundedExchanges(about.past, exchanges), {
        path,
        about,
        cwd: context.host.cwd,
        overwriteHint: `ktx chat --resume ${agent.id}, then /share ${path} --overwrite`,
      });
      context.printNote(line);
    }
  }
}

/** Runs a turn, and says what no query gives and what an ambiguous name may mean. */
async function answerMessage(
  conversation: ChatConversation,
  message: string,
  interrupts: ReturnType<typeof handleInterrupts>,
): Promise<void> {
  const { agent, context, exchanges } = conversation;
  const result = await runTurn(conversation, message, interrupts.startTurn());
  interrupts.endTurn();
  const { past } = agent.about;
  const grounding = groundTurn({
    result,
    question: [...past, ...exchanges, { message }].map((turn) => turn.message).join('\n'),
    earlier: [...past, ...exchanges.map((turn) => turn.result)].flatMap((turn) => turn.evidence),
  });
  for (const text of groundingLines(grounding)) context.printNote(text);
  exchanges.push({ message, result, grounding });
  conversation.choices = turnChoices(result);
  const { interactive } = context.screen;
  const lines = interactive ? pickLines(conversation.choices) : choiceLines(result);
  for (const text of lines) context.printNote(text);
}

function conversationResult(conversation: ChatConversation): CommandResult | undefined {
  const { agent, exchanges, context } = conversation;
  const turns = exchanges.map(({ result }) => turnData(agent.id, result));
  if (context.screen.interactive) {
    return {
      data: { turns },
      next:
        exchanges.length === 0
          ? []
          : [[`ktx chat --resume ${agent.id}`, 'continues this conversation']],
    };
  }
  // In a pipe, nobody saw the failure of a turn.
  const [failure] = exchanges.flatMap(({ result }) => result.error ?? []);
  const hasOutput = context.screen.format === 'json' || failure !== undefined;
  return hasOutput ? { data: { turns }, verbatim: true, failure } : undefined;
}

const secondPressMs = 2000;

/** Ctrl-C stops the running turn. Without one, or pressed twice in a row, it leaves the chat. */
function handleInterrupts(input: LineInput, context: CommandContext) {
  let turn: AbortController | undefined;
  let lastPress = -Infinity;
  input.onInterrupt(() => {
    const now = performance.now();
    const isSecondPress = now - lastPress < secondPressMs;
    lastPress = now;
    if (isSecondPress) input.close();
    turn?.abort();
    if (isSecondPress) return;
    const isRunning = turn !== undefined;
    context.printNote(`\n(${isRunning ? 'stopping; ' : ''}press Ctrl-C again to leave)`);
    if (!isRunning) input.startOver();
  });
  return {
    /** The signal of a new turn. */
    startTurn(): AbortSignal {
      turn = new AbortController();
      // What stopped the turn before does not count for this one.
      lastPress = -Infinity;
      return AbortSignal.any([turn.signal, context.signal]);
    },
    endTurn(): void {
      turn = undefined;
    },
  };
}

async function runTurn(
  { agent, context }: ChatConversation,
  message: string,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { screen, host } = context;
  const view = screen.interactive ? openTurnView(context) : undefined;
  const result = await readTurnResult(agent.send(message, { signal }), (event) => {
    view?.show(event);
    const data = screen.format === 'json' ? eventData(event) : undefined;
    if (data !== undefined) host.stdout.write(`${JSON.stringify(data)}\n`);
    if (view === undefined && event.type === 'warning') context.printNote(event.message);
  });
  if (view === undefined && screen.format !== 'json') host.stdout.write(`${result.text}\n`);
  if (view !== undefined && result.error !== undefined && result.stopReason !== 'interrupted')
    host.stderr.write(`${renderError(result.error, screen)}\n`);
  return result;
}

/** Prints the output of the command, or its error; the conversation continues. */
async function runSlashCommand(conversation: ChatConversation, line: string): Promise<void> {
  const { context } = conversation;
  const { screen, host } = context;
  const [name = '', ...rest] = line.slice(1).split(/\s+/);
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  if (command === undefined) {
    context.printNote(`There is no command /${escapeControls(name)}; /help lists all commands.`);
    return;
  }
  try {
    host.stdout.write(`${await command.run(conversation, rest.join(' '))}\n`);
  } catch (error) {
    host.stderr.write(`${renderError(toUserError(error), screen)}\n`);
  }
}

/**
 * Prints who answers, who pays and what may run; and names instruction files that ktx does not
 * read.
 */
async function printGreeting({ agent, projectDir, context }: ChatConversation): Promise<void> {
  const { about } = agent;
  const { style, width } = context.screen;
  const print = (text: string, color: 'dim' | 'yellow'): void =>
    context.printNote(style(color, wrapText(text, width).join('\n')));
  context.progress.update(`opening ${about.backend}`);
  const payer = await agent.payer(context.signal);
  context.progress.clear();
  const paidBy = payer === undefined ? '' : `, paid by ${escapeControls(payer)}`;
  const title = `${about.agent}: ${about.model} on ${about.backend}${paidBy}`;
  const titleLines = wrapText(title, width).join('\n');
  context.printNote(style('bold', about.agent) + titleLines.slice(about.agent.length));
  const tools = about.tools.map(({ name }) => name).join(', ');
  const connections = about.connections.join(', ') || 'none';
  print(`permissions ${about.mode} · connections ${connections} · tools ${tools}`, 'dim');
  for (const warning of about.warnings) print(warning, 'yellow');
  const unread = ['CLAUDE.md', 'AGENTS.md'].find((name) => existsSync(join(projectDir, name)));
  if (unread !== undefined)
    print(`ktx does not read ${unread}; put instructions into agents/<name>.yaml.`, 'dim');
  const past = about.past.length;
  if (past > 0)
    print(`continuing ${agent.id} after ${past === 1 ? '1 turn' : `${past} turns`}`, 'dim');
  print('/help lists the commands. Ctrl-C stops a turn; press it twice to leave.', 'dim');
}
