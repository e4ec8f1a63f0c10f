import type { PersonalKind } from '../personal/classify-column.ts';
import type { Sketch } from './sketch.ts';
import type { ValueKind } from './value-kinds.ts';

/** Measurements of the rows that were read of a table. */
export interface TableProfile {
  /** Number of rows read. */
  readonly rows: number;
  /** Share of the table's rows that was read; 1 is all of them. */
  readonly fraction: number;
  readonly columns: readonly ColumnProfile[];
  /** Why the table could not be read. */
  readonly note?: string | undefined;
  /** True if reading some or all columns exceeded the time limit. */
  readonly isSlow?: boolean | undefined;
}

export interface ColumnProfile {
  readonly name: string;
  readonly kind: ValueKind;
  /**
   * What makes the column personal; undefined if nothing does, or if a person says that it is not.
   */
  readonly personal?: PersonalKind | undefined;
  /** What makes it personal by name and values, whatever people say. */
  readonly inferred?: PersonalKind | undefined;
  /**
   * True if `top` and `values` were left out because the column is personal or because a person
   * says so.
   */
  readonly isWithheld?: boolean | undefined;
  readonly nulls: number;
  /** An estimate if the sketch is not complete. */
  readonly distinct: number;
  /** Numeric columns only. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** Text columns only. */
  readonly maxLength: number | undefined;
  /** What every text of the column is, where the engine keeps times as text. */
  readonly time?: 'date' | 'datetime' | 'datetime_tz' | undefined;
  /** The most frequent repeated values of the first rows; empty if the column is personal. */
  readonly top: readonly string[];
  /**
   * The distinct values of the first rows, if the column has few; never values that may identify a
   * person.
   */
  readonly values: readonly string[];
  /** Empty if the column can be neither a key nor a reference. */
  readonly sketch: Sketch;
  /** Why the column has no profile. */
  readonly note: string | undefined;
}
