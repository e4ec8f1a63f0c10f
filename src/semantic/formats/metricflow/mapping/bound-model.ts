import { reservedWords } from '../../../../sql/scalar-functions.ts';
import {
  type Dimension,
  type Entity,
  plainColumn,
  type SemanticModelSpec,
} from '../spec/semantic-model-schema.ts';

/** A semantic model together with the dataset that has its rows. */
export interface BoundModel {
  readonly spec: SemanticModelSpec;
  readonly dataset: string;
  /**
   * The field of a column, whatever the case it is written in; undefined if there is no such
   * column.
   */
  readonly field: (column: string) => string | undefined;
  /** Only if the dataset was created from this model. */
  readonly own?: {
    /** Fields by the names of the model's entities and dimensions. */
    readonly fields: ReadonlyMap<string, string>;
    /** The datasets that the model's entities, as roles, lead to. */
    readonly roles: ReadonlyMap<string, readonly string[]>;
  };
}

/** A dimension as a field: one that is a column, or a new one with an expression. */
export type DimensionField =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'expression'; readonly name: string; readonly expr: string };

/**
 * Undefined if the dataset lacks the column, or if a column with the dimension's name differs from
 * its expression.
 */
export function dimensionField(
  model: BoundModel,
  dimension: Dimension,
): DimensionField | undefined {
  const created = model.own?.fields.get(dimension.name);
  if (created !== undefined) return { kind: 'column', name: created };
  const column = plainColumn(dimension);
  const field = model.field(column ?? dimension.name);
  if (column !== undefined)
    return field === undefined ? undefined : { kind: 'column', name: field };
  return field === undefined
    ? { kind: 'expression', name: dimension.name, expr: dimension.expr ?? dimension.name }
    : undefined;
}

/** Undefined if the entity is no column. */
export function entityField({ own, field }: BoundModel, entity: Entity): string | undefined {
  const column = plainColumn(entity);
  return own?.fields.get(entity.name) ?? (column === undefined ? undefined : field(column));
}

/**
 * The candidates that say something else than the name, each once: `Order Total` repeats
 * `order_total`.
 */
export function synonymsFor(
  name: string,
  candidates: readonly (string | undefined)[],
): readonly string[] {
  const normalize = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ' ')
      .trim();
  return [...new Set(candidates)].filter(
    (candidate): candidate is string =>
      candidate !== undefined && candidate !== '' && normalize(candidate) !== normalize(name),
  );
}

/** A name as an expression writes it: quoted if it is a reserved word or not a plain identifier. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/i.test(name) && !reservedWords.has(name.toLowerCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}
