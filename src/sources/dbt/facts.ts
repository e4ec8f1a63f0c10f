import type { Place } from '../findings.ts';

/** What a dbt project says, whether its files or its artifacts were read. */
export interface ProjectFacts {
  /** By unique id, as dbt makes them: `model.shop.orders`, `source.shop.raw.orders`. */
  readonly relations: ReadonlyMap<string, Relation>;
  readonly semanticModels: readonly SemanticModelFact[];
  readonly metrics: readonly MetricFact[];
  readonly exposures: readonly Exposure[];
  readonly faults: readonly Fault[];
}

/** What could not be read or resolved, by name. */
export interface Fault {
  readonly place: Place;
  readonly reason: string;
  /** The unique id of the relation that it is about, where its artifact has the answer. */
  readonly relation?: string;
}

export interface Said {
  readonly text: string;
  readonly place: Place;
}

/** A model, a seed, a snapshot, or a table of a source. */
export interface Relation {
  readonly id: string;
  readonly kind: RelationKind;
  /** The last part of the id, versions included: `orders`, `raw.orders`, `orders.v2`. */
  readonly name: string;
  readonly place: Place;
  readonly database?: string | undefined;
  /** The best first. */
  readonly schemas: readonly string[];
  readonly table: string;
  /** The schema was resolved and stands for itself. */
  readonly isExact: boolean;
  /** Nothing in the warehouse: ephemeral, or disabled. */
  readonly isVirtual: boolean;
  readonly description?: Said | undefined;
  readonly tags: readonly Tag[];
  readonly columns: readonly Column[];
  readonly tests: readonly Test[];
}
export type RelationKind = 'model' | 'seed' | 'snapshot' | 'source';

interface Tag {
  readonly name: string;
  readonly place: Place;
}

export interface Column {
  readonly name: string;
  readonly description?: Said | undefined;
}

/** A data test or a constraint. */
export interface Test {
  /** `unique`, `not_null`, `accepted_values`, `relationships`, `primary_key`, `unique_combination_of_columns`. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Of accepted_values. */
  readonly values?: readonly unknown[] | undefined;
  /** Of relationships: the unique id, or what is written where that is not known. */
  readonly to?:
    | {
        readonly id: string | undefined;
        readonly written: string;
        readonly columns: readonly string[];
      }
    | undefined;
  readonly place: Place;
}

export interface SemanticModelFact {
  /** In MetricFlow's older form. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** The unique id of its model; undefined where what it names is not known. */
  readonly model: string | undefined;
  readonly place: (key?: string) => Place;
  readonly memberPlace: (list: 'entities' | 'dimensions' | 'measures', name: string) => Place;
}

export interface MetricFact {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly place: (key?: string) => Place;
}

/** Something that people look at and that is made of relations: a dashboard, a notebook. */
export interface Exposure {
  readonly title: string;
  readonly type: string;
  readonly description: string;
  readonly place: Place;
  /** Unique ids. */
  readonly dependsOn: readonly string[];
}
