import type { DatasetLayer } from '../../semantic/model/dataset.ts';
import type { ItemPlace } from '../claim-collector.ts';
import type { MemberList } from '../claim-semantic-models.ts';
import type { TimeSpineSource } from '../claim-time-spines.ts';

/** What a dbt project says, as its files or its artifacts have it. */
export interface DbtProject {
  /** By dbt's unique id, like `model.shop.orders` and `source.shop.raw.orders`. */
  readonly relations: ReadonlyMap<string, DbtRelation>;
  readonly semanticModels: readonly DbtSemanticModel[];
  readonly metrics: readonly DbtMetric[];
  readonly savedQueries: readonly DbtSavedQuery[];
  readonly exposures: readonly DbtExposure[];
  readonly faults: readonly DbtFault[];
  readonly leftOut: readonly DbtLeftOut[];
}

/** A statement of the project that ktx has no place for. */
export interface DbtLeftOut {
  readonly place: ItemPlace;
  /** Its kind, like `unit test`. */
  readonly what: string;
  /** Its name, or what it is about. */
  readonly name?: string | undefined;
}

/** Something that could not be read or resolved. */
export interface DbtFault {
  readonly place: ItemPlace;
  readonly reason: string;
  /**
   * The unique id of the relation that it is about. The fault does not count if an artifact has
   * that relation.
   */
  readonly relation?: string;
}

/** A model, a seed, a snapshot, or a table of a source. */
export interface DbtRelation {
  readonly id: string;
  readonly kind: RelationKind;
  /** The last part of the id, versions included: `orders`, `raw.orders`, `orders.v2`. */
  readonly name: string;
  readonly place: ItemPlace;
  readonly database?: string | undefined;
  /** In order of preference. */
  readonly schemas: readonly string[];
  readonly table: string;
  /** The table is in one of `schemas` and nowhere else. */
  readonly isExact: boolean;
  /** The warehouse has no table for it, because it is ephemeral or disabled. */
  readonly isVirtual: boolean;
  /** Code cannot resolve which table it has; a fault says why. */
  readonly isUnresolved?: boolean | undefined;
  /** Its SQL stands in the SQL of the models that read it. */
  readonly isEphemeral: boolean;
  /** Unique ids of the relations that an ephemeral model is part of. */
  readonly readers?: readonly string[] | undefined;
  readonly description?: DbtDescription | undefined;
  readonly tags: readonly { readonly name: string; readonly place: ItemPlace }[];
  readonly owner?: DbtOwner | undefined;
  /** Where the relation stands in the project, as far as its files tell. */
  readonly layer?: DatasetLayer | undefined;
  readonly columns: readonly DbtColumn[];
  readonly tests: readonly DbtTest[];
  /** If the model is a time spine. */
  readonly timeSpine?: DbtTimeSpine | undefined;
}

export type DbtTimeSpine = Omit<TimeSpineSource, 'name' | 'table'>;

export type RelationKind = 'model' | 'seed' | 'snapshot' | 'source';

export interface DbtDescription {
  readonly text: string;
  readonly place: ItemPlace;
}

/** Who answers for something. */
export interface DbtOwner {
  readonly text: string;
  readonly place: ItemPlace;
  /** Below 1 where the project only says it of a group or of a file. */
  readonly confidence: number;
}

export interface DbtColumn {
  readonly name: string;
  readonly description?: DbtDescription | undefined;
}

/** A data test or a constraint. */
export interface DbtTest {
  /**
   * `unique`, `not_null`, `accepted_values`, `relationships` or `primary_key`; `constraint` for
   * another condition on rows; `unread` for a test that ktx cannot read.
   */
  readonly name: string;
  readonly columns: readonly string[];
  /** Of `accepted_values`. */
  readonly values?: readonly unknown[] | undefined;
  /** Of `constraint`: as people write it in SQL. */
  readonly condition?: string | undefined;
  /** Of `unread`: its name in the project, with its package. */
  readonly written?: string | undefined;
  /** Of `relationships`. */
  readonly target?: DbtTestTarget | undefined;
  readonly place: ItemPlace;
}

export interface DbtTestTarget {
  /** The unique id; undefined where the project does not have what is written. */
  readonly id: string | undefined;
  readonly written: string;
  readonly columns: readonly string[];
}

export interface DbtMetric {
  readonly owner?: DbtOwner | undefined;
  /** In MetricFlow's older form. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly place: (key?: string) => ItemPlace;
}

/** In MetricFlow's form. */
export type DbtSavedQuery = DbtMetric;

export interface DbtSemanticModel extends DbtMetric {
  /** The unique id of its model; undefined where the project does not have that model. */
  readonly model: string | undefined;
  readonly memberPlace: (list: MemberList, name: string) => ItemPlace;
}

/** A dashboard, a notebook or another thing that is made of relations. */
export interface DbtExposure {
  readonly title: string;
  readonly type: string;
  readonly description: string;
  readonly place: ItemPlace;
  /** Unique ids of relations. */
  readonly dependsOn: readonly string[];
  /** Names of metrics. */
  readonly metrics: readonly string[];
  readonly owner?: DbtOwner | undefined;
  /** Its address, and where it stands. */
  readonly url?: { readonly address: string; readonly place: ItemPlace } | undefined;
  /** `low`, `medium` or `high`, and where it stands. */
  readonly maturity?: { readonly level: string; readonly place: ItemPlace } | undefined;
}
