import { UserError } from '../../lib/error.ts';
import { nearest } from '../../lib/suggest.ts';

/** The codes of errors that a query or a model can cause; they are permanent. */
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
  | 'invalid_option'
  | 'literal_type'
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
  | 'no_time_spine'
  | 'not_additive'
  | 'not_a_time'
  | 'not_supported'
  | 'semi_additive'
  | 'sql_fragment'
  | 'text_aggregate'
  | 'unknown_name'
  | 'unused_option'
  | 'unused_scope'
  | 'unused_segment'
  | 'wrong_parameter';

/**
 * A hint, and `choices`: texts that can replace the wrong one in the query, which `written` is
 * where it is known.
 */
type Advice =
  | string
  | {
      readonly hint?: string;
      readonly choices: readonly string[];
      readonly written?: string | undefined;
    };

const maxChoices = 12;

/**
 * An error that a person can fix in the query or the model. Its hint lists the choices first,
 * `details` repeats them.
 */
export function queryError(code: QueryErrorCode, message: string, advice: Advice): UserError {
  const { hint, choices, written } =
    typeof advice === 'string' ? { hint: advice, choices: [], written: undefined } : advice;
  const listed = [...new Set(choices)].slice(0, maxChoices);
  const choicesHint =
    listed.length === 0
      ? []
      : [`Write ${listed.length > 1 ? 'one of: ' : ''}${listed.join(', ')}.`];
  return new UserError(code, message, {
    hint: [...choicesHint, ...(hint === undefined ? [] : [hint])].join(' '),
    exitCode: 2,
    details: listed.length === 0 ? undefined : { choices: listed, ...(written && { written }) },
  });
}

/** The choices of a `queryError`; empty if it has none. */
export function choicesOf({ details }: UserError): readonly string[] {
  const { choices } =
    typeof details === 'object' && details !== null && 'choices' in details
      ? details
      : { choices: [] };
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
}

/** A name or path with several meanings; each choice states one of them unambiguously. */
export function ambiguousError(
  code: 'ambiguous_name' | 'ambiguous_path',
  message: string,
  meanings: readonly string[] | { readonly written: string; readonly choices: readonly string[] },
): UserError {
  const advice = 'choices' in meanings ? meanings : { choices: meanings };
  return queryError(code, `${message}: ${advice.choices.join(', ')}`, advice);
}

/** Something that the planner cannot compute correctly yet. */
export function notSupportedError(feature: string, why: string): UserError {
  return new UserError('not_supported', `Not supported yet: ${feature}. ${why}.`, {
    hint: 'Ask for less in one query; ktx refuses rather than give a wrong number.',
    details: { feature },
  });
}

interface UnknownName {
  /** The kind of thing, for example `field of orders`. */
  readonly what: string;
  readonly name: string;
  readonly candidates: readonly string[];
  /** Added to the message. */
  readonly note?: string;
  /** The texts to write for a candidate; by default the candidate itself. */
  readonly as?: (candidate: string) => readonly string[];
}

/** An unknown name; suggests similar candidates, or all of them if they are few. */
export function unknownNameError({
  what,
  name,
  candidates,
  note = '',
  as = (candidate) => [candidate],
}: UnknownName): UserError {
  const near = nearest(name, candidates).flatMap(as);
  // Each candidate has at least one text, so more candidates than choices are too many.
  const all = near.length > 0 || candidates.length > maxChoices ? [] : candidates.flatMap(as);
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

/** The part of a model that an unknown dataset is compared with. */
interface KnownDatasets {
  readonly datasets: ReadonlyMap<string, unknown>;
  readonly excluded: ReadonlySet<string>;
}

/**
 * An unknown dataset or role. `use` is how the query goes on behind the name: only datasets for
 * which `fits` holds are suggested, each followed by `rest`, like `region.name`.
 */
export function unknownDatasetError(
  model: KnownDatasets,
  name: string,
  use?: { readonly rest: string; readonly fits: (dataset: string) => boolean },
): UserError {
  const note = model.excluded.has(name) ? ' that is valid: its file has errors' : '';
  const all = [...model.datasets.keys()];
  const candidates = use === undefined ? all : all.filter(use.fits);
  const as = (candidate: string) => [use === undefined ? candidate : `${candidate}.${use.rest}`];
  return unknownNameError({ what: 'dataset or role', name, candidates, note, as });
}
