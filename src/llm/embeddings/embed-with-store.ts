import type { EmbeddingText, KtxEmbeddingPort, KtxEmbedInput } from '../port/embedding.ts';
import { packVector, unpackVector, type VectorStore } from './vector-store.ts';

/**
 * So many texts are embedded before their vectors are saved: what was paid for is kept if the run
 * is killed.
 */
const textsToSave = 2048;

/**
 * The vector of each text, by the text. Only texts that the store does not have are sent. A vector
 * is the same whether it comes from the store or was just made. Texts without a word have none.
 */
export async function embedWithStore(
  port: Pick<KtxEmbeddingPort, 'embed'>,
  store: VectorStore,
  input: KtxEmbedInput,
): Promise<ReadonlyMap<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  const missing = new Map<string, EmbeddingText>();
  for (const text of input.texts) {
    const vector = store.load(text.text);
    if (vector === undefined) missing.set(text.text, text);
    else found.set(text.text, vector);
  }
  const pending = [...missing.values()];
  for (let start = 0; start < pending.length; start += textsToSave) {
    const texts = pending.slice(start, start + textsToSave);
    const { vectors } = await port.embed({ ...input, texts });
    texts.forEach(({ text }, index) => {
      const vector = vectors[index];
      if (vector === undefined) return;
      store.save(text, vector);
      found.set(text, unpackVector(packVector(vector)));
    });
  }
  return found;
}
