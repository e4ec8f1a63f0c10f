import { UserError } from '../lib/error.ts';
import { didYouMean, nearest } from '../lib/suggest.ts';
import type { SemanticModel } from './model.ts';

/** What a person can put right in a query or in the model: what is wrong, and what to write. */
export function refused(code: string, message: string, hint: string): UserError {
  return new UserError(code, message, { hint, exitCode: 2 });
}

/** More than one meaning, each as it can be written. */
export function ambiguous(code: 'ambiguous_name' | 'ambiguous_path', message: string, choices: readonly string[]): UserError {
  const hint = `Write one of: ${choices.join(', ')}.`;
  return new UserError(code, `${message}: ${choices.join(', ')}`, { hint, exitCode: 2, details: { choices } });
}

/** What the planner cannot do yet: an error in place of a wrong number. */
export function notSupported(feature: string, why: string): UserError {
  return new UserError('not_supported', `Not supported yet: ${feature}. ${why}.`, {
    hint: 'Ask for less in one query; ktx refuses rather than give a wrong number.',
    details: { feature },
  });
}

export function unknownName(asked: { what: string; name: string; candidates: Iterable<string>; note?: string }): UserError {
  const known = [...asked.candidates];
  const listed = known.length > 0 && known.length <= 12 ? `Known: ${known.join(', ')}.` : undefined;
  return new UserError('unknown_name', `There is no ${asked.what} named ${asked.name}${asked.note ?? ''}`, {
    hint: didYouMean(asked.name, known) ?? listed,
    exitCode: 2,
    details: { name: asked.name, nearest: nearest(asked.name, known) },
  });
}

export function unknownDataset(model: SemanticModel, name: string): UserError {
  const note = model.excluded.has(name) ? ' that is valid: its file has errors' : '';
  return unknownName({ what: 'dataset or role', name, candidates: model.datasets.keys(), note });
}
