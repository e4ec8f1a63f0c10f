import { emitQuery } from '../emit/emit.ts';
import type { SemanticModel } from '../model/model.ts';
import { requireDataset } from '../resolve/field-path.ts';
import { columnExpr } from '../resolve/join-scope.ts';
import type { KeyAssumption } from './key-assumption.ts';
import { contradictionsQuery } from './one-row-per-key.ts';

/**
 * SQL that counts what contradicts an assumption, in one row and one column: keys with several
 * rows, or ranges that overlap. It reads the rows that the role of the model may read.
 */
export function keyCheckSql(model: SemanticModel, key: KeyAssumption): string {
  const { dialect } = model;
  const dataset = requireDataset(model, key.dataset);
  const column = (name: string) => columnExpr({ dialect, dataset, alias: dataset.name }, name);
  return emitQuery(contradictionsQuery({ dataset, column }, key), dialect);
}
