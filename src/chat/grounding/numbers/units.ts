import type { Derivable } from '../candidates.ts';
import { timeWords } from './language-words.ts';

/** A unit as it stands behind a number, and what another unit is divided by to give it. */
const units: readonly (readonly [unit: RegExp, divisors: readonly number[]])[] = [
  [/^(?:s|secs?|seconds?|sekunden|secondes?|segundos?|secondi|秒)(?!\p{L})/iu, [1000, 1e6, 1 / 60]],
  [/^(?:min|mins|minut\p{L}*|分)(?!\p{L})/iu, [60, 1 / 60, 60_000]],
  [
    /^(?:h|hrs?|hours?|stunden|std|heures?|horas?|ore|uur|uren|godzin\p{L}*|timmar|時間|小时|시간)(?!\p{L})/iu,
    [60, 3600, 1 / 24],
  ],
  [/^(?:days?|tagen?|jours?|d[ií]as?|giorni|dagen|dni|dagar|日|天)(?!\p{L})/iu, [24, 1440, 86_400]],
  [/^(?:weeks?|wochen?|semaines?|semanas?|settimane|weken)(?!\p{L})/iu, [7]],
  [/^(?:months?|monaten?|mois|meses|mesi|maanden)(?!\p{L})/iu, [30, 1 / 12]],
  [/^(?:years?|jahren?|ans|années?|años?|anos?|anni|jaar|lat)(?!\p{L})/iu, [12, 52, 365]],
  [/^[KMGTP]i?B(?!\p{L})/u, [1e3, 1e6, 1e9, 1e12, 2 ** 10, 2 ** 20, 2 ** 30, 2 ** 40]],
  [/^[kMGT]W(?:h|p)?(?!\p{L})/u, [1e3, 1e6, 1e9]],
  [/^(?:t|tonnen?|tonnes?|tons?|toneladas?|tonnellate|ton)(?!\p{L})/iu, [1000]],
  [
    /^(?:basis points?|bps?|basispunkte?n?|points de base|puntos básicos|punti base)(?!\p{L})/iu,
    [1e-4, 1e-2],
  ],
  [/^km(?!\p{L})/iu, [1000]],
  [/^(?:kg|l|litres?|liters?|m)(?!\p{L})/iu, [1000, 1 / 1000]],
];

/** The same in languages that are not listed above. */
const timeUnits: typeof units = [
  [timeWords('second'), [1000, 1e6, 1 / 60]],
  [timeWords('minute'), [60, 1 / 60, 60_000]],
  [timeWords('hour'), [60, 3600, 1 / 24]],
  [timeWords('day'), [24, 1440, 86_400]],
  [timeWords('week'), [7]],
  [timeWords('month'), [30, 1 / 12]],
  [timeWords('year'), [12, 52, 365]],
];

/** Values in the unit that stands behind a number: milliseconds as seconds, bytes as GB. */
export function convertedFrom(values: readonly Derivable[], behind: string): readonly Derivable[] {
  const isPlain = ({ derivation = '' }: Derivable) => !/[/*]/.test(derivation);
  return inUnit(values.filter(isPlain), behind);
}

/** What is computed by the words of a unit for each of something: tonnes as kg per head. */
export function ratiosFrom(values: readonly Derivable[], behind: string): readonly Derivable[] {
  const ratios = values.filter(({ derivation = '' }) => /^[ab] \/ [ab]$/.test(derivation));
  return massUnits.test(behind) ? inUnit(ratios, behind) : [];
}

const massUnits = /^\s?(?:kg|km|l|litres?|liters?|m|g|ml|t)(?!\p{L})/iu;

function inUnit(values: readonly Derivable[], behind: string): readonly Derivable[] {
  const text = behind.trimStart();
  const divisors = [...units, ...timeUnits].find(([unit]) => unit.test(text))?.[1] ?? [];
  return divisors.flatMap((divisor) =>
    values.map((candidate): Derivable => {
      const derivation = `${candidate.derivation ?? 'a'} / ${divisor}`;
      return { ...candidate, kind: 'unknown', value: candidate.value / divisor, derivation };
    }),
  );
}

/** `per 1,000`: what a rate is counted by. */
export function factorsIn(said: string): readonly number[] {
  const powers = said.matchAll(
    /(?<![\d.,])1(?:0{1,2})?(?:[.,\u00A0\u202F ’]?0{3}){0,2}(?![\d%]|[.,]\d)/g,
  );
  const ppm = /\bppm\b/i.test(said) ? [1e6] : [];
  const man = /(?<!\d)(?:10|1)?[万만]/.exec(said) === null ? [] : [10_000, 100_000];
  const words = ratePowers.filter(([word]) => word.test(said)).map(([, power]) => power);
  const written = [...powers].map(([digits]) => Number(digits.replaceAll(/\D/g, '')));
  return [...new Set([...written.filter((factor) => factor >= 100), ...man, ...ppm, ...words])];
}

const perWord = '(?<!\\p{L})(?:per|pro|je|par|por|na|à|each)\\s(?:a |one )?';
/** `per million requests`. */
const ratePowers = [
  [new RegExp(`${perWord}(?:hundred|hundert|cent(?!\\p{L})|cien)`, 'iu'), 100],
  [
    new RegExp(`${perWord}(?:thousand|tausend|mille|mil(?!\\p{L})|duizend|tusen|tysiąc)`, 'iu'),
    1000,
  ],
  [new RegExp(`${perWord}(?:million|millón|milione|milhão|miljoen|miljon|milion)`, 'iu'), 1e6],
] as const;
