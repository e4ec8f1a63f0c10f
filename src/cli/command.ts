import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { ExitCode, UserError } from '../lib/error.ts';
import type { Project } from '../project/open/open.ts';
import type { Surroundings, Screen, Table } from './terminal/output.ts';
import type { ProgressLine } from './terminal/progress.ts';

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
  /** `data` of the envelope, in snake_case. */
  readonly data: object;
  /** Its keys are people's or a standard's: they stay as they are. */
  readonly verbatim?: boolean;
  /** Rows as `--format` prints them, on stdout. */
  readonly table?: Table;
  /** The human form, on stdout, where it is not just the table. */
  readonly text?: string;
  /** The text tells commands to type, and holds nothing to be read as it is. */
  readonly tells?: boolean;
  /** Talk after the result, on stderr. */
  readonly notes?: readonly string[];
  /** Commands to type next. */
  readonly next?: readonly string[];
  /** 3 where the result is partial. */
  readonly exitCode?: ExitCode;
  /** The command did its work and found something broken: printed after the data, sets the exit code. */
  readonly failure?: UserError | undefined;
}

export type Handler = (context: CommandContext) => Promise<Outcome | undefined>;

/** What is known of a command beside its name and summary. */
interface CommandAbout {
  readonly description: string;
  /** `[what to type, what it does]` */
  readonly examples: readonly (readonly [string, string])[];
  /** True where the outcome has a table: adds `--format`. */
  readonly rows?: boolean;
}

interface CommandSpec<Args extends unknown[], Options extends OptionValues> extends CommandAbout {
  define(command: Command): Command<Args, Options>;
  /** Without an outcome nothing is printed. */
  run(
    input: { readonly args: Args; readonly options: Options },
    context: CommandContext,
  ): Promise<Outcome | undefined>;
}

export interface CommandModule extends CommandAbout {
  /** Declares arguments and flags on `command`; `execute` receives the handler when the command line has been parsed. */
  attach(command: Command, execute: (handler: Handler) => Promise<void>): void;
}

/** A command is data plus a short handler; everything that commands share happens in the runner. */
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
