import type { z } from 'zod';
import type { ExtraName } from '../store/extras/extra-list.ts';

/**
 * What ktx knows about a driver before it loads the driver. The configuration schema, the flags of
 * `ktx setup`, hints and the documentation are derived from it. Code outside a driver's folder asks
 * for these properties, never for a driver's name.
 */
export interface DriverDescription {
  /** The value of `driver` in `ktx.yaml`. */
  readonly name: string;
  readonly title: string;
  readonly config: z.ZodType;
  /** Flags of `ktx setup` and `ktx connection add`, each with what they connect to. */
  readonly examples: readonly DriverExample[];
  /**
   * Matches the names of schemas and tables that show the system itself, in lower or upper case.
   */
  readonly systemNames: RegExp;
  /** Set if the database is a file (or a folder) that the setting `path` names. */
  readonly file?: {
    /** The name of a database file that ktx creates. Undefined if ktx cannot create one. */
    readonly defaultName?: string;
    /** The ASCII text with which every database file begins. */
    readonly signature?: string;
    /** Where the signature stands, in bytes from the start. Default: 0. */
    readonly signatureAt?: number;
    /** Matches the names of files that it reads as tables, without a database file. */
    readonly tables?: RegExp;
  };
  /** Set if the database is on a server that `url` or `host` names. */
  readonly server?: {
    readonly defaultPort: number;
    /** What one login can read: every database of the server, or only the one it connects to. */
    readonly loginReads: 'server' | 'database';
    /** Where a connection without `host` and `url` leads, such as the host of an account. */
    readonly address?: (config: Readonly<Record<string, unknown>>) => string;
    /** The login of the machine that is used where the settings name none, in words. */
    readonly machineLogin?: (config: Readonly<Record<string, unknown>>) => string | undefined;
  };
  /** Set if the provider bills the bytes that a statement reads. */
  readonly billed?: {
    /** The list price, in US dollars for 2^40 bytes. */
    readonly usdPerTib: number;
  };
  /** The extra with the driver's packages, if they are not installed with ktx. */
  readonly extra?: ExtraName;
  /** True if the engine says what a statement would read, or what it has read. */
  readonly tellsBytesRead?: true;
  /** True if nobody has tried ktx on a real account of this provider yet. */
  readonly isUntried?: true;
}

type DriverExample = readonly [flags: string, connectsTo: string];
