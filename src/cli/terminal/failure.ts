import { errorMessage, toSystemError, UserError } from '../../lib/error.ts';
import type { Screen } from './screen.ts';
import { escapeControls, wrapNote, wrapText } from './text-width.ts';

/** A copy of the error with another hint. */
export function withHint(
  { code, message, exitCode, retryable, details, cause }: UserError,
  hint: string | undefined,
): UserError {
  return new UserError(code, message, { hint, exitCode, retryable, details, cause });
}

/** The command line is wrong: exit code 2. */
export function usageError(message: string, hint: string): UserError {
  return new UserError('usage', message, { hint, exitCode: 2 });
}

/** Turns anything that was thrown into an error that a person can read. */
export function toUserError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  const ofSystem = toSystemError(error);
  if (ofSystem !== undefined) return ofSystem;
  const hint = 'run it again with --debug to get the stack trace, and report it';
  return new UserError('internal', `This is a bug in ktx: ${errorMessage(error)}`, { hint });
}

/** Fits the lines to the width of a terminal, if the screen has one. */
export function renderError(error: UserError, screen: Screen): string {
  const { noteWidth: width } = screen;
  const [step = '', ...more] = error.hint?.split('\n') ?? [];
  const next = wrapText(`${screen.style('dim', 'next:')} ${step}`, width && width - 2);
  const hintLines = error.hint === undefined ? [] : [...next.map((line) => `  ${line}`), ...more];
  // The message may quote tables and servers: line breaks stay, other control characters are
  // escaped.
  const message = error.message.split('\n').map(escapeControls).join('\n');
  const said = `${screen.style('red', 'error:')} ${message} ${screen.style('dim', `[${error.code}]`)}`;
  return [wrapNote(said, width), ...hintLines].join('\n');
}
