import { type Pin, takenBack } from '../../context/claims/pins.ts';

/** The subject of the commit; of several decisions also the list of them. */
export function describePins(pins: readonly Pin[]): readonly string[] {
  const verb = pins.some(({ choose }) => choose === takenBack) ? 'reopen' : 'decide';
  const [first = '', ...others] = pins.map(({ subject }) => subject);
  if (others.length === 0) return [`ktx: ${verb} ${first}`];
  return [`ktx: ${verb} ${first} and ${others.length} more`, [first, ...others].join('\n')];
}
