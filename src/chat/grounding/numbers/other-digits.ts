/** Month names of a dozen languages, as they stand in dates. */
const months = [
  'january|february|march|april|may|june|july|august|september|october|november|december',
  'januar|februar|märz|mai|juni|juli|oktober|dezember',
  'janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre',
  'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre',
  'gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre',
  'janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro',
  'januari|februari|maart|maj|mei|augusti|augustus|december',
  'stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października',
  'listopada|grudnia',
  'января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря',
  'ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık',
  'jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez',
].join('|');
const ranked = '\\d{1,2}(?:st|nd|rd|th)?';
const day = '\\d{1,2}(?:\\.|st|nd|rd|th|er|º)?';
/** Words before what is numbered, not counted: `step 2`. */
const numbered = [
  'step|week|kw|cw|wk|phase|stage|level|tier|page|rank|place|schritt|woche|stufe|rang|platz|étape',
  'semaine|paso|semana|etapa|passo|settimana|stap|krok',
].join('|');
/** Words before the ends of a scale. */
const scale = ['scale(?: of| from)?', 'skala von', 'échelle de', 'escala del?', 'scala da'].join(
  '|',
);
/** `2024/25`, and days of a month such as `12/31` and `31/12`. */
const slashed = [
  '(?:19|20)\\d\\d\\/\\d{2}',
  '(?:0?\\d|1[0-2])\\/(?:[0-2]?\\d|3[01])',
  '(?:[12]\\d|3[01])\\/(?:0?\\d|1[0-2])',
].join('|');
const until = '\\s?(?:[-–]|to|through|until|bis|au|al|a|t/m|tot|till|do)\\s?';

const numerators =
  'two|three|four|zwei|drei|vier|deux|trois|dos|tres|due|tre|dois|duas|três|twee|drie|två|dwie|trzy';
const denominators =
  'thirds|quarters|fifths|drittel|viertel|fünftel|tiers|quarts|cinquièmes|tercios|cuartos|quintos|terzi|quarti|quinti|terços|quartos|derde|kwart|tredjedelar|trzecie|czwarte';

/** A power of ten, as languages group it. */
const powerOfTen =
  '1(?:0{1,2}|(?:[.,\u00A0\u202F ’]?000){1,2}|0{1,2}[.,\u00A0\u202F ’]?000)(?![\\d%]|[.,]\\d| %)';

/** Code, citations, links, dates, times, and digits that number or name a thing. */
const others: readonly RegExp[] = [
  /```[\s\S]*?(?:```|$)|`[^`\n]*`/g,
  /\[q\d+(?:\s*,\s*q\d+)*\]/gi,
  /https?:\/\/\S+/g,
  /\b\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?\b/g,
  /\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b/g,
  /\b\d{1,2}:\d{2}(?::\d{2})?\b/g,
  /(?<!\d)\d{1,2}(?:月(?:\d{1,2}日)?|월(?: ?\d{1,2}일)?)/g,
  // Ranks and quarters.
  /(?<!\d)(?:\d{1,2}位|[前第]\d{1,2}(?!\d)|[1-4]분기)/g,
  /(?<![\d.,])[1-4]\.(?=\s(?:Quartal|Halbjahr|Platz|Rang|Stelle|kwartaal|kwartał))/g,
  /^[ \t]*(?:\d{1,2}[.)]|#+)(?=\s)/gm,
  // `May 2–31`, `1. bis 31. März`, `3 March`.
  new RegExp(
    `(?<!\\p{L})(?:${months})\\.?\\s+${ranked}(?:${until}${ranked})?(?![\\d%]|[.,]\\d)`,
    'giu',
  ),
  new RegExp(`(?<!\\d)(?:${day}${until})?${day}\\s+(?:de\\s+)?(?:${months})(?!\\p{L})`, 'giu'),
  /\b\d{1,3}(?:st|nd|rd|th)\b/gi,
  // Seasons, fractions and dates without a year.
  new RegExp(`(?<![\\d.,/])(?:${slashed})(?![\\d/]|[.,]\\d)`, 'g'),
  new RegExp(`\\b(?:${numbered})[ \u00A0-]\\d{1,2}(?![\\d%]|[.,]\\d)`, 'giu'),
  // Parts of a name: `the 5-step checklist`.
  /(?<![\d.,])\d{1,2}-(?=(?:steps?|stage|part|page|question|click|field|tier|level|stufig\p{L}*|teilig\p{L}*)(?!\p{L}))/giu,
  // Fractions in words: `two thirds`.
  new RegExp(`(?<!\\p{L})(?:${numerators})[ \u00A0-](?:${denominators})(?!\\p{L})`, 'giu'),
  // A constant of a formula, and the Portuguese word before a number.
  /(?:\btimes|×|\*)\s?(?:36[05]|12|52|100|1[.,]?000)(?![\d.,%])/g,
  /\bdos(?=\s+\d)/gi,
  // What a rate counts by: `8.3 per 1,000`, `1 in 51`.
  new RegExp(`(?<!\\p{L})(?:per|pro|je|auf|pour|por|por cada|ogni|na|op)\\s${powerOfTen}`, 'giu'),
  /(?<![\d.,])1(?= (?:in|von|sur|de cada|su|na) (?:\p{L}+ )?\d)/giu,
  /(?<=(?:ratio|verhältnis|rapport|proporci\p{L}+|rapporto|verhouding)[^\n]{0,40}\d (?:to|zu|à|a|op|su) )1(?![\d.,%])/giu,
  // The ends of a scale, and how sure an interval is.
  new RegExp(`\\b(?:${scale}) \\d{1,3}(?: (?:to|bis|à|a) |\\s?[-–]\\s?)\\d{1,3}\\b`, 'giu'),
  /(?<=\d[.,]\d{1,2}(?: out of | von | sur | su | de | van |\/))(?:5|10|20|100)(?![\d.,]|\s?%)/giu,
  /\b9[059]\s?%[ -](?=CI\b|confidence|Konfidenz|credible)|(?<=\bIC (?:de |à |al )?)9[059]\s?%/giu,
  // The days of some months: `31 + 31 + 30 = 92 days`.
  /(?<![\d.,])(?:28|29|30|31)(?:\s?\+\s?(?:28|29|30|31))+(?=\s?=\s?\d)/g,
  // Who was named before: `the gap between the two`.
  /\b(?:between|of) the (?:two|three)(?=\s+(?:is|are|was|were)\b|[.,;:)])/gi,
];

/** Blanks for the digits of a text that state no amount. All places stay. */
export function withoutOthers(text: string): string {
  return others.reduce(
    (rest, part) => rest.replaceAll(part, (found) => found.replaceAll(/[^\n]/g, ' ')),
    text,
  );
}
