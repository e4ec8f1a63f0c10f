import { UserError } from '../lib/error.ts';
import { nearest } from '../lib/suggest.ts';

/** What the planner cannot do yet: an error in place of a wrong number. */
export function notSupported(feature: string, why: string): UserError {
  return new UserError('not_supported', `Not supported yet: ${feature}. ${why}.`, {
    hint: 'Ask for less in one query; ktx refuses rather than give a wrong number.',
    details: { feature },
  });
}

export function unknownName(asked: { what: string; name: string; candidates: Iterable<string>; note?: string }): UserError {
  const known = [...asked.candidates];
  const near = nearest(asked.name, known);
  const listed = known.length <= 12 ? known.join(', ') : '';
  return new UserError('unknown_name', `There is no ${asked.what} named ${asked.name}${asked.note ?? ''}`, {
    hint: near.length > 0 ? `Did you mean ${near.join(', ')}?` : listed === '' ? undefined : `Known: ${listed}.`,
    exitCode: 2,
    details: { name: asked.name, nearest: near },
  });
}
