import { UserError } from '../../lib/error.ts';
import { nearest } from '../../lib/suggest.ts';
import type { SemanticModel } from '../model/model.ts';

/** What a query can be refused for. */
type QueryErrorCode =
  | 'ambiguous_name'
  | 'ambiguous_path'
  | 'circular'
  | 'conversion'
  | 'duplicate_name'
  | 'empty_query'
  | 'fan_risk'
  | 'fiscal_year'
  | 'invalid_condition'
  | 'missing_parameter'
  | 'mixed_condition'
  | 'mixed_owners'
  | 'nested'
  | 'no_access'
  | 'no_default_time'
  | 'no_group'
  | 'no_key'
  | 'no_owner'
  | 'no_path'
  | 'no_period'
  | 'not_a_time'
  | 'not_supported'
  | 'semi_additive'
  | 'sql_fragment'
  | 'unknown_name'
  | 'unused_option'
  | 'unused_scope'
  | 'unused_segment'
  | 'wrong_parameter';

/** What to do; `choices` are texts that can stand in the query in place of the wrong one. */
type Advice = string | { readonly hint?: string; readonly choices: readonly string[] };

const maxChoices = 12;

/** What a person can put right in a query or in the model: what is wrong, and what to write. */
export function queryError(code: QueryErrorCode, message: string, advice: Advice): UserError {
  const { hint, choices } = typeof advice === 'string' ? { hint: advice, choices: [] } : advice;
  const some = [...new Set(choices)].slice(0, maxChoices);
  const written =
    some.length === 0 ? [] : [`Write ${some.length > 1 ? 'one of: ' : ''}${some.join(', ')}.`];
  const details = some.length === 0 ? undefined : { choices: some };
  return new UserError(code, message, {
    hint: [...written, ...(hint === undefined ? [] : [hint])].join(' '),
    exitCode: 2,
    details,
  });
}

/** What can be written in place of what was wrong. */
export function choicesOf({ details }: UserError): readonly string[] {
  const { choices } =
    typeof details === 'object' && details !== null && 'choices' in details
      ? details
      : { choices: [] };
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
}

/** More than one meaning, each as it can be written. */
export function ambiguousError(
  code: 'ambiguous_name' | 'ambiguous_path',
  message: string,
  choices: readonly string[],
): UserError {
  return queryError(code, `${message}: ${choices.join(', ')}`, { choices });
}

/** What the planner cannot do yet: an error in place of a wrong number. */
export function notSupportedError(feature: string, why: string): UserError {
  return new UserError('not_supported', `Not supported yet: ${feature}. ${why}.`, {
    hint: 'Ask for less in one query; ktx refuses rather than give a wrong number.',
    details: { feature },
  });
}

interface UnknownName {
  readonly what: string;
  readonly name: string;
  readonly candidates: Iterable<string>;
  readonly note?: string;
  /** What can be written for a candidate; by default, the candidate itself. */
  readonly as?: (candidate: string) => readonly string[];
}

export function unknownNameError({
  what,
  name,
  candidates,
  note = '',
  as = (candidate) => [candidate],
}: UnknownName): UserError {
  const known = [...candidates];
  const near = nearest(name, known).flatMap(as);
  const all = known.flatMap(as);
  const choices = near.length > 0 || all.length > maxChoices ? near : all;
  const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : `Known: ${all.join(', ')}.`;
  return new UserError('unknown_name', `There is no ${what} named ${name}${note}`, {
    hint:
      choices.length === 0
        ? 'ktx search finds names by words; ktx sl list shows the datasets and metrics.'
        : hint,
    exitCode: 2,
    details: { name, choices },
  });
}

/** `asked`: what stands behind the name where it is asked for, like `region.name`, and what fits it. */
export function unknownDatasetError(
  model: SemanticModel,
  name: string,
  asked?: { readonly rest: string; readonly fits: (dataset: string) => boolean },
): UserError {
  const note = model.excluded.has(name) ? ' that is valid: its file has errors' : '';
  const all = [...model.datasets.keys()];
  const fitting = asked === undefined ? all : all.filter(asked.fits);
  const as = (candidate: string) => [
    asked === undefined ? candidate : `${candidate}.${asked.rest}`,
  ];
  return unknownNameError({ what: 'dataset or role', name, candidates: fitting, note, as });
}
