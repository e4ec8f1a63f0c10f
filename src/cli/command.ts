import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { ExitCode, UserError } from '../lib/error.ts';
import type { Project } from '../project/project.ts';
import type { Surroundings, Screen, Table } from './output.ts';
import type { ProgressLine } from './progress.ts';

/** What a handler gets beside its own arguments. The runner closes what it opened. */
export interface CommandContext {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly surroundings: Surroundings;
  readonly screen: Screen;
  /** A live line on stderr for what takes longer than a second. */
  readonly progress: ProgressLine;
  /** The folder that `--project-dir` names, where it was given. */
  readonly projectDir: string | undefined;
  /** Opens the project at first use; an error where there is none. */
  project(): Promise<Project>;
  /** A line of talk on stderr; silent with `--json` and `--quiet`. */
  say(text: string): void;
  /** One line of NDJSON with `--json`; else nothing. */
  event(event: object): void;
}

/** What a handler gives back; the runner renders it. */
export interface Outcome {
  /** `data` of the envelope. */
  readonly data: object;
  /** Rows as `--format` prints them, on stdout. */
  readonly table?: Table;
  /** The human form, on stdout, where it is not just the table. */
  readonly text?: string;
  /** Talk after the result, on stderr. */
  readonly notes?: readonly string[];
  /** Commands to type next. */
  readonly next?: readonly string[];
  /** 3 where the result is partial. */
  readonly exitCode?: ExitCode;
  /** The command did its work and found something broken: printed after the data, sets the exit code. */
  readonly failure?: UserError;
}

export interface CommandInput<Args, Options> {
  readonly args: Args;
  readonly options: Options;
}

interface CommandSpec<Args extends unknown[], Options extends OptionValues> {
  readonly description?: string;
  /** `[what to type, what it does]` */
  readonly examples: readonly (readonly [string, string])[];
  /** True where the outcome has a table: adds `--format`. */
  readonly rows?: boolean;
  /** True where the command owns stdout (a server): no envelope, no rendering. */
  readonly ownsStdout?: boolean;
  define(command: Command): Command<Args, Options>;
  run(input: CommandInput<Args, Options>, context: CommandContext): Promise<Outcome>;
}

export interface CommandModule {
  readonly description?: string;
  readonly examples: readonly (readonly [string, string])[];
  readonly rows?: boolean;
  readonly ownsStdout?: boolean;
  /** Declares arguments and flags on `command`; `execute` receives the handler when the command line has been parsed. */
  attach(command: Command, execute: (handler: (context: CommandContext) => Promise<Outcome>) => Promise<void>): void;
}

/** A command is data plus a short handler; everything that commands share happens in the runner. */
export function defineCommand<Args extends unknown[], Options extends OptionValues>(spec: CommandSpec<Args, Options>): CommandModule {
  return {
    ...spec,
    attach(command, execute) {
      const defined = spec.define(command);
      defined.action(() => execute((context) => spec.run({ args: defined.processedArgs, options: defined.opts() }, context)));
    },
  };
}
