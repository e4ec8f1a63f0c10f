import type { GeneratedCell } from '../generated-database.ts';
import type { Entity } from './entity.ts';
import type { NamingStyle } from './naming-style.ts';
import type { Random } from './random.ts';

/** Distinct values for the primary key. */
export function keyValues(
  { rows, kind, words }: Entity,
  valueStyle: NamingStyle['values'],
  random: Random,
): GeneratedCell[] {
  const style =
    valueStyle === 'mixed'
      ? random.pick(['dense', 'offset', 'sparse', 'uuid', 'code'] as const)
      : valueStyle;
  const shape = kind === 'lookup' && random.chance(0.15) ? 'short' : style;
  const start = 100 * (1 + random.int(90));
  const values = new Set<GeneratedCell>();
  const letter = () => String.fromCharCode(65 + random.int(26));
  for (let index = 0; values.size < rows; index += 1) {
    if (shape === 'dense') values.add(index + 1);
    else if (shape === 'offset') values.add(start + index);
    else if (shape === 'sparse') values.add(1 + random.int(rows * 60));
    else if (shape === 'uuid')
      values.add(
        `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-a${random.hex(3)}-${random.hex(12)}`,
      );
    else if (shape === 'prefixed') values.add(`${words.join('').slice(0, 3)}_${random.hex(10)}`);
    else if (shape === 'short')
      values.add(letter() + letter() + (values.size > 200 ? letter() : ''));
    else values.add(`${letter()}${letter()}${1000 + random.int(90_000)}`);
  }
  const list = [...values];
  if (shape === 'dense' && random.chance(0.2)) return list.map((value) => Number(value) - 1);
  return list;
}

/**
 * Values of a column that refers to `parent`, with NULLs, orphans, skew, and parents without a
 * reference.
 */
export function referenceValues(parent: Entity, rows: number, random: Random): GeneratedCell[] {
  const nulls = nullShare(random);
  const orphans = random.chance(0.12) ? random.fraction() * 0.06 : 0;
  const share = random.chance(0.35) ? 0.04 + random.fraction() * 0.6 : 1;
  const skew = random.pick([1, 1, 2]);
  const none =
    random.chance(0.12) &&
    parent.keyType === 'INTEGER' &&
    parent.key.every((key) => Number(key) > 0)
      ? 0
      : null;
  const offset = random.int(parent.rows);
  return Array.from({ length: rows }, () => {
    if (random.chance(nulls)) return none;
    if (random.chance(orphans))
      return parent.keyType === 'INTEGER'
        ? Number(parent.key.at(-1)) + 1 + random.int(50)
        : `X${random.hex(6)}`;
    const position = Math.floor(random.fraction() ** skew * parent.rows * share);
    return parent.key[(position + (share < 1 ? offset : 0)) % parent.rows] ?? null;
  });
}

function nullShare(random: Random): number {
  if (random.chance(0.06)) return 1;
  return random.chance(0.3) ? random.fraction() * 0.5 : 0;
}
