import { UserError } from '../../lib/error.ts';

/** An error that a model sees as the answer of its tool. */
export function decisionRefusal(message: string): UserError {
  return new UserError('refused', message);
}
