import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim } from '../../context/claims/claim.ts';
import type { Pin } from '../../context/claims/pins.ts';
import type { Extraction, Item } from '../../sources/source.ts';
import type { UnmappedFact } from './item-files.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';

/** What a run knows of one warehouse. */
export interface ConnectionFindings {
  readonly catalog: Catalog;
  /** Of the scan; undefined where this run did not scan it: then what the claims files record counts. */
  readonly claims: readonly Claim[] | undefined;
  /** Opens it, or has it open already. */
  readonly warehouse: () => Promise<Warehouse>;
}

/** The state of an item in which a model read it. */
export interface ReadState {
  readonly hash: string;
  readonly slice: string;
  /** Who read it, e.g. `docs@1+reading@1`. */
  readonly extractor: string;
}

/** What a model read in an item that has something which only a model can read. */
export interface ItemReading {
  readonly claims: readonly Claim[];
  /** Undefined where none has read it yet. */
  readonly read: ReadState | undefined;
  /** What it says of the data and no claim can hold, as that model says. */
  readonly unmapped: readonly UnmappedFact[];
  /** Whether the item is still as it was read. */
  readonly isCurrent: boolean;
}

/** What a run knows of one source: all its items as they shall stand, and what is read in them. */
export interface SourceFindings {
  readonly connection: string;
  readonly extractor: string;
  readonly items: readonly Item[];
  /** What code reads. */
  readonly extractions: readonly Extraction[];
  /** What a model reads or has read, by item key. */
  readonly readings: ReadonlyMap<string, ItemReading>;
}

/** All that a run knows of the project. */
export interface ProjectFindings {
  readonly connections: readonly ConnectionFindings[];
  readonly sources: readonly SourceFindings[];
  /** What models rule with this run about the claims of all. */
  readonly decisions?: readonly Claim[];
  /** A decision that a person makes with this run. */
  readonly pin?: Pin | undefined;
}
