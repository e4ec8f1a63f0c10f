import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable } from '../candidates.ts';
import type { NumberPlace } from '../context.ts';
import { convertedFrom, factorsIn, ratiosFrom } from '../numbers/units.ts';
import { findRare, ofWords, saidLimit, type SaidNumber } from './coincidence.ts';
import { countsIn, eachWords } from './counts.ts';
import { averageWords, restWords } from '../numbers/number-words.ts';
import { numberOf } from '../values.ts';
import { marginWords } from '../plausible.ts';
import {
  besideMeans,
  locate,
  meansOfOthers,
  netScores,
  ofMeasures,
  ofNamedRows,
  ofSums,
  pairwise,
  partsOfRow,
  partsOfTwo,
  runsOfRow,
  singles,
  triplewise,
  weighted,
} from './combinations.ts';

interface RowsAround {
  readonly tables: readonly QueryEvidence[];
  readonly place: NumberPlace;
  /** What else is computed from the rows. */
  readonly derived: readonly Derivable[];
  /** What stands right behind the number. */
  readonly behind: string;
  /** What a day, a month or a year is divided by in the statement. */
  readonly divisors: readonly number[];
  /** What stands above the list of the number. */
  readonly lead: string;
}

/** What the rows give for a number without the words for it, if that is no coincidence. */
export function fromRows(
  said: SaidNumber,
  { tables, place, derived, behind, divisors, lead }: RowsAround,
): Derivable | undefined {
  const rows = ofNamedRows(tables, place);
  const sums = ofSums(tables, place);
  const near = [...rows, ...sums];
  const factors = factorsIn(`${lead} ${said.said}`);
  const isMean = averageWords.test(said.said);
  const counts = isMean || eachWords.test(said.said) ? countsIn(said) : [];
  // What words say exactly may be a short number.
  const tiers: readonly (readonly [candidates: () => readonly Derivable[], limit?: number])[] = [
    [() => convertedFrom(near.flatMap(singles), behind), saidLimit],
    [() => rows.flatMap((row) => scaled(pairwise(row), factors)), saidLimit],
    [() => near.flatMap(singles).flatMap((own) => ofEvery(own, factors)), saidLimit],
    [() => near.flatMap(singles).flatMap(fromCents), saidLimit],
    [() => (isMean ? besideMeans(tables, place, said.said) : []), saidLimit],
    [() => (isMean && restWords.test(said.said) ? meansOfOthers(tables, place) : []), saidLimit],
    [() => divided(near.flatMap(singles), counts), 0.05],
    [() => (/\bNPS\b|net promoter/i.test(said.said) ? near.flatMap(netScores) : []), saidLimit],
    [() => divided(rows.flatMap(singles), divisors.filter(isMonthOrMore)), 0.015],
    [() => divided(near.flatMap(singles), divisors)],
    [() => near.flatMap((row) => convertedFrom(pairwise(row), behind))],
    [() => rows.flatMap(pairwise)],
    [() => sums.flatMap(pairwise)],
    [() => near.flatMap(partsOfTwo)],
    [() => near.flatMap(partsOfRow)],
    [() => rows.flatMap((row) => ratiosFrom(pairwise(row), behind))],
    [() => ofMeasures(tables).flatMap(pairwise).filter(isRatio), 0.03],
    [() => (throughWords.test(said.said) ? tables.flatMap(endsOf) : []), saidLimit],
    [() => tables.flatMap((table) => timesBetween(table, behind)), 0.2],
    [() => (halfWords.test(said.said) ? divided(rows.flatMap(singles), [2]) : []), 0.03],
    [() => sharesOfAny(tables), 0.007],
    [() => weighted(tables)],
    [() => (ofWords.test(said.before) ? rows.flatMap(runsOfRow) : []), 0.15],
    [() => near.flatMap(triplewise), 0.006],
    [() => derived.filter(isCompared), 0.006],
    [() => scaled(derived, factors), 0.05],
    [() => ofNamedRows(tables, everyRow).flatMap(pairwise).filter(isRatio), 0.004],
    [() => (marginWords.test(said.said) ? derived.filter(isMargin) : []), 0.1],
  ];
  for (const [tier, limit] of tiers) {
    const found = findRare(said, tier(), limit);
    if (found !== undefined && found.derivation !== 'a') return found;
  }
  return undefined;
}

/** From the first step of a funnel to the last one. */
const throughWords =
  /end[- ]to[- ]end|(?<!\p{L})(?:overall|whole|entire|total\p{L}*|funnel|visitors|start to finish|insgesamt|gesamt\p{L}*|bout en bout|ensemble|extremo a extremo|conjunto|ponta a ponta|complessiv\p{L}*|globale?|geheel|totaal|łącznie|totalt)(?!\p{L})|全体|整体|전체/iu;

