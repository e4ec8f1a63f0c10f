import { CommanderError } from '@commander-js/extra-typings';
import { UserError, type ExitCode } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import { readVersion } from '../lib/version.ts';
import type { Project } from '../project/open/open.ts';
import type { CommandContext, Handler, Outcome } from './command.ts';
import { failureOf, withHint } from './terminal/failure.ts';
import {
  invocation,
  renderCsv,
  renderError,
  renderTable,
  screenOf,
  snakeKeys,
  type Screen,
  type Surroundings,
} from './terminal/output.ts';
import { attach, buildProgram, resolveCommand, usageError, type GlobalFlags } from './program.ts';
import { progressLine } from './terminal/progress.ts';
import { registry } from './registry.ts';
import { printable } from './terminal/text-width.ts';

interface Run {
  readonly runId: string;
  readonly started: number;
  readonly surroundings: Surroundings;
  command: string;
  /** How this command is told which connection. */
  naming: string;
  /** `ktx` as it is typed here. */
  ktx: string;
  screen: Screen;
  exitCode: ExitCode;
}

/** One command line from argument to exit code. Nothing is thrown: every failure is rendered here. */
export async function runCli(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  // What is wrong with the flags themselves is told in the format that they seem to ask for.
  const json =
    argv.includes('--json') ||
    /--(?:format|output-format)[ =](?:stream-)?json/.test(argv.join(' '));
  const screen = screenOf(surroundings, json ? 'json' : 'table', !argv.includes('--no-color'));
  const about = { command: 'ktx', naming: '', ktx: 'ktx', exitCode: 0 } as const;
  const run: Run = {
    runId: newId('run'),
    started: performance.now(),
    surroundings,
    screen,
    ...about,
  };
  let help = '';
  try {
    run.ktx = invocation(surroundings, undefined);
    const { words, entry } = resolveCommand(argv);
    const program = buildProgram((text) => (help += text));
    if (entry !== undefined) {
      run.command = `ktx ${entry.path}`;
      run.naming = `${run.command} <name>`;
      const { options } = await attach(program, entry, (handler, flags) =>
        execute(run, handler, flags),
      );
      if (options.some(({ long }) => long === '--connection')) run.naming = '--connection <name>';
    }
    await program.parseAsync([...words], { from: 'user' });
    return run.exitCode;
  } catch (error) {
    if (
      error instanceof CommanderError &&
      (error.exitCode === 0 || error.code === 'commander.help')
    ) {
      const text = help.trimEnd();
      const version = { version: text, node: process.versions.node };
      print(run, { data: error.code === 'commander.version' ? version : { help: text }, text });
      return 0;
    }
    const failure = told(error, run);
    print(run, { failure });
    if (argv.includes('--debug') && error instanceof Error)
      surroundings.stderr.write(`${error.stack}\n`);
    return failure.exitCode;
  }
}

