import { entityField, type BoundModel } from './bound-model.ts';
import { type Entity, primaryEntity } from './semantic-model-schema.ts';

interface Join<Model> {
  readonly from: Model;
  readonly entity: Entity;
  /** The field of the entity in `from`. */
  readonly own: string;
  /** The datasets of whose rows it identifies one, with the field there; none or several where that is not said. */
  readonly targets: readonly { readonly model: Model; readonly field: string }[];
  readonly cardinality: 'many_to_one' | 'one_to_one';
}

/** An entity of one name joins the models that have it: many rows to the one that it identifies. */
export function entityJoins<Model extends BoundModel>(
  models: readonly Model[],
): readonly Join<Model>[] {
  return models.flatMap((from) =>
    from.spec.entities.flatMap((entity): Join<Model>[] => {
      const own = entityField(from, entity);
      if (own === undefined || entity.type === 'natural') return [];
      const targets = joinTargets(models, from, entity);
      if (targets.length === 0 && entity.type !== 'foreign') return [];
      return [
        {
          from,
          entity,
          own,
          targets,
          cardinality: entity.type === 'foreign' ? 'many_to_one' : 'one_to_one',
        },
      ];
    }),
  );
}

/** The models that an entity identifies a row of; those whose primary entity it is come before those where it is only unique. */
function joinTargets<Model extends BoundModel>(
  models: readonly Model[],
  from: Model,
  entity: Entity,
) {
  const found = models.flatMap((model) => {
    const field = model.dataset === from.dataset ? undefined : identified(model, entity.name);
    return field === undefined ? [] : [{ model, field }];
  });
  const primary = found.filter(({ model }) => isPrimary(model, entity.name));
  const best = primary.length > 0 ? primary : found;
  if (entity.type === 'foreign') return best;
  // Of two that are each other's, one refers to the other.
  return isPrimary(from, entity.name)
    ? best.filter(({ model }) => isPrimary(model, entity.name) && model.dataset < from.dataset)
    : primary;
}

function isPrimary({ spec }: BoundModel, name: string): boolean {
  return primaryEntity(spec) === name;
}

/** The field by which an entity identifies a row of a model. */
function identified(model: BoundModel, name: string): string | undefined {
  const entity = model.spec.entities.find(
    (one) => one.name === name && (one.type === 'primary' || one.type === 'unique'),
  );
  return entity && entityField(model, entity);
}
