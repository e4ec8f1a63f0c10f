import { type Command, CommanderError } from '@commander-js/extra-typings';
import { UserError, type ExitCode } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import { readVersion } from '../lib/version.ts';
import type { Project } from '../project/open/open.ts';
import type { TrustReport } from '../project/trust/trust.ts';
import type { CommandContext, CommandResult, Handler } from './command.ts';
import {
  attachCommand,
  buildProgram,
  fromCommanderError,
  resolveCommand,
  type GlobalFlags,
} from './program.ts';
import { type CommandEntry, registry } from './registry.ts';
import { renderRows } from './export/render-rows.ts';
import { renderError, toUserError, withHint } from './terminal/failure.ts';
import { ktxInvocation } from './terminal/invocation.ts';
import { snakeCaseKeys } from './terminal/json-keys.ts';
import { openProgressLine } from './terminal/progress.ts';
import { detectScreen, type CliHost, type RowFormat, type Screen } from './terminal/screen.ts';
import { alignColumns } from './terminal/table.ts';
import type { Pause } from '../llm/governor/call-gate.ts';
import { pauseEvent } from '../llm/governor/retries/pause-event.ts';
import { pauseNote } from './model-pause.ts';
import { escapeControls, textWidth, wrapNote, wrapText } from './terminal/text-width.ts';

/** The state of one command line. */
interface CliRun {
  readonly runId: string;
  readonly started: number;
  readonly host: CliHost;
  command: string;
  /** The words without flags. */
  names: readonly string[];
  /** The flags of the command, like `--limit`. */
  flags: readonly string[];
  /** How this command takes a connection: a flag or an argument. */
  connectionUsage: string;
  /** `ktx` as it is typed on this machine. */
  ktx: string;
  screen: Screen;
  exitCode: ExitCode;
}

/**
 * Runs one command line, from its arguments to the exit code. Never throws: every failure is
 * printed.
 */
export async function runCli(argv: readonly string[], host: CliHost): Promise<ExitCode> {
  const run = startRun(argv, host);
  let help = '';
  try {
    await parseAndExecute(run, argv, (text) => (help += text));
    return run.exitCode;
  } catch (error) {
    if (isHelpOrVersion(error)) {
      await printHelp(run, error, { text: help.trimEnd(), isAlone: argv.length === 0 });
      return 0;
    }
    const failure = describeFailure(error, run);
    await printResult(run, { failure });
    if (argv.includes('--debug') && error instanceof Error) host.stderr.write(`${error.stack}\n`);
    return failure.exitCode;
  }
}

function startRun(argv: readonly string[], host: CliHost): CliRun {
  // Flags are not parsed yet. An error in them is printed in the format that they seem to ask for.
  const asksForJson =
    argv.includes('--json') ||
    /--(?:format|output-format)[ =](?:stream-)?json/.test(argv.join(' '));
  return {
    runId: newId('run'),
    started: performance.now(),
    host,
    command: 'ktx',
    names: [],
    flags: [],
    connectionUsage: '',
    ktx: 'ktx',
    screen: detectScreen(host, asksForJson ? 'json' : 'table', !argv.includes('--no-color')),
    exitCode: 0,
  };
}

async function parseAndExecute(
  run: CliRun,
  argv: readonly string[],
  writeHelp: (text: string) => void,
): Promise<void> {
  run.ktx = ktxInvocation(run.host, undefined);
  const { words, names, entry } = resolveCommand(argv);
  run.names = names;
  const program = buildProgram(writeHelp);
  run.flags = longFlags(program);
  if (entry !== undefined) {
    run.command = `ktx ${entry.path}`;
    await startEngineFor(entry, words, run.host);
    const command = await attachCommand(program, entry, (handler, flags) =>
      execute(run, handler, flags),
    );
    run.flags = [...run.flags, ...longFlags(command)];
    run.connectionUsage = command.options.some(({ long }) => long === '--connection')
      ? '--connection <name>'
      : `${run.command} <name>`;
  }
  await program.parseAsync([...words], { from: 'user' });
}

/** With them, a query does not reach the warehouse. */
const asksNothing = new Set(['--plan', '--help', '-h']);

/**
 * Starts the engine before the code of the command is loaded: both take as long. It opens nothing
 * before the checked configuration tells it to, and ends with ktx.
 */
async function startEngineFor(
  { path }: CommandEntry,
  words: readonly string[],
  host: CliHost,
): Promise<void> {
  if (
    !['mcp serve', 'sl query', 'sql'].includes(path) ||
    words.some((word) => asksNothing.has(word))
  )
    return;
  const { likelyEngine } = await import('./likely-engine.ts');
  const driver = likelyEngine(words, host);
  if (driver === undefined) return;
  const { startEngineOf } = await import('../warehouse/drivers/start-engine.ts');
  startEngineOf(driver);
}