/** What the last row has of the first one, where each has less than the one before. */
function endsOf({ id, columns, rows, truncated }: QueryEvidence): readonly Derivable[] {
  if (truncated || rows.length < 3) return [];
  return columns.flatMap(({ name }, index): readonly Derivable[] => {
    const values = rows.map((row) => numberOf(row[index]) ?? Number.NaN);
    const isFunnel = values.every((value, at) => at === 0 || value < (values[at - 1] ?? 0));
    const [first = 0, last = 0] = [values[0], values.at(-1)];
    const cells = [rows.length - 1, 0].map((row) => ({ query: id, row, column: name }));
    return isFunnel && last > 0
      ? [{ value: last / first, cells, derivation: 'a / b', kind: 'share' }]
      : [];
  });
}

const halfWords =
  /(?<!\p{L})(?:half of|hälfte|moitié|mitad|metade|metà|helft|połow\p{L}*|hälften)(?!\p{L})|半分|一半|절반/iu;

/** The share of each row of a few: its name may be written in another language. */
function sharesOfAny(tables: readonly QueryEvidence[]): readonly Derivable[] {
  return tables
    .filter(({ rows, truncated }) => !truncated && rows.length > 1 && rows.length <= mostTimes)
    .flatMap((query) => {
      const cells = query.rows.flatMap((_, row) => locate(query, row));
      return cells
        .filter(({ kind }) => kind !== 'share')
        .map(({ value, cell }): Derivable => {
          const own = cells.filter((located) => located.cell.column === cell.column);
          const sum = own.reduce((total, other) => total + other.value, 0);
          return { value: value / sum, cells: [cell], derivation: 'a / sum', kind: 'share' };
        });
    });
}

const mostTimes = 12;

/** The minutes or hours between two rows: `about 5 minutes apart`. */
function timesBetween({ id, rows, columns }: QueryEvidence, behind: string) {
  const [, minutes, hours] = apart.exec(behind) ?? [];
  if ((minutes ?? hours) === undefined || rows.length > mostTimes) return [];
  const size = minutes === undefined ? 60 : 1;
  return columns.flatMap(({ name }, index): readonly Derivable[] => {
    const times = rows.flatMap((row, place) => {
      const [, day, time] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)/.exec(String(row[index])) ?? [];
      const cell = { query: id, row: place, column: name };
      return time === undefined ? [] : [{ cell, at: Date.parse(`${day}T${time}Z`) / 60_000 }];
    });
    return times.flatMap((a, place) =>
      times.slice(place + 1).map((b): Derivable => {
        const value = Math.abs(b.at - a.at) / size;
        return { value, cells: [a.cell, b.cell], derivation: 'b - a as a time', kind: 'unknown' };
      }),
    );
  });
}

const apart =
  /^\s(?:(minut\p{L}*)|(hours?|stunden?|heures?|horas?|or[ae]|uur|timmar))(?:\s(?:apart|later|earlier|after|before|between|auseinander|später|danach|plus tard|d['’]écart|después|más tarde|di distanza|dopo|depois|later|uit elkaar|senare))(?!\p{L})/iu;

/** The days of a month or of a window of several. */
const isMonthOrMore = (divisor: number): boolean => divisor >= 28 && divisor <= 366;

/** `41 of every 1,000 visitors`, where a row has the share. */
function ofEvery(own: Derivable, factors: readonly number[]): readonly Derivable[] {
  if (own.kind !== 'share' || Math.abs(own.value) >= 1) return [];
  return factors.map((factor): Derivable => {
    const derivation = `${own.derivation} * ${factor}`;
    return { ...own, kind: 'unknown', value: own.value * factor, derivation };
  });
}

/** Columns such as `fee_cents` are told in the currency. */
function fromCents(candidate: Derivable): readonly Derivable[] {
  const isCents = candidate.cells.every(({ column = '' }) => /cents?$|centavos$/i.test(column));
  const derivation = `${candidate.derivation} / 100`;
  return isCents ? [{ ...candidate, value: candidate.value / 100, kind: 'money', derivation }] : [];
}

/** A month as days, a quarter as a year. */
function divided(values: readonly Derivable[], divisors: readonly number[]): readonly Derivable[] {
  return divisors.flatMap((divisor) =>
    values.map((candidate): Derivable => {
      const derivation = `${candidate.derivation} / ${divisor}`;
      return { ...candidate, kind: 'unknown', value: candidate.value / divisor, derivation };
    }),
  );
}

/** A rate for 1,000 or 100,000. */
function scaled(values: readonly Derivable[], factors: readonly number[]): readonly Derivable[] {
  return factors.flatMap((factor) =>
    values
      .filter(({ derivation = '' }) => /^[ab] \/ [ab]$/.test(derivation))
      .map((candidate): Derivable => {
        const derivation = `${candidate.derivation} * ${factor}`;
        return { ...candidate, kind: 'unknown', value: candidate.value * factor, derivation };
      }),
  );
}

/** Sums of some rows are told in words. */
const isCompared = ({ derivation = '' }: Derivable): boolean =>
  !/^(?:sum of|median|count|distinct|mean)/.test(derivation);

const isMargin = ({ derivation = '' }: Derivable): boolean =>
  /^(?:[ab] \/ [ab]|1 - )/.test(derivation);

const isRatio = ({ derivation = '' }: Derivable): boolean => derivation.includes('/');

/** `From 25 to 27`: the other row of a few is not always named. */
const everyRow = { isNear: (): boolean => true };
