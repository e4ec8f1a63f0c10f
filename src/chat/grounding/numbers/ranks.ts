import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { WrittenNumber } from './read-numbers.ts';

const rankHeader =
  /^(?:#|№|rank|rang|rango|ranking|place|platz|pos\.?|position|nr\.?|no\.?|順位|排名)$/iu;

/** The first column of many tables numbers the rows. */
export function isRank(
  { text }: WrittenNumber,
  header: string,
  tables: readonly QueryEvidence[],
): boolean {
  return (
    rankHeader.test(header.trim()) &&
    tables.some(({ rows }) => /^\d{1,3}$/.test(text) && Number(text) <= rows.length)
  );
}

const scoreName =
  /rating|stars?|score|nps|csat|grade|bewertung|sterne|note|punteggio|voto|評価|评分/i;
const scaleBehind = /^(?:点満点|つ星|分制|分满分|점\s?만점)/u;
const ofScale = /\d\s?(?:(?:out )?of|\/|von|sur|de|su|em|van|av|z)\s?$/iu;

/** `4.1 of 5 stars`: the end of a scale on which something is rated. */
export function isScale(
  { text }: WrittenNumber,
  [before, behind]: readonly [before: string, behind: string],
  tables: readonly QueryEvidence[],
): boolean {
  return (
    /^(?:5|10|100)$/.test(text) &&
    (ofScale.test(before) || scaleBehind.test(behind)) &&
    tables.some(({ columns }) => columns.some(({ name }) => scoreName.test(name)))
  );
}

const theFirst =
  /(?<!\p{L})(?:top|last|past|bottom|letzten|vergangenen|derniers|dernières|últimos|últimas|ultimi|ultime|laatste|senaste|first|largest|biggest|best|ersten|größten|besten|premiers|premières|primeros|primeras|primi|prime|primeiros|primeiras|eerste|grootste|första|största)\s$/iu;

/** `the top two` of more rows, and `the last three` of them. */
export function isFirstFew(
  { readings: [reading] }: WrittenNumber,
  [before, behind]: readonly [before: string, behind: string],
  tables: readonly QueryEvidence[],
): boolean {
  const many = reading?.value ?? 0;
  const isSaid = [theFirst.test(before), firstBehind.test(behind), periodsBefore.test(behind)];
  return many > 0 && isSaid.includes(true) && tables.some(({ rows }) => rows.length >= many);
}

/** `the 4 weeks before` */
const periodsBefore =
  /^\s\p{L}+\s(?:before|earlier|prior|davor|zuvor|précédente?s|anteriores|precedenti|ervoor|daarvoor|innan)(?!\p{L})/iu;

/** `las dos primeras`, `die zwei größten` */
const firstBehind =
  /^\s(?:largest|biggest|best|ersten|größten|besten|letzten|stärksten|premiers|premières|derniers|dernières|primeros|primeras|últimos|últimas|mayores|mejores|primi|prime|ultimi|ultime|migliori|primeiros|primeiras|maiores|eerste|grootste|laatste|första|största)(?!\p{L})/iu;

const perBase =
  /(?<!\p{L})(?:per|for every|out of every|je|auf|pro|pour|sur|por cada|ogni|su|op|per|på|na)\s$/iu;

/** `94 for every 100`: what a rate is counted by. */
export function isRateBase({ text }: WrittenNumber, before: string): boolean {
  return /^1[.,]?0[.,]?0(?:[.,]?0)*$/.test(text) && perBase.test(before);
}

/** `the bottom 40 %` are two of five rows. */
export function isPartOfRows(
  { isPercent, readings: [reading] }: WrittenNumber,
  before: string,
  tables: readonly QueryEvidence[],
): boolean {
  const many = reading?.value ?? 0;
  return (
    isPercent &&
    theEnd.test(before) &&
    tables.some(({ rows: { length } }) => length <= 10 && Number.isInteger((many * length) / 100))
  );
}

const theEnd =
  /(?<!\p{L})(?:top|bottom|upper|lower|richest|poorest|largest|smallest|obersten|unteren|oberen|untersten)\s$/iu;

/** `three months in a row`: as many rows in which a number went the same way. */
export function isStreak(
  { readings: [reading] }: WrittenNumber,
  behind: string,
  tables: readonly QueryEvidence[],
): boolean {
  const many = reading?.value ?? 0;
  if (many < 2 || !inARow.test(behind)) return false;
  return tables.some(({ rows, columns }) =>
    columns.some((_, column) => {
      const values = rows.map((row) => Number(row[column] ?? Number.NaN));
      const ways = values.slice(1).map((value, index) => Math.sign(value - (values[index] ?? 0)));
      return ways.some((_way, from) => {
        const run = ways.slice(from, from + many);
        return run.length === many && run.every((way) => way !== 0 && way === run[0]);
      });
    }),
  );
}

const inARow =
  /^\s(?:consecutive|straight|successive|aufeinanderfolgende|\p{L}+\s(?:in a row|running|in folge|nacheinander|d'affilée|consécutifs?|consécutives?|seguid[oa]s|consecutiv[oaei]s?|di fila|op rij|i rad))(?!\p{L})/iu;

/** `one in twenty orders is above` a column `p95` */
export function isTail(
  { isPercent, readings: [reading] }: WrittenNumber,
  before: string,
  tables: readonly QueryEvidence[],
): boolean {
  const many = reading?.value ?? 0;
  const isSaid =
    /(?<![\p{L}\d])(?:1|one|ein\p{L}*|une?|uno|una|uma)\s(?:\p{L}+\s)?(?:in|von|sur|su|(?:de|em) cada)\s$/iu;
  const ranks = tables.flatMap(({ columns }) =>
    columns.flatMap(({ name }) =>
      [...name.matchAll(/(?:^|[ _])p(\d\d)(?!\d)/gi)].map(([, rank]) => Number(rank)),
    ),
  );
  return (
    !isPercent &&
    isSaid.test(before) &&
    ranks.some((rank) => [100 - rank, rank].some((part) => part * many === 100))
  );
}
