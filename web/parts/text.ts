const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of others as it is: characters that are invisible or reorder text become escapes. */
export function visible(text: string): string {
  return text.replaceAll(invisible, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** The number that a cell holds; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return undefined;
  return Number(value);
}

export function formatNumber(value: number): string {
  return (Math.abs(value) >= 10_000 ? whole : plain).format(value);
}

export function formatShort(value: number): string {
  return short.format(value);
}

/** A cell of a result. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '∅';
  const number = typeof value === 'number' ? value : undefined;
  if (number !== undefined) return plain.format(number);
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

export function count(amount: number, thing: string): string {
  return `${whole.format(amount)} ${thing}${amount === 1 ? '' : 's'}`;
}

interface AggregateDefinition {
  readonly agg: string;
  readonly of?: unknown;
  readonly where?: unknown;
  readonly [key: string]: unknown;
}

function isAggregate(says: unknown): says is AggregateDefinition {
  return says instanceof Object && 'agg' in says && typeof says.agg === 'string';
}

/** A definition as a person would say it: `sum(amount) where status = 'paid'`. */
export function definitionText(says: unknown): string {
  if (typeof says === 'string') return visible(says);
  if (isAggregate(says)) {
    const { agg, of, where, ...rest } = says;
    const base = `${agg}(${of === undefined ? '*' : valueText(of)})`;
    const condition = where === undefined ? '' : ` where ${valueText(where)}`;
    return visible(base + condition + restText(rest));
  }
  const ratio = ratioText(says);
  return visible(ratio ?? valueText(says));
}

/** `revenue / orders_placed` */
function ratioText(says: unknown): string | undefined {
  if (!(says instanceof Object) || !('ratio' in says)) return undefined;
  const { ratio, ...rest } = says;
  if (!(ratio instanceof Object) || !('numerator' in ratio) || !('denominator' in ratio))
    return undefined;
  return `${valueText(ratio.numerator)} / ${valueText(ratio.denominator)}${restText(rest)}`;
}

function restText(rest: object): string {
  const pairs = Object.entries(rest);
  return pairs
    .map(([key, value]: [string, unknown]) => {
      const text = Array.isArray(value) ? value.map(valueText).join(' or ') : valueText(value);
      return `, ${key}: ${text.replaceAll('\n', ', ')}`;
    })
    .join('');
}

export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!(value instanceof Object) || Array.isArray(value)) return JSON.stringify(value) ?? '';
  return Object.entries(value)
    .map(([key, inner]: [string, unknown]) => `${key}: ${valueText(inner)}`)
    .join('\n');
}

interface NamedSubject {
  readonly type: string;
  readonly connection: string;
  /** Without type and connection: `orders.revenue`, `orders(buyer_id)`. */
  readonly name: string;
  readonly dataset: string;
}

/** `metric:shop.orders.revenue`; a term has no connection. */
export function nameSubject(subject: string): NamedSubject {
  const [, type = '', rest = ''] = /^([a-z_]+):(.*)$/s.exec(subject) ?? ['', '', subject];
  if (!['metric', 'field', 'dataset', 'relationship', 'segment'].includes(type))
    return { type, connection: '', name: rest, dataset: '' };
  const dot = rest.indexOf('.');
  const name = rest.slice(dot + 1);
  return { type, connection: rest.slice(0, dot), name, dataset: /^[^.(]*/.exec(name)?.[0] ?? '' };
}

/** A link that a browser may follow: never one that runs something. */
export function safeAddress(address: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined;
}
