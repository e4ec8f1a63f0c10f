import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type Fragment, parseFragment } from '../../sql/fragment.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import type { ExpressionText } from '../model/schema-parts.ts';
import type { ReportFinding, YamlPath } from './dataset-check.ts';

/** The file that a dataset is built from. */
export interface BuildContext {
  readonly file: string;
  readonly dialect: Dialect;
  /** Reports an error. */
  readonly fail: ReportFinding;
  /** The names that may follow `param.`; undefined if `param` is the name of a dataset or role. */
  readonly parameters?: ReadonlySet<string> | undefined;
}

/**
 * Where no parameter is allowed. Compared by identity: a file without parameters has another empty
 * set.
 */
const noParameters: ReadonlySet<string> = new Set();

/**
 * The context of row rules and joins, which are the same for every query and so cannot use
 * parameters.
 */
export function withoutParameters(context: BuildContext): BuildContext {
  return context.parameters === undefined ? context : { ...context, parameters: noParameters };
}

/**
 * Parses a row-level expression; reports an aggregate in it. Returns undefined if there is no text,
 * or it is wrong.
 */
export function parseRowFragment(
  context: BuildContext,
  text: ExpressionText | undefined,
  path: YamlPath,
): Fragment | undefined {
  const fragment = parseExpression(context, text, path);
  if (fragment === undefined || fragment.aggregates.length === 0) return fragment;
  context.fail(path, 'aggregate', 'A row-level expression cannot contain an aggregate');
  return undefined;
}

/**
 * Parses the expression of the connection's dialect. Returns undefined if there is no text, or it
 * is wrong and reported.
 */
export function parseExpression(
  context: BuildContext,
  text: ExpressionText | undefined,
  path: YamlPath,
): Fragment | undefined {
  const { dialect } = context;
  if (text === undefined) return undefined;
  const sql = typeof text === 'object' ? (text[dialect.name] ?? text['default']) : text;
  if (sql === undefined) {
    context.fail(path, 'dialect', `There is no expression for ${dialect.name}`);
    return undefined;
  }
  const fragment = reportFailure(context, path, () =>
    parseFragment(sql, { dialect, origin: 'model' }),
  );
  return fragment && extractParameters(context, fragment, path);
}

/**
 * Turns the references `param.x` of a fragment into parameters; reports those that are not
 * declared.
 */
function extractParameters(
  { parameters, fail }: BuildContext,
  fragment: Fragment,
  path: YamlPath,
): Fragment {
  const isParameter = ({ parts }: ColumnReference) =>
    parameters !== undefined && parts.length === 2 && parts[0] === 'param';
  const usedParameters = fragment.references
    .filter(isParameter)
    .map(({ parts, start, end }) => ({ name: parts[1] ?? '', start, end }));
  if (usedParameters.length === 0) return fragment;
  for (const { name } of usedParameters) {
    if (parameters?.has(name) === true) continue;
    const finding =
      parameters === noParameters
        ? {
            message: `param.${name} cannot be used here`,
            hint: 'Row rules and joins are the same for every query. Write the value itself.',
          }
        : {
            message: `param.${name} is not declared`,
            hint: didYouMean(name, parameters ?? []) ?? 'Declare it in parameters of this file.',
          };
    fail(path, 'unknown_name', finding);
  }
  const references = fragment.references.filter((reference) => !isParameter(reference));
  return { ...fragment, references, parameters: usedParameters };
}

/** Runs `run`. If it throws a `UserError`, reports it and returns undefined. */
export function reportFailure<Result>(
  context: BuildContext,
  path: YamlPath,
  run: () => Result,
): Result | undefined {
  try {
    return run();
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    context.fail(path, failure.code, failure);
    return undefined;
  }
}
