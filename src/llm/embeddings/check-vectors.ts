import { LlmError } from '../port/error.ts';

/** The length that all vectors of one model have. */
export interface VectorLength {
  /** Undefined before the first answer, if `ktx.yaml` does not say it. */
  current: number | undefined;
  readonly isConfigured: boolean;
}

/** Throws an `LlmError` unless there is one usable vector for each text, all of the same length. */
export function checkVectors(
  vectors: readonly (readonly number[])[],
  texts: number,
  length: VectorLength,
): Float32Array[] {
  if (vectors.length !== texts)
    throw new LlmError('invalid_output', `Sent ${texts} texts and got ${vectors.length} vectors.`);
  const expected = length.current ?? vectors[0]?.length ?? 0;
  const checked = vectors.map((vector) => checkVector(vector, { ...length, current: expected }));
  length.current = expected;
  return checked;
}

function checkVector(
  vector: readonly number[],
  { current: expected, isConfigured }: VectorLength,
): Float32Array {
  if (vector.length !== expected) throw wrongLengthError(vector.length, expected, isConfigured);
  const numbers = Float32Array.from(vector);
  // A number that is too large for 32 bits becomes infinite.
  if (!numbers.every(Number.isFinite))
    throw new LlmError('invalid_output', 'A vector has a number that is not finite.');
  if (numbers.every((number) => number === 0))
    throw new LlmError('invalid_output', 'A vector has only zeros.');
  return numbers;
}

function wrongLengthError(found: number, expected = 0, isConfigured: boolean): LlmError {
  if (!isConfigured)
    return new LlmError(
      'invalid_output',
      `Some vectors have ${expected} numbers, others ${found}.`,
    );
  const message = `A vector has ${found} numbers, and ingest.embeddings.dimensions asks for ${expected}.`;
  return new LlmError('invalid_output', message);
}
