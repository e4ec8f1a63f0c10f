import { UserError } from '../../lib/error.ts';
import type { KeyAssumption } from '../../semantic/keys/key-assumption.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import { notSupportedError } from '../../semantic/query/errors.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';
import type { KeyProof } from './key-proofs.ts';

interface ProvenQuery {
  readonly proofs: readonly KeyProof[];
  readonly keys: readonly KeyAssumption[];
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
}

/**
 * Names of the keys that the data contradict, if the query allows that and a plan can do without
 * them; otherwise throws. A join can read one row per key. Rows that are counted by their key
 * cannot be told apart, and row rules are not changed.
 */
export function acceptContradicted({
  proofs,
  keys,
  model,
  query,
}: ProvenQuery): ReadonlySet<string> {
  const contradicted = proofs.filter(({ state }) => state === 'contradicted');
  const [first] = contradicted;
  if (first === undefined) return new Set();
  if (!query.allow_unproven) throw contradictedKeyError(first, keys, model);
  const names = new Set(contradicted.map(({ key }) => key));
  const counted = keys.find(({ name, use }) => names.has(name) && use !== 'join');
  if (counted === undefined) return names;
  throw notSupportedError(
    `allow_unproven for ${counted.name}`,
    counted.use === 'count'
      ? 'The query counts rows by this key, and the data contradict it'
      : 'A row rule relies on this key, and the data contradict it',
  );
}

function contradictedKeyError(
  { key, found = 0 }: KeyProof,
  keys: readonly KeyAssumption[],
  model: SemanticModel,
): UserError {
  const assumption = keys.find(({ name }) => name === key);
  const file = model.datasets.get(assumption?.dataset ?? '')?.file ?? 'the model';
  const fault =
    assumption?.range === undefined
      ? `${found} of its values ${found === 1 ? 'has' : 'have'} several rows`
      : `${found} of its ranges ${found === 1 ? 'begins' : 'begin'} before an earlier one ends`;
  return new UserError(
    'contradicted_key',
    `${key} is declared to identify a row, but ${fault}. A join would count rows several times.`,
    {
      hint: `Correct the data, or the key in ${file}. With allow_unproven: true (--allow-unproven), a join reads one row per key.`,
      exitCode: 2,
    },
  );
}
