/** The value with every object key in snake_case, at every depth. */
export function snakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCaseKeys);
  if (!(value instanceof Object)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    snakeCase(key),
    snakeCaseKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

export function snakeCase(key: string): string {
  return key.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
