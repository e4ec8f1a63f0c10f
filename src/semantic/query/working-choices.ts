import { UserError } from '../../lib/error.ts';
import { choicesOf } from './errors.ts';
import type { SemanticQuery } from './query.ts';

/** More choices than this are not tried. */
const maxTried = 12;

/**
 * The error with choices that work: each one takes the place of the name that failed, and is left
 * out if the query then fails too. One that is ambiguous is replaced by its meanings.
 */
export function withWorkingChoices(
  error: UserError,
  query: SemanticQuery,
  plan: (query: SemanticQuery) => unknown,
): UserError {
  const choices = choicesOf(error);
  if (choices.length === 0 || choices.length > maxTried || !isAboutDimension(error, query))
    return error;
  const failureOf = (tried: SemanticQuery): UserError | undefined => {
    try {
      plan(tried);
      return undefined;
    } catch (failure) {
      if (failure instanceof UserError) return failure;
      throw failure;
    }
  };
  const alone: SemanticQuery = {
    ...query,
    where: [],
    having: [],
    segments: [],
    order_by: [],
    share_of: undefined,
    compare_to: undefined,
    over_rows: [],
    qualify: [],
    top: undefined,
    others: false,
    rollup: false,
  };
  const failing = query.dimensions.findIndex((dimension) => {
    const failure = failureOf({ ...alone, dimensions: [dimension] });
    return failure?.message === error.message;
  });
  if (failing === -1) return error;
  const withChoice = (choice: string): SemanticQuery => ({
    ...alone,
    dimensions: [choice],
  });
  const works = (choice: string) => failureOf(withChoice(choice)) === undefined;
  const working = choices.flatMap((choice) => {
    const failure = failureOf(withChoice(choice));
    return failure === undefined ? [choice] : choicesOf(failure).slice(0, maxTried).filter(works);
  });
  const proven = [...new Set(working)];
  const written = choices.join(', ');
  const { hint = '', code, message, details } = error;
  if (proven.join(', ') === written || !hint.includes(written)) return error;
  const rest =
    proven.length === 0
      ? 'ktx search finds names by words; ktx sl read shows the fields and joins of a dataset.'
      : hint.replace(written, proven.join(', '));
  return new UserError(code, message, {
    hint: rest,
    exitCode: 2,
    details: { ...(typeof details === 'object' ? details : {}), choices: proven },
  });
}

/** False if the name that the error is about stands in none of the dimensions. */
function isAboutDimension({ details }: UserError, { dimensions }: SemanticQuery): boolean {
  const { name } = (typeof details === 'object' ? details : {}) as { readonly name?: unknown };
  return (
    typeof name !== 'string' ||
    dimensions.some((dimension) => dimension.toLowerCase().includes(name.toLowerCase()))
  );
}
