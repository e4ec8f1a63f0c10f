import { nameShape } from './person-names.ts';
import { namesFirm } from './sensitive-words.ts';
import {
  isCardNumber,
  isCoordinate,
  isIban,
  isIpv6,
  isMac,
  isPhone,
  isProfileUrl,
  isSecret,
  isSsn,
} from './text-forms.ts';

const forms = [
  isIban,
  isCardNumber,
  isPhone,
  isSsn,
  isMac,
  isIpv6,
  isProfileUrl,
  isSecret,
  isCoordinate,
];
const phoneInText = /(?:\+|\b00)[1-9]\d{0,2}[\d .()/-]{6,18}\d|\b0\d{2,4}[ /-]\d{5,}/;

/**
 * True for a value that may identify a person in any column: a mail address, a telephone, bank or
 * card number, a device, a profile, a place on the map, or a full name. The rest of the column can
 * still be kept.
 */
export function looksPersonal(value: string): boolean {
  const text = value.slice(0, 200).trim();
  if (/\S@\S+\.\S/.test(text) || phoneInText.test(text)) return true;
  if (forms.some((isForm) => isForm(text))) return true;
  return /\s/.test(text) && nameShape(text) === 'full' && !namesFirm(text);
}
