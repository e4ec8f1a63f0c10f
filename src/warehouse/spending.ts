import { formatByteSize } from '../lib/byte-size.ts';
import type { StatementEstimate } from './driver.ts';
import { driverNamed, type WarehouseConfig } from './config.ts';
import { warehouseError } from './warehouse-error.ts';
import type { QueryLimits } from './warehouse.ts';

/** What each statement of a connection may read, unless its own limits say otherwise. */
export interface SpendingLimits {
  readonly maxBytes?: number | undefined;
  /** Counts only where the engine's provider bills bytes. */
  readonly maxCostUsd?: number | undefined;
}

const tebibyte = 2 ** 40;
/** Engines take no larger number for a limit. */
const largestLimit = 2 ** 62;

export interface SpentAmount {
  readonly bytes: number;
  readonly usd: number;
}

/** What a caller may read in some time, over all their statements. */
export interface SpendingAccount {
  /**
   * Takes what a statement would read (undefined: nobody knows) before it runs. Throws if there is
   * not that much left. Without `settle`, the estimate stays taken.
   */
  reserve(
    bytes: number | undefined,
    usdPerTib: number | undefined,
  ): {
    /** The most that the statement may read. */
    readonly mostBytes: number;
    /** Replaces the estimate with what the statement really read. */
    readonly settle: (bytes: number) => void;
  };
}

/** In US dollars; 0 where bytes cost nothing. */
export function usdOfBytes(bytes: number, usdPerTib: number | undefined): number {
  return usdPerTib === undefined ? 0 : (bytes / tebibyte) * usdPerTib;
}

/** The most bytes that a statement may read; undefined: no limit. */
export function mostBytes(
  { maxBytes }: Pick<QueryLimits, 'maxBytes'>,
  spending: SpendingLimits,
  usdPerTib: number | undefined,
): number | undefined {
  if (maxBytes !== undefined) return Math.min(maxBytes, largestLimit);
  const { maxCostUsd } = spending;
  const affordable =
    maxCostUsd === undefined || usdPerTib === undefined
      ? undefined
      : Math.floor((maxCostUsd / usdPerTib) * tebibyte);
  const limits = [spending.maxBytes, affordable].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits, largestLimit);
}

/** The price of the connection's own contract, or the list price; undefined: bytes cost nothing. */
export function usdPerTibOf(config: WarehouseConfig): number | undefined {
  const agreed = 'usd_per_tib' in config ? config.usd_per_tib : undefined;
  return agreed ?? driverNamed(config.driver).billed?.usdPerTib;
}

/** An estimate whose amounts are amounts: an engine that does not know a size may send -1. */
export function soundEstimate(
  estimate: StatementEstimate | undefined,
): StatementEstimate | undefined {
  if (estimate === undefined) return undefined;
  const amount = (said: number | undefined) =>
    said !== undefined && Number.isFinite(said) && said >= 0 ? said : undefined;
  const { bytes, bytesBilled, rows, kind } = estimate;
  return { bytes: amount(bytes), bytesBilled: amount(bytesBilled), rows: amount(rows), kind };
}

/** Throws `too_expensive` for an estimate above the limit. */
export function requireAffordable(
  { bytes, kind }: StatementEstimate,
  most: number,
  usdPerTib: number | undefined,
): void {
  if (bytes === undefined || bytes <= most) return;
  const words = { exact: 'would read', upper: 'could read up to', guess: 'would read about' };
  const cost = usdPerTib === undefined ? '' : ` (about $${costOf(bytes, usdPerTib)})`;
  throw warehouseError(
    'too_expensive',
    `Not run: the query ${words[kind]} ${formatByteSize(bytes)}${cost}; the limit is ${formatByteSize(most)}.`,
    {
      hint: `Narrow it (a time, fewer columns), or allow more: --max-bytes ${roundedUp(bytes)}, or query.max_bytes in ktx.yaml.`,
      details: { bytes, limit: most, kind },
    },
  );
}

const ignoredLimit = 'The limit of bytes has no effect:';

/** For a result to which a limit was given that neither an estimate nor the engine could hold. */
export function ignoredLimitWarning(engine: string): string {
  return `${ignoredLimit} ${engine} does not tell what this statement reads. --timeout limits how long it runs.`;
}

/** True for what ktx itself says of a limit, which quotes no value. */
export function isLimitWarning(warning: string): boolean {
  return warning.startsWith(ignoredLimit);
}

/** In dollars; at least two digits that say something. */
function costOf(bytes: number, usdPerTib: number): string {
  const usd = (bytes / tebibyte) * usdPerTib;
  return usd < 0.1 ? usd.toPrecision(2) : usd.toFixed(2);
}

/** As a person would type it: the next whole unit. */
function roundedUp(bytes: number): string {
  const [value = '', unit = ''] = formatByteSize(bytes).split(' ');
  return `${Math.floor(Number(value)) + 1}${unit}`;
}