async function execute(run: Run, handler: Handler, flags: GlobalFlags): Promise<void> {
  const { runId, surroundings } = run;
  const { stdout, stderr, signal } = surroundings;
  const isJson = flags.json === true || flags.outputFormat?.endsWith('json') === true;
  const screen = screenOf(
    surroundings,
    isJson ? 'json' : (flags.format ?? 'table'),
    flags.color !== false,
  );
  run.screen = screen;
  run.ktx = invocation(surroundings, flags.projectDir);
  const isSilent = screen.format === 'json' || flags.quiet === true;
  const progress = progressLine(isSilent ? undefined : stderr, screen);
  let project: Promise<Project> | undefined;
  const context: CommandContext = {
    runId,
    signal,
    surroundings,
    screen,
    progress,
    projectDir: flags.projectDir,
    project: () => (project ??= openProjectHere(run, flags, context)),
    say(text) {
      progress.clear();
      if (!isSilent) stderr.write(`${text}\n`);
    },
    event(event) {
      if (screen.format === 'json') stdout.write(`${JSON.stringify(snakeKeys(event))}\n`);
    },
  };
  try {
    const outcome = await handler(context);
    progress.clear();
    if (outcome === undefined) return;
    run.exitCode = outcome.failure?.exitCode ?? outcome.exitCode ?? 0;
    print(run, outcome);
    for (const line of talk(outcome, run)) context.say(line);
  } finally {
    progress.clear();
    // A project that failed to open has nothing to close, and its error is told already.
    await project?.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}

async function openProjectHere(
  { surroundings, runId }: Run,
  { projectDir, role }: GlobalFlags,
  context: CommandContext,
): Promise<Project> {
  const { findProject } = await import('../project/open/find-project.ts');
  const { openProject } = await import('../project/open/open.ts');
  const notices = {
    warn: (message: string) => context.say(printable(message)),
    onPause: ({ window, until }: { readonly window: string; readonly until: Date }) => {
      context.event({ type: 'rate_limited', window, resetsAt: until.toISOString() });
      context.say(
        `The model provider's limit is reached (${printable(window.replaceAll('_', ' '))}); going on at ${until.toLocaleTimeString()}. Ctrl-C keeps what is finished.`,
      );
    },
  };
  return openProject(findProject(surroundings.cwd, projectDir, surroundings.env), {
    runId,
    notices,
    env: surroundings.env,
    role,
  });
}

/** The result: with `--json` in the one envelope, else as text and table on stdout, and the failure on stderr. */
function print(
  run: Run,
  { data, verbatim, table, text, tells, failure: found }: Partial<Outcome>,
): void {
  const failure = found && withHint(found, found.hint && typed(found.hint, run));
  const { stdout, stderr } = run.surroundings;
  const { screen } = run;
  if (screen.format === 'json') {
    const { code, message, hint, retryable, details } = failure ?? {};
    const error = failure && { code, message, hint, retryable, details };
    const said = verbatim === true ? data : snakeKeys(data);
    stdout.write(
      `${JSON.stringify({ ok: failure === undefined, data: said, error, meta: meta(run) })}\n`,
    );
    return;
  }
  if (text !== undefined) stdout.write(`${tells === true ? typed(text, run) : text}\n`);
  if (table !== undefined)
    stdout.write(screen.format === 'csv' ? renderCsv(table) : `${renderTable(table, screen)}\n`);
  if (failure !== undefined) stderr.write(`${renderError(failure, screen)}\n`);
}

/** The text with every command as it is typed here. */
function typed(text: string, { ktx }: Run): string {
  return text.replaceAll(commands, () => ktx);
}

const commands = new RegExp(
  `\\bktx(?= (?:--help|(?:${registry.map(({ path }) => path).join('|')})\\b))`,
  'g',
);

/** What failed has its next step in the error. */
function talk({ notes = [], next = [], failure }: Outcome, run: Run): readonly string[] {
  const lines = (failure === undefined ? next : []).map((line) => typed(line, run).split(/ {2,}/));
  const width = Math.max(...lines.map(([command = '']) => command.length));
  const steps = lines.map(([command = '', what = '']) =>
    `  ${command.padEnd(width)}  ${what}`.trimEnd(),
  );
  const marked = steps.map(
    (step, index) => (index === 0 ? run.screen.style('dim', 'next') : '    ') + step,
  );
  return [...notes.map((note) => typed(note, run)), ...(steps.length > 0 ? ['', ...marked] : [])];
}

function meta({ command, runId, started, exitCode }: Run): object {
  const partial = exitCode === 3 ? { partial: true } : {};
  return {
    command,
    version: readVersion(),
    run_id: runId,
    ms: Math.round(performance.now() - started),
    ...partial,
  };
}

function told(error: unknown, { command, naming, surroundings }: Run): UserError {
  if (surroundings.signal.aborted) {
    const hint = 'the same command again goes on from there';
    return new UserError('interrupted', 'Interrupted; what was finished is kept.', {
      hint,
      exitCode: 130,
      retryable: true,
    });
  }
  if (error instanceof CommanderError) return usageError(error, command);
  const failure = failureOf(error);
  return failure.code === 'connection_required'
    ? withHint(failure, `${failure.hint}: ${naming}`)
    : failure;
}
