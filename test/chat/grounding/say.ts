/** Answers made of text and of claims whose truth is known, so that code can make them wrong. */

type ClaimKind = 'number' | 'percent' | 'member' | 'period' | 'citation' | 'direction';

export interface Claim {
  readonly kind: ClaimKind;
  readonly text: string;
  readonly value?: number;
  /** Writes another value in the same form. */
  readonly write?: (value: number) => string;
  /** The same value in another unit. */
  readonly otherUnit?: string;
  /** Wrong values of the same kind, by what went wrong. */
  readonly rivals?: Readonly<Record<string, readonly number[]>>;
  /** Wrong texts, by what went wrong. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
  /** The smallest step of the written form. */
  readonly step?: number;
}

export type Part = string | Claim;

/** Tagged template: text and claims. */
export function answer(
  strings: TemplateStringsArray,
  ...claims: readonly (Part | readonly Part[])[]
): readonly Part[] {
  return strings.flatMap((string, index) => {
    const claim = claims[index];
    return claim === undefined
      ? [string]
      : [string, ...(Array.isArray(claim) ? claim : [claim as Part])];
  });
}

export function join(parts: readonly (readonly Part[])[], separator: string): readonly Part[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [separator, ...part]));
}

type Rivals = Claim['rivals'];

interface NumberForm {
  /** Decimal places. */
  readonly digits?: number;
  /** Divisor, with its word: [1e6, ' Mio.']. */
  readonly scale?: readonly [number, string];
  /** Text before and after the digits. */
  readonly before?: string;
  readonly after?: string;
  readonly sign?: boolean;
}

/** Writes numbers and dates as one language does. */
export class Speaker {
  readonly locale: string;
  constructor(locale: string) {
    this.locale = locale;
  }

  number(value: number, form: NumberForm = {}, rivals: Rivals = {}): Claim {
    const { digits = 0, scale = [1, ''], before = '', after = '', sign = false } = form;
    const write = (other: number): string => {
      const text = new Intl.NumberFormat(this.locale, {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        useGrouping: 'always',
        ...(sign && { signDisplay: 'exceptZero' as const }),
      }).format(other / scale[0]);
      return `${before}${text}${scale[1]}${after}`;
    };
    const isMoney = /€|EUR/.test(before + after);
    const bare = write(value).replace(before, '').replace(after, '').trim();
    return {
      kind: 'number',
      text: write(value),
      value,
      write,
      rivals,
      step: scale[0] / 10 ** digits,
      ...(isMoney && scale[0] === 1 && { otherUnit: `${bare} %` }),
    };
  }

  /** `value` is the fraction. */
  percent(
    value: number,
    ...[digits = 0, rivals = {}, sign = false]: [digits?: number, rivals?: Rivals, sign?: boolean]
  ): Claim {
    const write = (other: number): string =>
      new Intl.NumberFormat(this.locale, {
        style: 'percent',
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        ...(sign && { signDisplay: 'exceptZero' as const }),
      }).format(other);
    const bare = new Intl.NumberFormat(this.locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(value * 100);
    return {
      kind: 'percent',
      text: write(value),
      value,
      write,
      rivals,
      step: 0.01 / 10 ** digits,
      otherUnit: `${bare} EUR`,
    };
  }

  /** Money in full: 1,767,173.50 EUR. */
  money(value: number, rivals: Rivals = {}, digits = 0): Claim {
    return this.number(value, { digits, after: ' EUR' }, rivals);
  }

  member(name: string, others: readonly string[]): Claim {
    return {
      kind: 'member',
      text: name,
      texts: { 'wrong-member': others.filter((other) => other !== name) },
    };
  }

  /** A month of a year, or a day, in words. */
  date(iso: string, form: Intl.DateTimeFormatOptions, others: readonly string[]): Claim {
    const write = (day: string): string =>
      new Intl.DateTimeFormat(this.locale, { ...form, timeZone: 'UTC' }).format(new Date(day));
    const texts = others.map(write).filter((text) => text !== write(iso));
    return { kind: 'period', text: write(iso), texts: { 'wrong-period': texts } };
  }

  year(year: number): Claim {
    return {
      kind: 'period',
      text: String(year),
      texts: { 'wrong-period': [year - 3, year + 2].map(String) },
    };
  }
}

export function period(text: string, others: readonly string[]): Claim {
  return { kind: 'period', text, texts: { 'wrong-period': others } };
}

/** `others`: ids of queries that do not hold what is said. */
export function cite(id: string, others: readonly string[] = []): Claim {
  return {
    kind: 'citation',
    text: `[${id}]`,
    texts: {
      'missing-citation': ['[q9]', '[q7]'],
      ...(others.length > 0 && { 'wrong-citation': others.map((other) => `[${other}]`) }),
    },
  };
}

/** A word that says up or down, and its opposite. */
export function direction(isUp: boolean, up: string, down: string): Claim {
  const [text, other] = isUp ? [up, down] : [down, up];
  return { kind: 'direction', text, texts: { 'wrong-direction': [other] } };
}
