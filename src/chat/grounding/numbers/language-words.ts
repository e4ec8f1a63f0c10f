/** Languages whose words for scales, units and currencies come with the runtime. */
const languages =
  'en de fr es it pt nl sv da nb fi is pl cs sk hu ro bg hr sr sl et lv lt el tr ru uk ar he fa hi bn ta th vi id ms ko ja zh zh-TW ca'.split(
    ' ',
  );

const powers = [3, 4, 5, 6, 7, 8, 9, 12];
/** One, a few and many: languages have up to three forms. */
const counts = [1, 2, 5];

/**
 * What a word multiplies a number by, in the languages above: `millió` by a million. Abbreviations
 * keep their point. Words that mean different sizes in different languages are left out.
 */
export const wordScales: ReadonlyMap<string, number> = readScales();

function readScales(): ReadonlyMap<string, number> {
  const found = languages.flatMap((language) =>
    (['long', 'short'] as const).flatMap((display) => scalesOf(language, display)),
  );
  const words = Map.groupBy(found, ({ word }) => word);
  return new Map(
    [...words].flatMap(([word, scales]) => {
      const [size, ...others] = new Set(scales.map((scale) => scale.size));
      return size === undefined || others.length > 0 ? [] : [[word, size] as const];
    }),
  );
}

function scalesOf(language: string, display: 'long' | 'short') {
  const options = { notation: 'compact', numberingSystem: 'latn' } as const;
  const format = new Intl.NumberFormat(language, { ...options, compactDisplay: display });
  const amounts = powers.flatMap((power) => counts.map((count) => count * 10 ** power));
  return amounts
    .map((amount) => {
      const parts = format.formatToParts(amount);
      const size = Math.round(amount / Number(textOf(parts, 'integer')));
      return { word: textOf(parts, 'compact').toLowerCase(), size };
    })
    .filter(({ word }) => isScaleWord(word, display));
}

/** Short forms without a point are letters such as `k`, which mean much. */
function isScaleWord(word: string, display: 'long' | 'short'): boolean {
  const isOneWord = /^[\p{L}\p{M}]{2,}\.?$/u.test(word) && word.length > 2;
  return isOneWord && (display === 'long' || word.endsWith('.'));
}

function textOf(
  parts: readonly Intl.NumberFormatPart[],
  type: Intl.NumberFormatPart['type'],
): string {
  return parts
    .filter((part) => part.type === type)
    .map(({ value }) => value)
    .join('');
}

/** `Rp` in `Rp812.000`: a currency that is written with letters right before the digits. */
export const currencyLetters: RegExp = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${currencySymbols().join('|')})(?=[-−]?\\d)`,
  'gu',
);

function currencySymbols(): readonly string[] {
  const symbols = Intl.supportedValuesOf('currency').map((currency) => {
    const options = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
    return textOf(new Intl.NumberFormat('en', options).formatToParts(1), 'currency');
  });
  // Codes in capitals name other things, too.
  return [...new Set(symbols)].filter(
    (symbol) => /^\p{L}{2,3}$/u.test(symbol) && /\p{Ll}/u.test(symbol),
  );
}

/** The words for a unit of time. */
export function timeWords(
  unit: 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year',
): RegExp {
  const words = languages.flatMap((language) =>
    counts.map((count) => {
      const options = { style: 'unit', unit, unitDisplay: 'long' } as const;
      return textOf(new Intl.NumberFormat(language, options).formatToParts(count), 'unit').trim();
    }),
  );
  const joined =
    /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+$/u;
  const own = [...new Set(words)].filter(
    (word) => /^\p{L}+$/u.test(word) && (word.length > 2 || joined.test(word)),
  );
  const spaced = own.filter((word) => !joined.test(word));
  return new RegExp(
    `^(?:(?:${spaced.join('|')})(?!\\p{L})|${own.filter((word) => joined.test(word)).join('|')})`,
    'iu',
  );
}
