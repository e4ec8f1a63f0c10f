import { CommanderError } from '@commander-js/extra-typings';
import { messageOf, UserError, type ExitCode } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Project } from '../project/project.ts';
import type { CommandContext, CommandModule, Outcome } from './command.ts';
import { envelope, renderCsv, renderError, renderTable, screenOf, type Screen, type Surroundings } from './output.ts';
import { attach, buildProgram, resolveCommand, usageError, type GlobalFlags, type Handler } from './program.ts';
import { progressLine } from './progress.ts';
import { readVersion } from './version.ts';

interface Run {
  readonly runId: string;
  readonly started: number;
  readonly surroundings: Surroundings;
  command: string;
  exitCode: ExitCode;
}

/** One command line from argument to exit code. Nothing is thrown: every failure is rendered here. */
export async function runCli(argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const run: Run = { runId: newId('run'), started: performance.now(), command: 'ktx', surroundings, exitCode: 0 };
  const { words, entry } = resolveCommand(argv);
  try {
    if (isVersion(argv)) return printVersion(run, argv.includes('--json'));
    const program = buildProgram((text) => surroundings.stdout.write(text));
    if (entry !== undefined) {
      run.command = `ktx ${entry.path}`;
      await attach(program, entry, (module, handler, flags) => execute(run, { module, handler, flags }));
    }
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const json = argv.includes('--json') || /--format[ =]json/.test(argv.join(' '));
    fail(run, {
      error,
      json,
      debug: argv.includes('--debug'),
      screen: screenOf(surroundings, { format: 'table', color: true }),
    });
  }
  return run.exitCode;
}

interface Execution {
  readonly module: CommandModule;
  readonly handler: Handler;
  readonly flags: GlobalFlags;
}

async function execute(run: Run, { module, handler, flags }: Execution): Promise<void> {
  const json = (flags.json === true || flags.format === 'json') && module.ownsStdout !== true;
  const format = json ? 'json' : (flags.format ?? 'table');
  const screen = screenOf(run.surroundings, { format, color: flags.color !== false });
  const opened: { project?: Promise<Project> } = {};
  const context = contextOf(run, { flags, screen, opened });
  try {
    const outcome = await handler(context);
    context.progress.clear();
    if (module.ownsStdout !== true) print(run, outcome, context);
    run.exitCode = outcome.failure?.exitCode ?? outcome.exitCode ?? 0;
  } catch (error) {
    context.progress.clear();
    fail(run, { error, json, debug: flags.debug === true, screen });
  } finally {
    // A project that failed to open has nothing to close, and its error is told already.
    await opened.project?.then(
      (project) => project.close(),
      () => undefined,
    );
  }
}

interface ContextParts {
  readonly flags: GlobalFlags;
  readonly screen: Screen;
  readonly opened: { project?: Promise<Project> };
}

function contextOf(run: Run, { flags, screen, opened }: ContextParts): CommandContext {
  const { runId, surroundings } = run;
  const silent = screen.format === 'json' || flags.quiet === true;
  const mode = silent ? 'none' : screen.live ? 'line' : 'log';
  const progress = progressLine({ stream: surroundings.stderr, mode, width: screen.width ?? 80 });
  return {
    runId,
    signal: surroundings.signal,
    surroundings,
    screen,
    progress,
    projectDir: flags.projectDir,
    project: () => (opened.project ??= openProjectHere(run, flags.projectDir)),
    say(text) {
      progress.clear();
      if (!silent) surroundings.stderr.write(`${text}\n`);
    },
    event(event) {
      if (screen.format === 'json') surroundings.stdout.write(`${JSON.stringify(event)}\n`);
    },
  };
}

async function openProjectHere({ surroundings, runId }: Run, projectDir: string | undefined): Promise<Project> {
  const { findProject } = await import('../project/config-file.ts');
  const { openProject } = await import('../project/open.ts');
  return openProject(findProject({ projectDir, env: surroundings.env, cwd: surroundings.cwd }), runId);
}

function print(run: Run, outcome: Outcome, context: CommandContext): void {
  const { stdout, stderr } = run.surroundings;
  const { screen } = context;
  const { data, table, text, notes = [], next = [], failure } = outcome;
  if (screen.format === 'json') {
    stdout.write(`${envelope({ data, error: failure }, meta(run, outcome.exitCode))}\n`);
    return;
  }
  if (text !== undefined) stdout.write(`${text}\n`);
  if (table !== undefined) stdout.write(screen.format === 'csv' ? renderCsv(table) : `${renderTable(table, screen)}\n`);
  for (const note of notes) context.say(note);
  if (failure !== undefined) stderr.write(`${renderError(failure, screen)}\n`);
  if (next.length > 0)
    context.say(['', `${screen.style('dim', 'next')}  ${next[0]}`, ...next.slice(1).map((line) => `      ${line}`)].join('\n'));
}

interface Failure {
  readonly error: unknown;
  readonly json: boolean;
  readonly debug: boolean;
  readonly screen: Screen;
}

function fail(run: Run, { error, json, debug, screen }: Failure): void {
  const { stdout, stderr, signal } = run.surroundings;
  const problem = signal.aborted ? interrupted() : asUserError(error, run.command);
  run.exitCode = problem.exitCode;
  if (json) stdout.write(`${envelope({ error: problem }, meta(run))}\n`);
  else stderr.write(`${renderError(problem, screen)}\n`);
  if (debug && error instanceof Error) stderr.write(`${error.stack}\n`);
}

function interrupted(): UserError {
  return new UserError('interrupted', 'Interrupted; what was finished is kept.', { exitCode: 130, retryable: true });
}

function asUserError(error: unknown, command: string): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof CommanderError) return usageError(error, command);
  return new UserError('internal', `This is a defect in ktx: ${messageOf(error)}`, {
    hint: 'run it again with --debug for the stack, and report it',
  });
}

function meta(run: Run, exitCode?: ExitCode): object {
  const ms = Math.round(performance.now() - run.started);
  const partial = exitCode === 3 ? { partial: true } : {};
  return { command: run.command, version: readVersion(), run_id: run.runId, ms, ...partial };
}

function isVersion(argv: readonly string[]): boolean {
  return argv.some((word) => word === '--version' || word === '-V') && argv.every((word) => word.startsWith('-'));
}

function printVersion(run: Run, json: boolean): ExitCode {
  const data = { version: readVersion(), node: process.versions.node };
  run.surroundings.stdout.write(`${json ? envelope({ data }, meta(run)) : data.version}\n`);
  return 0;
}
