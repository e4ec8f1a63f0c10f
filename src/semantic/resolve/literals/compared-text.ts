import type { ModelDataset } from '../../model/model.ts';
import type { ResolvedField } from '../field-path.ts';

/** A text that a condition of the query says a field is, or is not. */
export interface ComparedText {
  readonly dataset: ModelDataset;
  /** The name of the field in its dataset. */
  readonly field: string;
  /** The field as the query names it. */
  readonly name: string;
  readonly value: string;
}

/** By field and text; filled in place. */
export type ComparedTexts = Map<string, ComparedText>;

/** Keeps a text that a field of the model is compared with for equality. */
export function keepComparedText(
  compared: ComparedTexts,
  { dataset, field, grain }: Pick<ResolvedField, 'dataset' | 'field' | 'grain'>,
  { name, value }: Pick<ComparedText, 'name' | 'value'>,
): void {
  if (field === undefined || grain !== undefined) return;
  if (field.type !== undefined && field.type !== 'string' && field.type !== 'unknown') return;
  const key = JSON.stringify([dataset.name, field.name, value]);
  if (!compared.has(key)) compared.set(key, { dataset, field: field.name, name, value });
}