function longFlags({ options }: Command): readonly string[] {
  return options.flatMap(({ long }) => long ?? []);
}

function formatOf({ format = 'table', vertical }: GlobalFlags): RowFormat {
  return vertical === true ? 'vertical' : format;
}

/** Runs the handler and prints its result. Closes the project if the handler opened it. */
async function execute(run: CliRun, handler: Handler, flags: GlobalFlags): Promise<void> {
  const { host } = run;
  const asksForJson = flags.json === true || flags.outputFormat?.endsWith('json') === true;
  const format = asksForJson ? 'json' : formatOf(flags);
  run.screen = detectScreen(host, format, flags.color !== false);
  run.ktx = ktxInvocation(host, flags.projectDir);
  const isSilent = run.screen.format === 'json' || flags.quiet === true;
  const progress = openProgressLine(isSilent ? undefined : host.stderr, run.screen);
  let project: Promise<Project> | undefined;
  let showPause = (pause: Pause): void => context.printNote(pauseNote(pause));
  const context: CommandContext = {
    runId: run.runId,
    signal: host.signal,
    host,
    screen: run.screen,
    progress,
    projectDir: flags.projectDir,
    role: flags.role,
    project: ({ mayAsk = true, ...options } = {}) =>
      host.openProject?.() ??
      (project ??= openCurrentProject(
        { ...run, ...options, mayAsk, onPause: (pause) => showPause(pause) },
        flags,
        context,
      )),
    reopenProject: () =>
      openCurrentProject(
        { ...run, mayAsk: false, onPause: (pause) => showPause(pause) },
        flags,
        context,
      ),
    showPauses(listener = (pause) => context.printNote(pauseNote(pause))) {
      showPause = listener;
    },
    printNote(text) {
      progress.clear();
      if (!isSilent) host.stderr.write(`${wrapNote(text, run.screen.noteWidth)}\n`);
    },
    printEvent(event) {
      if (run.screen.format === 'json')
        host.stdout.write(`${JSON.stringify(snakeCaseKeys(event))}\n`);
    },
  };
  try {
    const result = await handler(context);
    progress.clear();
    if (result === undefined) return;
    run.exitCode = result.failure?.exitCode ?? result.exitCode ?? 0;
    await printResult(run, result);
    for (const note of result.notes ?? []) context.printNote(withInvocation(note, run));
    // Not wrapped: people copy commands.
    if (!isSilent)
      host.stderr.write(
        stepLines(result, run)
          .map((line) => `${line}\n`)
          .join(''),
      );
  } finally {
    progress.clear();
    // If opening the project failed, there is nothing to close, and its error is the command's.
    await project?.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}

async function openCurrentProject(
  {
    host,
    runId,
    mayAsk,
    budget,
    workload,
    onPause,
  }: CliRun & {
    readonly mayAsk: boolean;
    readonly budget?: number | undefined;
    readonly workload?: 'scan';
    readonly onPause: (pause: Pause) => void;
  },
  { projectDir, role, trust }: GlobalFlags,
  context: CommandContext,
): Promise<Project> {
  const { findProject } = await import('../project/open/find-project.ts');
  const { openProject } = await import('../project/open/open.ts');
  const notices = {
    warn: (message: string) => context.printNote(escapeControls(message)),
    onPause: (pause: Pause) => {
      context.printEvent(pauseEvent(pause));
      onPause(pause);
    },
  };
  const dir = findProject(host.cwd, projectDir, host.env);
  const isAsked = mayAsk && context.screen.interactive;
  const ask = isAsked
    ? async (report: TrustReport) => {
        const { askForTrust } = await import('./terminal/ask-for-trust.ts');
        return askForTrust(report, context);
      }
    : undefined;
  const given = { role, trust, ask, budget, workload };
  return openProject(dir, { runId, notices, env: host.env, ...given });
}

/** Prints the JSON envelope; or text and table on stdout, and the failure on stderr. */
async function printResult(run: CliRun, result: Partial<CommandResult>): Promise<void> {
  const { data, verbatim, table, asRecords, text, hasCommands, failure: original } = result;
  const failure =
    original && withHint(original, original.hint && withInvocation(original.hint, run));
  const { stdout, stderr } = run.host;
  const { screen } = run;
  if (screen.format === 'json') {
    const { code, message, hint, retryable, details } = failure ?? {};
    const envelope = {
      ok: failure === undefined,
      data: verbatim === true ? data : snakeCaseKeys(data),
      error: failure && { code, message, hint, retryable, details },
      meta: envelopeMeta(run),
    };
    stdout.write(`${JSON.stringify(envelope)}\n`);
    return;
  }
  if (text !== undefined) stdout.write(`${hasCommands ? withInvocation(text, run) : text}\n`);
  const isVertical = asRecords === true && screen.format === 'table';
  const rowsScreen: Screen = isVertical ? { ...screen, format: 'vertical' } : screen;
  if (table !== undefined) stdout.write(await renderRows(table, rowsScreen));
  if (failure !== undefined) stderr.write(`${renderError(failure, screen)}\n`);
}

function envelopeMeta({ command, runId, started, exitCode }: CliRun): object {
  return {
    command,
    version: readVersion(),
    run_id: runId,
    ms: Math.round(performance.now() - started),
    ...(exitCode === 3 ? { partial: true } : {}),
  };
}

/**
 * The commands to type next, with their purposes beside or, in a narrow terminal, below them. A
 * failure has its next step in its hint.
 */
function stepLines({ next = [], failure }: CommandResult, run: CliRun): readonly string[] {
  if (failure !== undefined || next.length === 0) return [];
  const { style, noteWidth: width = Infinity } = run.screen;
  const rows = next.map(([command, purpose = '']) => [withInvocation(command, run), purpose]);
  const aligned = alignColumns(rows);
  const isNarrow = aligned.some((line) => textWidth(line) + stepIndent.length > width);
  const lines = isNarrow
    ? rows.flatMap(([command = '', purpose = '']) => [
        command,
        ...wrapText(purpose, width - 2 * stepIndent.length).map((line) => `  ${line}`),
      ])
    : aligned;
  const label = `${style('dim', 'next')}  `;
  return ['', ...lines.map((line, index) => (index === 0 ? label : stepIndent) + line)];
}

const stepIndent = ' '.repeat('next  '.length);

const commandPattern = new RegExp(
  `\\bktx(?= (?:--help|(?:${registry.map(({ path }) => path).join('|')})\\b))`,
  'g',
);

/** Replaces `ktx` in every command that the text contains with what is typed on this machine. */
function withInvocation(text: string, { ktx }: CliRun): string {
  return text.replaceAll(commandPattern, () => ktx);
}

function isHelpOrVersion(error: unknown): error is CommanderError {
  return (
    error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')
  );
}

interface HelpText {
  readonly text: string;
  /** True for `ktx` without any word. */
  readonly isAlone: boolean;
}

async function printHelp(
  run: CliRun,
  { code }: CommanderError,
  { text, isAlone }: HelpText,
): Promise<void> {
  if (code === 'commander.version')
    return printResult(run, { data: { version: text, node: process.versions.node }, text });
  const sees = isAlone ? await describeFolder(run) : [];
  const shown = sees.length === 0 ? text : [...sees, '', 'All commands: ktx --help'].join('\n');
  await printResult(run, { data: { help: text }, text: shown, hasCommands: sees.length > 0 });
}

/** What ktx can use in this folder, and what to type for it; empty if there is nothing. */
async function describeFolder({ host, screen }: CliRun): Promise<readonly string[]> {
  const { lookAround } = await import('../project/setup/look-around.ts');
  const found = lookAround(host.cwd, host.env);
  if (found.length === 0) return [];
  const { width = Infinity } = screen;
  const list = (sightings: typeof found) => {
    const rows = sightings.map(({ where, what, next }) => [
      escapeControls(where),
      escapeControls(what),
      `ktx ${escapeControls(next)}`,
    ]);
    const lines = alignColumns(rows).map((line) => `  ${line}`);
    // A command that a terminal breaks cannot be copied.
    const isNarrow = lines.some((line) => textWidth(line) > width);
    return isNarrow
      ? rows.flatMap(([where, what, next]) => [`  ${where}  ${what}`, `      ${next}`])
      : lines;
  };
  const { true: later = [], false: now = [] } = Object.groupBy(found, ({ needsProject }) =>
    needsProject === true ? 'true' : 'false',
  );
  return [
    'In this folder:',
    ...(now.length === 0 ? [] : ['', ...list(now)]),
    ...(later.length === 0 ? [] : ['', 'Once ktx setup has made a project:', '', ...list(later)]),
  ];
}

function describeFailure(error: unknown, run: CliRun): UserError {
  const { connectionUsage, host } = run;
  if (host.signal.aborted) {
    return new UserError('interrupted', 'Interrupted; finished work is kept.', {
      hint: 'run the same command again to continue',
      exitCode: 130,
      retryable: true,
    });
  }
  if (error instanceof CommanderError) return fromCommanderError(error, run);
  const failure = toUserError(error);
  return failure.code === 'connection_required'
    ? withHint(failure, `${failure.hint}: ${connectionUsage}`)
    : failure;
}
