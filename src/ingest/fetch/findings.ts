import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim } from '../../context/claims/claim.ts';
import type { Authority } from '../../context/compile/authority.ts';
import type { Pin } from '../../context/claims/pins.ts';
import type { TableUsage } from '../../context/usage/usage.ts';
import type { Extraction, Item } from '../../sources/source.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { MergedClaims } from './merged-claims.ts';
import type { UnmappedFact } from './item-files.ts';

/** Everything that a run knows about the project. */
export interface ProjectFindings {
  readonly connections: readonly ConnectionFindings[];
  readonly sources: readonly SourceFindings[];
  /** The decisions that models made in this run about the claims of all sources. */
  readonly decisions?: readonly Claim[];
  /** What ktx had left on the branches that git merged since the last run. */
  readonly merged?: MergedClaims | undefined;
  /** Which source counts more. */
  readonly authority?: Authority | undefined;
  /** A person's decisions, made with this run. */
  readonly pins?: readonly Pin[] | undefined;
}

/** What a run knows about one warehouse. */
export interface ConnectionFindings {
  readonly catalog: Catalog;
  /**
   * The claims of the scan; undefined if this run did not scan the warehouse, so that its recorded
   * claims count.
   */
  readonly claims: readonly Claim[] | undefined;
  /** How much people use its tables; undefined if this run does not know: the file stays. */
  readonly usage?: readonly TableUsage[] | undefined;
  /** Opens the warehouse, or returns the open one. */
  readonly warehouse: () => Promise<Warehouse>;
}

/** What a run knows about one source: all its items, and what was read in them. */
export interface SourceFindings {
  readonly connection: string;
  readonly extractor: string;
  readonly items: readonly Item[];
  /** What code reads. */
  readonly extractions: readonly Extraction[];
  /** What models read, now or in earlier runs, by item key. */
  readonly readings: ReadonlyMap<string, ItemReading>;
}

/** What a model read in an item with content that only a model can read. */
export interface ItemReading {
  readonly claims: readonly Claim[];
  /** Undefined if no model has read the item yet. */
  readonly read: ReadState | undefined;
  /** What the item says about the data and the model could not turn into a claim. */
  readonly unmapped: readonly UnmappedFact[];
  /** True if the item and its tables are still as they were read. */
  readonly isCurrent: boolean;
}

/** The state in which a model read an item. */
export interface ReadState {
  readonly hash: string;
  readonly slice: string;
  /** Who read it, e.g. `docs@1+reading@1`. */
  readonly extractor: string;
}
