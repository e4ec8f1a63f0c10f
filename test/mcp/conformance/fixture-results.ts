/** The smallest PNG: one red pixel. */
export const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** A WAV file without a sample. */
export const audio = Buffer.from(
  `RIFF\u0024\0\0\0WAVEfmt \u0010\0\0\0\u0001\0\u0001\0\u0040\u001F\0\0\u0040\u001F\0\0\u0001\0\u0008\0data\0\0\0\0`,
  'latin1',
).toString('base64');

export const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

/** A form with one required text. */
export const form = (field: string) => ({
  type: 'object' as const,
  properties: { [field]: { type: 'string' as const } },
  required: [field],
});
