const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
const sizePattern = /^(\d+(?:\.\d+)?)\s*([kmgtp])?(i)?b?$/i;

/** In bytes: `10GB`, `1.5 TiB`, `500000`. Undefined if the text is no size above zero. */
export function parseByteSize(text: string): number | undefined {
  const [, digits, letter = '', binary] = sizePattern.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const power = ' kmgtp'.indexOf(letter.toLowerCase());
  const bytes = Number(digits) * (binary === undefined ? 1000 : 1024) ** Math.max(0, power);
  return bytes >= 1 && Number.isFinite(bytes) ? Math.round(bytes) : undefined;
}

/** For people: `1.2 GB`, in powers of 1,000. */
export function formatByteSize(bytes: number): string {
  const power = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)),
  );
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
