import { isIP } from 'node:net';
import { compactNumber, isLuhn } from './check-digits.ts';

/** What one value can be by its form alone. All tests take linear time. */
export const isMail = (text: string): boolean => /^\S{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text);

const macPattern = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}$/i;
export const isMac = (text: string): boolean => macPattern.test(text);

export const isIpv6 = (text: string): boolean =>
  text.length < 60 && isIP(text.replace(/(?:%\w+)?(?:\/\d+)?$/, '')) === 6;

/** A version has small numbers: one part of an address is usually large. */
export const isIpv4 = (text: string): boolean => isIP(text.replace(/[:/]\d+$/, '')) === 4;
export const hasLargePart = (text: string): boolean =>
  text.split(/[./:]/).some((part) => Number(part) >= 100);

export function isIban(text: string): boolean {
  const compact = text.replaceAll(' ', '');
  if (!/^[A-Z]{2}\d\d[A-Z0-9]{11,30}$/.test(compact)) return false;
  const moved = compact.slice(4) + compact.slice(0, 4);
  const rest = Array.from(moved).reduce((sum, letter) => {
    const value = Number.parseInt(letter, 36);
    return (sum * (value > 9 ? 100 : 10) + value) % 97;
  }, 0);
  return rest === 1;
}

export function isCardNumber(text: string): boolean {
  const digits = text.replaceAll(/[ -]/g, '');
  return /^(?:3\d|4|5[0-8]|2[2-7]|6)\d{11,17}$/.test(digits) && isLuhn(digits);
}

export const isImei = (text: string): boolean => {
  const digits = compactNumber(text);
  return /^(?:01|35|86|99|[1-9]\d)\d{13}$/.test(digits) && isLuhn(digits);
};

/** The American number: no area 000, 666 or 9xx. */
export const isSsn = (text: string): boolean =>
  /^(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}$/.test(text);

const phoneForms = [
  // International, with or without separators.
  /^(?:\+|00)[1-9][\d\s().\-/]{6,18}\d$/,
  // American: (212) 555-0100, 212-555-0100, 1.212.555.0100.
  /^(?:\+?1[-. ])?\(?[2-9]\d\d\)?[-. ]\s?\d{3}[-. ]\d{4}(?:\s?x\d{1,5})?$/,
  // With a leading zero and separators: 030 1234567, (0171) 123-456, 090-1234-5678.
  /^\(?0\d{1,5}\)?[\s/-]\s?\d[\d\s/-]{4,11}\d$/,
  // Russian and Ukrainian, with separators.
  /^8[\s-]?\(?\d{3}\)?[\s-]?\d{3}[\s-]\d\d[\s-]?\d\d$/,
  // Groups of two: 06 12 34 56 78.
  /^0\d(?:[ .-]\d\d){4}$/,
];
export const isPhone = (text: string): boolean =>
  text.length <= 24 && phoneForms.some((form) => form.test(text));

/** Digits alone; only a whole column of them says that they are telephone numbers. */
const barePhone =
  /^(?:0(?:1[5-7]\d|[67]\d|7\d{2}|[789]0)\d{6,9}|1[3-9]\d{9}|[78]9\d{9}|01[016-9]\d{7,8}|05\d{8}|3[2-9]\d{8}|380\d{9}|9665\d{8}|48[5-8]\d{8}|49 ?1[567]\d{8,9})$/;
export const isBarePhone = (text: string): boolean => barePhone.test(text);

const profilePattern =
  /^(?:https?:\/\/)?(?:[a-z]{2,3}\.)?(?:linkedin\.com\/(?:in|pub)|xing\.com\/profile|facebook\.com|fb\.com|instagram\.com|twitter\.com|x\.com|github\.com|gitlab\.com|t\.me|vk\.com|ok\.ru\/profile|weibo\.com|(?:open\.)?spotify\.com\/user|reddit\.com\/u(?:ser)?|medium\.com|youtube\.com|tiktok\.com|pinterest\.com|snapchat\.com\/add|threads\.net|bsky\.app\/profile|orcid\.org)\/@?[\w.%-]{2,60}\/?$/i;
