import { z } from 'zod';
import { dimensionField, entityField, type BoundModel } from './bound-model.ts';
import { type Entity, primaryEntity } from '../spec/semantic-model-schema.ts';

interface EntityJoin<Model> {
  readonly from: Model;
  readonly entity: Entity;
  /** The field of the entity in `from`. */
  readonly own: string;
  /** Models in which the entity identifies one row, with its field there. */
  readonly targets: readonly {
    readonly model: Model;
    readonly field: string;
    /** The fields between which a row of a natural entity is valid. */
    readonly validity?: { readonly from: string; readonly to: string } | undefined;
  }[];
  readonly cardinality: 'many_to_one' | 'one_to_one';
}

/**
 * Joins the models that have an entity of the same name, from many rows to the one row that the
 * entity identifies.
 */
export function entityJoins<Model extends BoundModel>(
  models: readonly Model[],
): readonly EntityJoin<Model>[] {
  return models.flatMap((from) =>
    from.spec.entities.flatMap((entity): EntityJoin<Model>[] => {
      const own = entityField(from, entity);
      if (own === undefined || entity.type === 'natural') return [];
      const targets = joinTargets(models, from, entity);
      const isForeign = entity.type === 'foreign';
      if (targets.length === 0 && !isForeign) return [];
      const cardinality = isForeign ? 'many_to_one' : 'one_to_one';
      return [{ from, entity, own, targets, cardinality }];
    }),
  );
}

/** Models with this entity as the primary one count before those with it as a unique one. */
function joinTargets<Model extends BoundModel>(
  models: readonly Model[],
  from: Model,
  entity: Entity,
) {
  const candidates = models.flatMap((model) => {
    const field = model.dataset === from.dataset ? undefined : identifyingField(model, entity.name);
    return field === undefined ? [] : [{ model, field, validity: validityOf(model, entity.name) }];
  });
  const primary = candidates.filter(({ model }) => isPrimary(model, entity.name));
  if (entity.type === 'foreign') return candidates;
  // Two models with the same primary entity: only the later one refers to the other.
  return isPrimary(from, entity.name)
    ? primary.filter(({ model }) => model.dataset < from.dataset)
    : primary;
}

function isPrimary({ spec }: BoundModel, entityName: string): boolean {
  return primaryEntity(spec) === entityName;
}

/** The field by which an entity identifies one row of a model. */
function identifyingField(model: BoundModel, entityName: string): string | undefined {
  const entity = model.spec.entities.find(
    ({ name, type }) => name === entityName && ['primary', 'unique', 'natural'].includes(type),
  );
  if (entity?.type === 'natural' && validityOf(model, entityName) === undefined) return undefined;
  return entity && entityField(model, entity);
}

const validitySchema = z.object({
  validity_params: z.object({ is_start: z.boolean().nullish(), is_end: z.boolean().nullish() }),
});

/** The fields between which a row of a natural entity is valid; undefined for any other entity. */
function validityOf(
  model: BoundModel,
  entityName: string,
): { readonly from: string; readonly to: string } | undefined {
  const { entities, dimensions } = model.spec;
  if (entities.find(({ name }) => name === entityName)?.type !== 'natural') return undefined;
  const fieldWith = (key: 'is_start' | 'is_end') => {
    const dimension = dimensions.find(
      ({ type_params }) =>
        validitySchema.safeParse(type_params).data?.validity_params[key] === true,
    );
    return dimension && dimensionField(model, dimension)?.name;
  };
  const from = fieldWith('is_start');
  const to = fieldWith('is_end');
  return from === undefined || to === undefined ? undefined : { from, to };
}
