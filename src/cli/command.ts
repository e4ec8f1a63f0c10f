import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { ExitCode, UserError } from '../lib/error.ts';
import type { Pause } from '../llm/governor/call-gate.ts';
import type { Project } from '../project/open/open.ts';
import type { ProgressLine } from './terminal/progress.ts';
import type { CliHost, Screen } from './terminal/screen.ts';
import type { Table } from './terminal/table.ts';

/**
 * What a handler gets besides its own arguments. The runner closes what the handler opens through
 * it.
 */
export interface CommandContext {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly host: CliHost;
  readonly screen: Screen;
  /** A live line on stderr, for work that takes longer than a second. */
  readonly progress: ProgressLine;
  /** The value of `--project-dir`, if given. */
  readonly projectDir: string | undefined;
  /** The value of `--role`, if given. */
  readonly role: string | undefined;
  /**
   * Opens the project at the first call; throws if there is none. At a terminal it asks once before
   * the project does something that nobody has approved, unless `mayAsk` is false at the first
   * call.
   */
  project(options?: {
    readonly mayAsk?: boolean;
    readonly budget?: number | undefined;
    readonly workload?: 'scan';
  }): Promise<Project>;
  /** Opens the project again, as its files are now. The caller closes it. */
  reopenProject(): Promise<Project>;
  /** Prints a message on stderr. Silent with `--json` and `--quiet`. */
  printNote(text: string): void;
  /** From now on pauses of the model go to the listener. Without one they are notes again. */
  showPauses(listener?: (pause: Pause) => void): void;
  /** Prints one line of NDJSON with `--json`; otherwise nothing. */
  printEvent(event: object): void;
}

/** A command to type next, and what it is for. */
export type NextStep = readonly [command: string, purpose?: string];

/** What a handler returns; the runner renders it. */
export interface CommandResult {
  /** `data` of the envelope. The runner turns its keys into snake_case. */
  readonly data: object;
  /** True if the keys of `data` come from people or from a standard: they stay as they are. */
  readonly verbatim?: boolean;
  /** Rows that `--format` prints on stdout. */
  readonly table?: Table;
  /** True if the rows are wanted as records, one line for each column, by what was typed. */
  readonly asRecords?: boolean;
  /** Text for people on stdout, if the table is not all. */
  readonly text?: string;
  /** True if `text` contains commands to type: `ktx` in them becomes this machine's invocation. */
  readonly hasCommands?: boolean;
  /** Messages after the result, on stderr. */
  readonly notes?: readonly string[];
  readonly next?: readonly NextStep[];
  /** 3 if the result is partial. */
  readonly exitCode?: ExitCode;
  /** The command did its work and found a problem. Printed after the data; sets the exit code. */
  readonly failure?: UserError | undefined;
}

/** Returns undefined to print nothing. */
export type Handler = (context: CommandContext) => Promise<CommandResult | undefined>;

interface CommandHelp {
  readonly description: string;
  /** `[what to type, what it does]` */
  readonly examples: readonly (readonly [string, string])[];
  /** True if the result has a table: adds `--format`. */
  readonly hasRows?: boolean;
}

interface CommandSpec<Args extends unknown[], Options extends OptionValues> extends CommandHelp {
  /** Declares arguments and flags. */
  define(command: Command): Command<Args, Options>;
  run(
    input: { readonly args: Args; readonly options: Options },
    context: CommandContext,
  ): Promise<CommandResult | undefined>;
}

export interface CommandModule extends CommandHelp {
  /**
   * Declares arguments and flags on `command`. `execute` receives the handler once the command line
   * is parsed.
   */
  attach(command: Command, execute: (handler: Handler) => Promise<void>): void;
}

/** A command is data plus a short handler; the runner does everything that commands share. */
export function defineCommand<Args extends unknown[], Options extends OptionValues>(
  spec: CommandSpec<Args, Options>,
): CommandModule {
  return {
    ...spec,
    attach(command, execute) {
      const defined = spec.define(command);
      defined.action(() =>
        execute((context) =>
          spec.run({ args: defined.processedArgs, options: defined.opts() }, context),
        ),
      );
    },
  };
}