/** A page of a person: a network's host with one path. */
export const isProfileUrl = (text: string): boolean =>
  text.length < 200 &&
  (profilePattern.test(text) ||
    /^https?:\/\/[\w.-]+\/(?:@[\w.]+|users?\/[\w.-]+|~\w+)\/?$/i.test(text));

export const isHandle = (text: string): boolean => /^@[\w.]{2,40}(?:@[\w.-]+)?$/.test(text);

const numberWithPlaces = String.raw`-?\d{1,3}\.\d{3,}`;
const coordinatePattern = new RegExp(
  `^\\(?${numberWithPlaces}°?\\s*[NS]?\\s*[,; ]\\s*${numberWithPlaces}°?\\s*[EWO]?\\)?$|^(?:SRID=\\d+;)?POINT ?Z? ?\\(${numberWithPlaces} ${numberWithPlaces}(?: [\\d.-]+)?\\)$|^geo:${numberWithPlaces},${numberWithPlaces}`,
  'i',
);
export const isCoordinate = (text: string): boolean =>
  text.length < 90 &&
  (coordinatePattern.test(text) ||
    /^\d{1,2}°\s?\d{1,2}['′]\s?[\d.]{0,8}["″]?\s?[NS]/.test(text) ||
    /^\{\s*"type"\s*:\s*"Point"/.test(text));

const streets = [
  // Number first: 12 Main Street, 3 bis rue de la Paix.
  /^\d{1,5}[a-z]?(?: (?:bis|ter))?,? .{0,50}\b(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|ct|boulevard|blvd|way|terrace|place|pl|square|close|crescent|highway|hwy|parkway|pkwy|circle|cir|apt|suite|unit|rue|impasse|chemin|allée|quai|route)\b/i,
  // Street, place, state and postal code.
  /^\d{1,5} .{3,60}, .{2,40}, [A-Z]{2} \d{5}/,
  // German, Dutch and Nordic street words at the end, then the number.
  /(?:straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht|dijk|gatan|vägen|gata|veien|vej|gade|katu|tie|tänav)\s\d{1,4}\s?[a-z]?\b/i,
  /^(?:am|im|an der|auf der|zum|zur) [\p{L} ]{3,30} \d{1,4}[a-z]?, \d{5}/iu,
  // Romance, Polish and Turkish: the word first.
  /^(?:calle|c\/|avda\.?|avenida|av\.|plaza|paseo|camino|carrera|cra\.?|rua|r\.|travessa|alameda|praça|via|viale|piazza|corso|vicolo|largo|ul\.|ulica|al\.|os\.|pl\.|aleja)\s.{2,60}\d/i,
  /\b(?:sokak|sokağı|sk\.|caddesi|cad\.|mahallesi|mah\.|bulvarı)(?=\s|,|$)/i,
  // Cyrillic.
  /(?:^|[\s,])(?:ул\.|улица|пр\.|просп\.|проспект|пер\.|переулок|бул\.|бульвар|шоссе|наб\.|вул\.|вулиця|провулок|жк|ж\.к\.)\s?[^\d]{2,40}\d/i,
  /(?:^|[\s,])(?:д|дом|кв|корп|буд)\.\s?\d/i,
  // Chinese, Japanese, Korean.
  /(?:省|市|区|區|县|縣|镇).{1,20}(?:路|街|道|巷|弄|胡同).{0,6}\d{1,5}(?:号|號)/,
  /(?:都|道|府|県|市|区|町|村).{1,15}\d{1,4}(?:丁目|番|[-−－‐]\d)/,
  /(?:시|구|군|동|읍|면)\s.{1,20}(?:로|길|동)\s?\d/,
  // Arabic.
  /(?:شارع|طريق|حي)\s.{2,40}/,
];
export const isAddress = (text: string): boolean =>
  text.length < 200 && streets.some((street) => street.test(text));

const secretPattern =
  /^(?:(?:sk|pk|rk)_(?:live|test)_\w{10,}|sk-[\w-]{16,}|gh[opsur]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.?[\w-]{0,}|\$2[aby]\$\d\d\$[./\w]{20,}|\$argon2\w{1,2}\$.+|\$[156]\$.{8,}|-----BEGIN [A-Z ]+-----.{0,})/;
export const isSecret = (text: string): boolean => secretPattern.test(text);
